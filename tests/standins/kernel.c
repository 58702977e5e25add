/* Preloaded: system calls as another machine would answer them.
 *
 *   STANDIN_NODES=N   the process may use N memory nodes and runs on the last one; what is asked of
 *                     placement is noted, not done
 *   STANDIN_NO_CMA=1  the memory of other processes may not be read or written (Yama, containers)
 *   STANDIN_LOG=F     each is appended to this file, one line
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static void note(const char* format, ...) {
  const char* path = getenv("STANDIN_LOG");
  if (path == NULL) return;
  char line[128];
  va_list list;
  va_start(list, format);
  const int length = vsnprintf(line, sizeof line, format, list);
  va_end(list);
  const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd >= 0 && length > 0 && write(fd, line, (size_t)length) < 0) abort();
  if (fd >= 0) close(fd);
}

static long nodes(void) {
  const char* text = getenv("STANDIN_NODES");
  return text == NULL ? 0 : atol(text);
}

typedef long (*syscall_fn)(long, long, long, long, long, long, long);

long syscall(long number, ...) {
  long a[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  if (nodes() > 0 && number == SYS_get_mempolicy && (a[4] & MPOL_F_MEMS_ALLOWED) != 0) {
    memset((void*)a[1], 0, (size_t)a[2] / 8);
    *(unsigned long*)a[1] = (1ul << nodes()) - 1;
    return 0;
  }
  if (nodes() > 0 && number == SYS_getcpu) {
    if (a[0] != 0) *(unsigned*)a[0] = 0;
    if (a[1] != 0) *(unsigned*)a[1] = (unsigned)(nodes() - 1);
    return 0;
  }
  if (nodes() > 0 && number == SYS_mbind) {
    note("mbind mode %ld nodes %#lx bytes %ld\n", a[2], *(const unsigned long*)a[3], a[1]);
    return 0;
  }
  static syscall_fn real;
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "syscall");
  return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* The kernel refuses every one, so that a caller that goes on after the first is noticed. */
static ssize_t refuse(const char* call) {
  note("%s refused\n", call);
  errno = EPERM;
  return -1;
}

typedef ssize_t (*transfer_fn)(pid_t, const struct iovec*, unsigned long, const struct iovec*,
                               unsigned long, unsigned long);

static ssize_t transfer(const char* call, pid_t pid, const struct iovec* here, unsigned long heres,
                        const struct iovec* there, unsigned long theres, unsigned long flags) {
  if (getenv("STANDIN_NO_CMA") != NULL) return refuse(call);
  transfer_fn real;
  *(void**)&real = dlsym(RTLD_NEXT, call);
  return real(pid, here, heres, there, theres, flags);
}

ssize_t process_vm_readv(pid_t pid, const struct iovec* here, unsigned long heres,
                         const struct iovec* there, unsigned long theres, unsigned long flags) {
  return transfer("process_vm_readv", pid, here, heres, there, theres, flags);
}

ssize_t process_vm_writev(pid_t pid, const struct iovec* here, unsigned long heres,
                          const struct iovec* there, unsigned long theres, unsigned long flags) {
  return transfer("process_vm_writev", pid, here, heres, there, theres, flags);
}
