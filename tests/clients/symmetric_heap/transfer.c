/* Puts and gets: blocking ones, implicit ones that sym_quiet() waits for, values, and strided ones
 * with a handle for each element. */
#include <string.h>

#include "heap.h"

void sym_put(void* dest, const void* source, size_t size, int pe) {
  gasnet_put((gasnet_node_t)pe, sym_there(dest, pe), source, size);
}
void sym_get(void* dest, const void* source, size_t size, int pe) {
  gasnet_get_bulk(dest, (gasnet_node_t)pe, sym_there(source, pe), size);
}
void sym_put_nbi(void* dest, const void* source, size_t size, int pe) {
  gasnet_put_nbi_bulk((gasnet_node_t)pe, sym_there(dest, pe), source, size);
}
void sym_get_nbi(void* dest, const void* source, size_t size, int pe) {
  gasnet_get_nbi_bulk(dest, (gasnet_node_t)pe, sym_there(source, pe), size);
}

void sym_iput(void* dest, const void* source, ptrdiff_t there, ptrdiff_t here, size_t size,
              size_t count, int pe) {
  enum { AT_ONCE = 16 };
  gasnet_handle_t handles[AT_ONCE];
  char* const to = sym_there(dest, pe);
  for (size_t i = 0; i < count; ++i) {
    if (i >= AT_ONCE) gasnet_wait_syncnb(handles[i % AT_ONCE]);
    handles[i % AT_ONCE] = gasnet_put_nb((gasnet_node_t)pe, to + (ptrdiff_t)(i * size) * there,
                                         (const char*)source + (ptrdiff_t)(i * size) * here, size);
  }
  gasnet_wait_syncnb_all(handles, count < AT_ONCE ? count : AT_ONCE);
}

void sym_quiet(void) {
  gasnet_wait_syncnbi_all();
}

uint64_t sym_g64(const uint64_t* source, int pe) {
  const gasnet_valget_handle_t value =
      gasnet_get_nb_val((gasnet_node_t)pe, sym_there(source, pe), sizeof *source);
  return (uint64_t)gasnet_wait_syncnb_valget(value);
}
void sym_p64(uint64_t* dest, uint64_t value, int pe) {
  gasnet_put_val((gasnet_node_t)pe, sym_there(dest, pe), value, sizeof value);
}
