/* What a container's filter of system calls does: deny ERRNO NUMBER,... COMMAND [ARGUMENT...]
 * executes COMMAND, for which and for whose children these calls fail with ERRNO. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { most = 100 };

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const unsigned refusal = SECCOMP_RET_ERRNO | (unsigned)atoi(argv[1]);
  struct sock_filter filter[2 * most + 2] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  unsigned short length = 1;
  for (char* number = strtok(argv[2], ","); number != NULL && length < 2 * most;
       number = strtok(NULL, ",")) {
    filter[length++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(number), 0, 1);
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, refusal);
  }
  filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {length, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("deny: no filter");
    return 77;
  }
  execvp(argv[3], argv + 3);
  perror(argv[3]);
  return 127;
}
