// A rank whose start fails while the deaths of others are told to it: rank 0's configuration names
// an option that no plugin has. When rank 0 loads its first plugin, the others die. The second
// piece of news is held up in the middle until the failed start is at its end.
//
// Catches: news written into what the failed start has freed already, which ended one job of a
// hundred by SIGSEGV or SIGABRT in place of the error.
#include <dlfcn.h>
#include <fcntl.h>
#include <gasnetex.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr useconds_t kHeldUp = 300'000, kLook = 1'000;
constexpr int kLooks = 5'000;
// The thread of news locks its queue before and after each piece, and the core's list in it.
constexpr int kLocksBefore = 3;
std::atomic<bool> held_up{false};

bool is_thread_of_news() {
  char name[16] = "";
  return ::pthread_getname_np(::pthread_self(), name, sizeof name) == 0 &&
         std::strcmp(name, "cwy-news") == 0;
}

std::string signal_to_die() {
  const char* const session = std::getenv("CAUSEWAY_SESSION_DIR");
  return std::string(session != nullptr ? session : ".") + "/die";
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" [[gnu::visibility("default")]] int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  static auto* const lock = next<int(pthread_mutex_t*)>("pthread_mutex_lock");
  thread_local int locks = 0;
  if (is_thread_of_news() && ++locks > kLocksBefore && !held_up.exchange(true)) ::usleep(kHeldUp);
  return lock(mutex);
}

extern "C" [[gnu::visibility("default")]] void* dlopen(const char* file, int flags) noexcept {
  static auto* const open_library = next<void*(const char*, int)>("dlopen");
  if (file != nullptr && std::strstr(file, "conduit_") != nullptr) {
    ::close(::open(signal_to_die().c_str(), O_CREAT | O_WRONLY, 0600));
    for (int i = 0; i < kLooks && !held_up.load(); ++i) ::usleep(kLook);
  }
  return open_library(file, flags);
}

int main(int argc, char** argv) {
  const char* const rank = std::getenv("PMIX_RANK");
  if (rank == nullptr) return 2;
  if (std::strcmp(rank, "0") != 0) {
    while (::access(signal_to_die().c_str(), F_OK) != 0) ::usleep(kLook);
    ::_exit(9);
  }
  ::signal(SIGQUIT, SIG_IGN);  // the launcher's, since others have died
  ::setenv("CAUSEWAY_SET", "conduits.shm.options.nobody=1", 1);
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  const int status = gex_Client_Init(&client, &ep, &team, "news", &argc, &argv, 0);
  // The launcher tells of the first death alone where the second comes later than usual.
  std::fprintf(stderr, "%s, start: %d\n", held_up.load() ? "news held up" : "no news to hold up",
               status);
  ::_exit(status != GASNET_OK ? 7 : 3);
}
