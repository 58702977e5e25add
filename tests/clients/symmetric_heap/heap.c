/* Start, and allocation from the segment: first fit over a list that all PEs have alike. */
#include "heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 256, GRAIN = 64 };
static const uintptr_t kHeapSize = 1 << 20;

static gasnet_seginfo_t* segments;

/* The pieces of the heap in order of their addresses, with no gaps in between. */
static struct {
  size_t offset, size;
  bool used;
} pieces[PIECES];
static int piece_count;

void sym_require(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "PE %d: %s\n", (int)gasnet_mynode(), what);
  gasnet_exit(1);
}

static void check(int result, const char* what) {
  if (result == GASNET_OK) return;
  fprintf(stderr, "%s: %s (%s)\n", what, gasnet_ErrorName(result), gasnet_ErrorDesc(result));
  gasnet_exit(1);
}

void sym_init(int* argc, char*** argv) {
  check(gasnet_init(argc, argv), "gasnet_init");
  sym_require(gasnet_getMaxGlobalSegmentSize() >= kHeapSize, "no room for the heap");
  const uintptr_t size = (kHeapSize + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE;
  gasnet_handlerentry_t table[SYM_HANDLERS];
  sym_remote_handlers(table);
  check(gasnet_attach(table, SYM_HANDLERS, size, 0), "gasnet_attach");
  segments = calloc(gasnet_nodes(), sizeof *segments);
  check(gasnet_getSegmentInfo(segments, (int)gasnet_nodes()), "gasnet_getSegmentInfo");
  for (gasnet_node_t node = 0; node < gasnet_nodes(); ++node)
    sym_require(segments[node].size >= kHeapSize && segments[node].addr != NULL,
                "a node's segment is smaller than asked for");
  check(gasnet_set_waitmode(GASNET_WAIT_BLOCK), "gasnet_set_waitmode");
  pieces[0].size = kHeapSize;
  piece_count = 1;
  sym_barrier_all();
}

int sym_my_pe(void) {
  return (int)gasnet_mynode();
}
int sym_n_pes(void) {
  return (int)gasnet_nodes();
}

void* sym_there(const void* symmetric, int pe) {
  const ptrdiff_t offset = (const char*)symmetric - (char*)segments[gasnet_mynode()].addr;
  sym_require(offset >= 0 && (uintptr_t)offset < kHeapSize, "an address is not symmetric");
  return (char*)segments[pe].addr + offset;
}

static void insert_piece(int at, size_t offset, size_t size) {
  sym_require(piece_count < PIECES, "too many pieces");
  memmove(&pieces[at + 1], &pieces[at], (size_t)(piece_count - at) * sizeof pieces[0]);
  pieces[at].offset = offset;
  pieces[at].size = size;
  pieces[at].used = false;
  ++piece_count;
}

void* sym_malloc(size_t size) {
  size = (size + GRAIN - 1) / GRAIN * GRAIN;
  void* found = NULL;
  for (int i = 0; i < piece_count && !found; ++i) {
    if (pieces[i].used || pieces[i].size < size) continue;
    if (pieces[i].size > size) insert_piece(i + 1, pieces[i].offset + size, pieces[i].size - size);
    pieces[i].size = size;
    pieces[i].used = true;
    found = (char*)segments[gasnet_mynode()].addr + pieces[i].offset;
  }
  sym_barrier_all();
  return found;
}

static void join_with_next(int at) {
  if (at < 0 || at + 1 >= piece_count || pieces[at].used || pieces[at + 1].used) return;
  pieces[at].size += pieces[at + 1].size;
  memmove(&pieces[at + 1], &pieces[at + 2], (size_t)(piece_count - at - 2) * sizeof pieces[0]);
  --piece_count;
}

void sym_free(void* symmetric) {
  sym_barrier_all();
  const size_t offset = (size_t)((char*)symmetric - (char*)segments[gasnet_mynode()].addr);
  for (int i = 0; i < piece_count; ++i) {
    if (pieces[i].offset != offset) continue;
    sym_require(pieces[i].used, "memory is freed twice");
    pieces[i].used = false;
    join_with_next(i);
    join_with_next(i - 1);
    return;
  }
  sym_require(false, "memory is freed that was not allocated");
}
