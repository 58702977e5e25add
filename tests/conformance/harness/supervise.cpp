#include "supervise.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <new>

#include "base/error.h"
#include "guide.h"

namespace causeway::conformance {
namespace {

struct Shared {
  std::atomic<uint32_t> counts{0};  // relaxed: read after the child's end
  char running[kCaseRoom] = "start-up";
};
Shared* g_shared = nullptr;

int judge(int status) {
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  if (g_shared->counts.load(std::memory_order_relaxed) != 0) return WEXITSTATUS(status);
  const std::string name = running_case();
  fmt::print("FAILED  {}\n    a call into the plugin ended the process, with status {}\n{}", name,
             WEXITSTATUS(status), guide(name));
  return 1;
}

}  // namespace

char* running_case() {
  return g_shared->running;
}

void end_here(int status) {
  g_shared->counts.store(1, std::memory_order_relaxed);
  _exit(status);
}

int supervise(const std::function<int()>& body) {
  void* page =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw Error(CWY_ERR_NOMEM, "no shared memory for the suite itself");
  g_shared = new (page) Shared;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) throw Error(CWY_ERR_NOMEM, "cannot fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    const int status = body();
    g_shared->counts.store(1, std::memory_order_relaxed);
    return status;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return judge(status);
}

}  // namespace causeway::conformance
