/* Memory of the kind `glass` (glass.c): by its addresses, so that the plugin knows what a program
 * has mapped by itself. Each mapping has room of its own, whose first page notes the length. */
#pragma once

#include <stdint.h>
#include <sys/mman.h>

enum { GLASS_PAGE = 4096 };
static const uintptr_t glass_base = (uintptr_t)1 << 45;
static const uintptr_t glass_room = (uintptr_t)1 << 32; /* of one mapping */
static const uintptr_t glass_many = 1024;

static inline int glass_holds(const void* addr, uint64_t length) {
  const uintptr_t at = (uintptr_t)addr - glass_base;
  if ((uintptr_t)addr < glass_base || at >= glass_room * glass_many) return 0;
  unsigned char there;
  const uintptr_t pane = (uintptr_t)addr / glass_room * glass_room;
  if (mincore((void*)pane, 1, &there) != 0) return 0; /* not mapped, or not any more */
  return at % glass_room + length <= *(const uint64_t*)pane + GLASS_PAGE;
}

static inline void* glass_map(uint64_t length) {
  if (length > glass_room - GLASS_PAGE) return 0;
  const uint64_t bytes = (length + GLASS_PAGE - 1) / GLASS_PAGE * GLASS_PAGE;
  for (uintptr_t i = 0; i < glass_many; ++i) {
    char* const wish = (char*)(glass_base + i * glass_room);
    char* const got = (char*)mmap(wish, bytes + GLASS_PAGE, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == wish) {
      *(uint64_t*)got = bytes;
      return got + GLASS_PAGE;
    }
    if (got != MAP_FAILED) munmap(got, bytes + GLASS_PAGE);
  }
  return 0;
}

static inline void glass_unmap(void* addr) {
  if (addr == 0) return;
  char* const pane = (char*)addr - GLASS_PAGE;
  munmap(pane, *(const uint64_t*)pane + GLASS_PAGE);
}
