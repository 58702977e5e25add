// Suspects: peers whose connection broke without a good-bye, in a process that goes on without its
// peers. A conduit cannot tell a broken connection from a dead process and gives the launcher time
// to speak first; but a process of this host can be looked at, and one that is gone has failed,
// whatever a busy launcher has come to by then.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace causeway {

class Suspects {
 public:
  struct Suspect {
    uint32_t rank, epoch;
    std::string how;
  };

  ~Suspects();
  // The rank's process is, or was, `pid`, in this process's own numbering. Any thread.
  void add(Suspect suspect, pid_t pid);
  // Those whose process has ended, which may be a moment after its connections have. Who has not
  // within a second is let go: the conduit says what becomes of it. Any thread; waits for nobody.
  std::vector<Suspect> take_gone();
  bool any();

 private:
  struct Watched {
    Suspect suspect;
    int pidfd;  // -1: the process is no more
    uint64_t until_ns;
  };
  std::mutex mutex_;
  std::vector<Watched> watched_;
};

}  // namespace causeway
