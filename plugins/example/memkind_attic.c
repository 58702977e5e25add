/* attic: an example memory kind. Memory that lies in a file and not in the processor's reach.
 *
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A block is an unnamed file in the directory that the option `directory` names. Its address is a
 * range of pages that nobody may touch, reserved so that no other memory gets it; bytes come and go
 * with pread and pwrite. What a device's kind would do with a driver, this one does with a file:
 * replace the file by your memory, and keep the shape.
 */
#define _GNU_SOURCE
#include <causeway/memkind.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* 1. The manifest: read without loading the file. */
CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: memkind\n"
    "name: attic\n"
    "version: 1.0.0\n"
    "api: '2.0'\n"
    "min_core_minor: 0\n"
    "summary: memory in files (an example)\n"
    "license: BSD-3-Clause\n"
    "options:\n"
    "  directory:\n"
    "    type: string\n"
    "    default: /tmp\n"
    "    help: where the files are made\n");

enum { ATTIC_CLASS = CWY_MEM_VENDOR_BASE + 16, PAGE = 4096 };

static const cwy_services* services;

/* 2. Objects: what is opened, and the blocks that exist. */
struct cwym_kind {
  char directory[256];
};

struct block {
  struct block* next;
  uintptr_t base;
  uint64_t length; /* as asked for */
  uint64_t mapped; /* whole pages */
  int fd;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static struct block* blocks;

static cwy_status fail(cwy_err* err, cwy_status status, const char* text) {
  if (err != NULL) {
    err->status = status;
    snprintf(err->text, sizeof err->text, "%s", text);
  }
  return status;
}

/* The descriptor and offset behind [addr, addr+length): 1 if it is all of one block, 0 if the first
 * byte is no block's, -1 if the range leaves its block. */
static int find(const void* addr, uint64_t length, int* fd, uint64_t* offset) {
  const uintptr_t at = (uintptr_t)addr;
  int answer = 0;
  pthread_mutex_lock(&lock);
  for (struct block* b = blocks; b != NULL; b = b->next) {
    if (at < b->base || at - b->base >= b->length) continue;
    *fd = b->fd;
    *offset = at - b->base;
    answer = length <= b->length - *offset ? 1 : -1;
    break;
  }
  pthread_mutex_unlock(&lock);
  return answer;
}

/* 3. Devices: there is one. */
static cwy_status attic_list(cwym_device_fn fn, void* arg, cwy_err* err) {
  const cwym_device device = {CWY_HEAD(cwym_device), "files of this host", "", 0, -1};
  fn(arg, &device);
  return CWY_OK;
}

static cwy_status attic_create(const cwy_options* opts, int32_t device, const void* native,
                               uint64_t native_len, cwym_kind** out, cwy_err* err) {
  if (device != 0) return fail(err, CWY_ERR_INVALID, "the only device of memory kind 'attic' is 0");
  if (native_len != 0) return fail(err, CWY_ERR_INVALID, "'attic' takes no native handle");
  const char* directory = "/tmp";
  if (opts != NULL) (void)services->opt_string(opts, "directory", &directory);
  cwym_kind* kind = calloc(1, sizeof *kind);
  if (kind == NULL) return fail(err, CWY_ERR_NOMEM, "no memory for a memory kind");
  snprintf(kind->directory, sizeof kind->directory, "%s", directory);
  *out = kind;
  return CWY_OK;
}

static void attic_destroy(cwym_kind* kind) {
  free(kind);
}

static cwy_status attic_query(cwym_kind* kind, cwym_attr* attr) {
  const cwy_head head = attr->head;
  const cwym_attr all = {.head = head, .kind_class = ATTIC_CLASS, .alignment = PAGE};
  /* A core of another minor has another structure: no more of it is written than it has. */
  memcpy(attr, &all, head.struct_size < sizeof all ? head.struct_size : sizeof all);
  return CWY_OK;
}

static cwy_status attic_who_owns(const void* addr, uint64_t length, int32_t* device) {
  int fd;
  uint64_t offset;
  if (addr == NULL || find(addr, length, &fd, &offset) != 1) return CWY_ERR_INVALID;
  *device = 0;
  return CWY_OK;
}

/* 4. Memory. */
static cwy_status attic_alloc(cwym_kind* kind, uint64_t length, void** out, cwy_err* err) {
  if (length == 0) length = 1;
  if (length > UINT64_MAX / 2) return fail(err, CWY_ERR_NOMEM, "no file is that long");
  struct block* b = calloc(1, sizeof *b);
  if (b == NULL) return fail(err, CWY_ERR_NOMEM, "no memory for a block");
  b->length = length;
  b->mapped = (length + PAGE - 1) / PAGE * PAGE;
  b->fd = open(kind->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (b->fd < 0) b->fd = memfd_create("attic", MFD_CLOEXEC); /* file systems without O_TMPFILE */
  if (b->fd < 0 || ftruncate(b->fd, (off_t)b->mapped) != 0) {
    if (b->fd >= 0) close(b->fd);
    free(b);
    return fail(err, CWY_ERR_NOMEM, "no file of that length can be made");
  }
  void* base = mmap(NULL, b->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    close(b->fd);
    free(b);
    return fail(err, CWY_ERR_NOMEM, "no addresses are left for a block that long");
  }
  b->base = (uintptr_t)base;
  pthread_mutex_lock(&lock);
  b->next = blocks;
  blocks = b;
  pthread_mutex_unlock(&lock);
  *out = base;
  return CWY_OK;
}

static cwy_status attic_release(cwym_kind* kind, void* addr) {
  if (addr == NULL) return CWY_OK;
  struct block* found = NULL;
  pthread_mutex_lock(&lock);
  for (struct block** at = &blocks; *at != NULL; at = &(*at)->next) {
    if ((*at)->base != (uintptr_t)addr) continue;
    found = *at;
    *at = found->next;
    break;
  }
  pthread_mutex_unlock(&lock);
  if (found == NULL) return CWY_ERR_INVALID;
  munmap(addr, found->mapped);
  close(found->fd);
  free(found);
  return CWY_OK;
}

/* 5. Copies, between blocks and host memory and from block to block. */
static cwy_status move_all(int to_file, int fd, uint64_t offset, char* host, uint64_t length) {
  while (length != 0) {
    const ssize_t n =
        to_file ? pwrite(fd, host, length, (off_t)offset) : pread(fd, host, length, (off_t)offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return CWY_ERR_DEVICE_FAILED; /* a full disk, a file system that is gone */
    host += n;
    offset += (uint64_t)n;
    length -= (uint64_t)n;
  }
  return CWY_OK;
}

static cwy_status attic_copy(cwym_kind* kind, void* dst, const void* src, uint64_t length,
                             cwym_op* op) {
  if (length == 0) return CWY_OK;
  int to = -1, from = -1;
  uint64_t to_offset = 0, from_offset = 0;
  const int dst_known = find(dst, length, &to, &to_offset);
  const int src_known = find(src, length, &from, &from_offset);
  if (dst_known < 0 || src_known < 0 || (!dst_known && !src_known)) return CWY_ERR_INVALID;
  if (!src_known) return move_all(1, to, to_offset, (char*)src, length);
  if (!dst_known) return move_all(0, from, from_offset, dst, length);
  char buffer[64 * 1024];
  while (length != 0) {
    const uint64_t n = length < sizeof buffer ? length : sizeof buffer;
    cwy_status status = move_all(0, from, from_offset, buffer, n);
    if (status == CWY_OK) status = move_all(1, to, to_offset, buffer, n);
    if (status != CWY_OK) return status;
    from_offset += n;
    to_offset += n;
    length -= n;
  }
  return CWY_OK;
}

/* 6. The table. What is missing is filled in by the core: no exports, so peers reach this memory
 * through its owner; no progress, since nothing is ever pending. */
static const cwym_module module = {
    .head = CWY_HEAD(cwym_module),
    .min_core_minor = 0,
    .list_devices = attic_list,
    .create = attic_create,
    .destroy = attic_destroy,
    .query = attic_query,
    .who_owns = attic_who_owns,
    .alloc = attic_alloc,
    .release = attic_release,
    .copy = attic_copy,
};

CWY_EXPORT cwy_status CWY_MEMKIND_INIT(const cwy_services* core, const cwym_module** out,
                                       cwy_err* err);
cwy_status CWY_MEMKIND_INIT(const cwy_services* core, const cwym_module** out, cwy_err* err) {
  if (core->head.major != CWY_PLUGIN_MAJOR)
    return fail(err, CWY_ERR_UNSUPPORTED, "memory kind 'attic' needs plugin interface 2");
  services = core;
  *out = &module;
  return CWY_OK;
}
