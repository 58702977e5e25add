// The system call that makes other threads, or other processes, come to a full fence.
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace causeway {

// 0, or -1 with errno. `command`: MEMBARRIER_CMD_*.
inline long membarrier(int command) {
  return ::syscall(SYS_membarrier, command, 0, 0);
}

}  // namespace causeway
