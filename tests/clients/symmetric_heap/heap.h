/* A symmetric heap in the style of OpenSHMEM ("sym"), over GASNet-1 and nothing newer: every PE
 * allocates alike, so that an address of one's own names the peer's too. One thread per PE
 * (GASNET_SEQ). */
#ifndef SYM_HEAP_H
#define SYM_HEAP_H

#include <gasnet.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void sym_require(bool holds, const char* what);

/* ---- heap.c: start and allocation ---- */
void sym_init(int* argc, char*** argv);
int sym_my_pe(void);
int sym_n_pes(void);
/* Collective: the same size on every PE, in the same order. sym_free too. */
void* sym_malloc(size_t size);
void sym_free(void* symmetric);
/* What `symmetric` is called on `pe`. */
void* sym_there(const void* symmetric, int pe);

/* ---- transfer.c ---- */
void sym_put(void* dest, const void* source, size_t size, int pe);
void sym_get(void* dest, const void* source, size_t size, int pe);
void sym_put_nbi(void* dest, const void* source, size_t size, int pe);
void sym_get_nbi(void* dest, const void* source, size_t size, int pe);
/* Elements of `size` bytes, every `there`-th on the other PE and every `here`-th in `source`. */
void sym_iput(void* dest, const void* source, ptrdiff_t there, ptrdiff_t here, size_t size,
              size_t count, int pe);
void sym_quiet(void);
uint64_t sym_g64(const uint64_t* source, int pe);
void sym_p64(uint64_t* dest, uint64_t value, int pe);

/* ---- sync.c ---- */
void sym_barrier_all(void);
void sym_wait_until_equal(volatile uint64_t* symmetric, uint64_t value);
/* Over all PEs; `work` is symmetric and has room for one value of every PE. */
uint64_t sym_sum(uint64_t mine, uint64_t* work);

/* ---- remote.c: what active messages do ---- */
enum { SYM_HANDLERS = 6, SYM_LOCKS = 4 };
/* Fills `table` with the handlers of this file. */
void sym_remote_handlers(gasnet_handlerentry_t* table);
uint64_t sym_fetch_add(uint64_t* symmetric, uint64_t value, int pe);
void sym_set_lock(int lock);
bool sym_test_lock(int lock);
void sym_clear_lock(int lock);

#endif
