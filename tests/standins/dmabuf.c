/* Stands in front of libibverbs (LD_PRELOAD) where no driver registers dma-bufs, as soft-RoCE does
 * not: maps the descriptor, which the stand-ins' drivers make of ordinary memory, and registers the
 * mapping under the addresses that were asked for. So the plugin's own part runs: what it asks the
 * driver for, what it publishes, and reads and writes of peers at the owner's addresses.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <sys/mman.h>

/* The mapping stays until the process ends. */
struct ibv_mr* ibv_reg_dmabuf_mr(struct ibv_pd* pd, uint64_t offset, size_t length, uint64_t iova,
                                 int fd, int access) {
  enum { PAGE = 4096 };
  if (fd < 0) {
    errno = EBADF;
    return NULL;
  }
  const uint64_t start = offset / PAGE * PAGE;
  char* const there = (char*)mmap(NULL, offset - start + length, PROT_READ | PROT_WRITE, MAP_SHARED,
                                  fd, (off_t)start);
  if (there == MAP_FAILED) return NULL;
  fprintf(stderr, "dmabuf: %zu bytes registered\n", length);
  return ibv_reg_mr_iova(pd, there + (offset - start), length, iova, (unsigned)access);
}
