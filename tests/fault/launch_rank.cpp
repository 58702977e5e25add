// The program that the launcher tests start: a rank that uses the bootstrap directly and behaves,
// or misbehaves, as its words say. Words are carried out in order; "@R" before a word restricts it
// to rank R, "!R" to all other ranks.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/error.h"
#include "bootstrap/bootstrap.h"

namespace {

using causeway::Bootstrap;
using Clock = std::chrono::steady_clock;

std::unique_ptr<Bootstrap> g_boot;
double g_timeout_s = 20.0;
std::mutex g_replaced_mutex;
std::condition_variable g_replacement;
std::optional<uint32_t> g_replaced;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

uint64_t timeout_ns() {
  return static_cast<uint64_t>(g_timeout_s * 1e9);
}

// Before the bootstrap exists, the launcher's environment says who this is.
uint32_t rank() {
  if (g_boot) return g_boot->rank();
  const char* text = std::getenv("PMIX_RANK");
  return text == nullptr ? 0 : static_cast<uint32_t>(std::atoi(text));
}

void say(const std::string& text) {
  std::fputs((text + "\n").c_str(), stdout);
  std::fflush(stdout);
}

std::string card_of(uint32_t who) {
  return "card of " + std::to_string(who) + std::string(who, 'x');
}

void init() {
  const auto begin = Clock::now();
  g_boot = causeway::make_bootstrap(timeout_ns());
  const double init_s = seconds_since(begin);
  if (std::getenv("LAUNCH_RANK_TIMES") != nullptr) say(fmt::format("init {:.1f} ms", init_s * 1e3));
  g_boot->on_death([](uint32_t who, const std::string& how) {
    say(fmt::format("rank {} hears: rank {} {}", rank(), who, how));
  });
  g_boot->on_replacement([](uint32_t who, uint32_t epoch) {
    say(fmt::format("rank {} hears: rank {} is of epoch {}", rank(), who, epoch));
    const std::lock_guard lock(g_replaced_mutex);
    g_replaced = who;
    g_replacement.notify_all();
  });
}

// A spare waits for its place; others go on.
void take_place() {
  if (!g_boot->spare()) return;
  const auto place = g_boot->wait_for_place(timeout_ns());
  if (!place) {
    say("no place for a spare");
    std::_Exit(8);
  }
  say(fmt::format("spare is rank {} of epoch {}", place->rank, place->epoch));
}

// Until a rank has been replaced; then its new card is asked for.
void meet_replacement() {
  if (g_boot->epoch() > 1) return;
  std::unique_lock lock(g_replaced_mutex);
  g_replacement.wait_for(lock, std::chrono::duration<double>(g_timeout_s),
                         [] { return g_replaced.has_value(); });
  const uint32_t who = g_replaced.value();
  lock.unlock();
  const std::string card = g_boot->card_of(who, timeout_ns());
  say(fmt::format("rank {} {} the new card of {}", rank(), card == card_of(who) ? "has" : "MISSES",
                  who));
}

// `mark` goes before each card, so that those of a second exchange differ.
void exchange(const std::string& mark = "") {
  const auto begin = Clock::now();
  const auto cards = g_boot->exchange(mark + card_of(rank()), timeout_ns());
  g_boot->started();
  if (std::getenv("LAUNCH_RANK_TIMES") != nullptr)
    say(fmt::format("exchange {:.1f} ms", seconds_since(begin) * 1e3));
  for (uint32_t i = 0; i < g_boot->size(); ++i) {
    if (cards[i] != mark + card_of(i)) {
      say(fmt::format("rank {}: wrong card of {}: '{}'", rank(), i, cards[i]));
      std::_Exit(9);
    }
  }
  say(fmt::format("rank {} of {} has all cards", rank(), g_boot->size()));
}

// Until every rank has come here. An exchange alone is not enough for what dies after it: the first
// to leave it may be gone before the others have read their cards, and for them it has failed.
void together() {
  const auto mark = [](uint32_t who) {
    return fmt::format("{}/together.{}", g_boot->session_dir(), who);
  };
  std::ofstream(mark(rank())).put('\n');
  const auto begin = Clock::now();
  for (uint32_t who = 0; who < g_boot->size(); ++who) {
    while (!std::filesystem::exists(mark(who))) {
      if (seconds_since(begin) > g_timeout_s) {
        say(fmt::format("rank {}: rank {} did not come", rank(), who));
        std::_Exit(10);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
}

void print_lines(int count) {
  for (int i = 0; i < count; ++i)
    std::printf("line %d of rank %u %s end\n", i, rank(),
                std::string(static_cast<size_t>(i % 97), 'z').c_str());
  std::fflush(stdout);
}

// Ends in a process that no longer has anything to do with this one but its ancestry.
void daemonise() {
  if (::fork() != 0) return;
  ::setsid();
  if (::fork() != 0) ::_exit(0);
  ::prctl(PR_SET_NAME, "launch-daemon");
  for (const int signal : {SIGHUP, SIGTERM, SIGINT, SIGQUIT}) ::signal(signal, SIG_IGN);
  for (;;) ::pause();
}

void echo_stdin() {
  char chunk[4096];
  ssize_t n;
  size_t total = 0;
  while ((n = ::read(0, chunk, sizeof chunk)) > 0) total += static_cast<size_t>(n);
  say(fmt::format("rank {} read {} bytes", rank(), total));
}

void on_signal(int signal) {
  const std::string text = fmt::format("rank {} got signal {}\n", rank(), signal);
  [[maybe_unused]] const ssize_t n = ::write(1, text.data(), text.size());
  std::_Exit(0);
}

// Asked until it is there: the question may overtake the goodbye.
void hear_goodbye(uint32_t who) {
  for (int i = 0; i < 100; ++i) {
    const auto goodbye = g_boot->goodbye_of(who).get();
    if (goodbye && goodbye->code)
      return say(fmt::format("rank {} left with {}", who, *goodbye->code));
    if (goodbye) return say(fmt::format("rank {} left alone", who));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  say(fmt::format("rank {} said nothing", who));
}

// As a program that is profiled: a handler counts how its processor time is spent.
void profile() {
  ::signal(SIGPROF, [](int) {});
  ::signal(SIGALRM, [](int) {});
  const itimerval often{{0, 1000}, {0, 1000}};
  ::setitimer(ITIMER_PROF, &often, nullptr);
  ::setitimer(ITIMER_REAL, &often, nullptr);
}

// Signals that the program has a use for, of both kinds.
void handle() {
  ::signal(SIGUSR1, [](int) {});
  ::signal(SIGRTMIN, [](int) {});
}

void perform(const std::string& word, const std::string& value) {
  const auto number = [&value] { return std::atof(value.c_str()); };
  if (word == "init") return init();
  if (word == "exchange") return exchange();
  if (word == "again") return exchange("new ");
  if (word == "together") return together();
  if (word == "heap") return say(fmt::format("rank {} heap {}", rank(), ::mallinfo2().uordblks));
  if (word == "fence") return g_boot->fence(timeout_ns());
  if (word == "place") return take_place();
  if (word == "meet") return meet_replacement();
  if (word == "survives") return say(g_boot->survives_failures() ? "survives" : "ends");
  if (word == "host")
    return say(fmt::format("rank {} on host '{}' id '{}', local {}", rank(), g_boot->host_name(),
                           g_boot->host_id(), fmt::join(g_boot->local_ranks(), ",")));
  if (word == "finalize") return g_boot->finalize(std::nullopt);
  if (word == "leave") return g_boot->finalize(std::atoi(value.c_str()));
  if (word == "goodbye") return hear_goodbye(static_cast<uint32_t>(std::atoi(value.c_str())));
  if (word == "abort") return g_boot->abort(std::atoi(value.c_str()), "the test says so");
  if (word == "sleep") return std::this_thread::sleep_for(std::chrono::duration<double>(number()));
  if (word == "first-kill" && g_boot->epoch() > 1) return;  // a replacement lives
  if (word == "kill" || word == "first-kill") {
    // AddressSanitizer turns faults into an exit.
    ::signal(std::atoi(value.c_str()), SIG_DFL);
    ::raise(std::atoi(value.c_str()));
    return;
  }
  if (word == "crash") std::abort();
  if (word == "exit") return std::_Exit(std::atoi(value.c_str()));
  if (word == "timeout") return static_cast<void>(g_timeout_s = number());
  if (word == "print") return print_lines(std::atoi(value.c_str()));
  if (word == "say") return say(value);
  if (word == "partial") return static_cast<void>(::write(1, value.data(), value.size()));
  if (word == "long") {
    const std::string line(static_cast<size_t>(number()), static_cast<char>('A' + rank() % 26));
    std::cout << line << std::endl;
    return;
  }
  if (word == "unflushed") return static_cast<void>(std::printf("%s\n", value.c_str()));
  if (word == "catch") {
    for (const int signal : {SIGQUIT, SIGTERM, SIGINT}) ::signal(signal, &on_signal);
    return;
  }
  if (word == "deaf") {
    for (const int signal : {SIGQUIT, SIGTERM, SIGINT}) ::signal(signal, SIG_IGN);
    return;
  }
  if (word == "chdir") return std::filesystem::current_path(value);
  if (word == "profile") return profile();
  if (word == "handle") return handle();
  if (word == "cloexec") {
    for (int fd = 0; fd <= 2; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    return;
  }
  if (word == "close") {
    for (int fd = 3; fd < 256; ++fd) ::close(fd);
    return;
  }
  if (word == "daemon") return daemonise();
  if (word == "thread") return std::thread([] { ::pause(); }).detach();
  if (word == "stdin") return echo_stdin();
  if (word == "pid")
    return say(fmt::format("rank {} pid {} parent {}", rank(), ::getpid(), ::getppid()));
  if (word == "dir")
    return say(fmt::format("dir {} job {}", g_boot->session_dir(), g_boot->job_id()));
  if (word == "env") {
    const char* text = std::getenv(value.c_str());
    return say(fmt::format("{}={}", value, text == nullptr ? "(unset)" : text));
  }
  say("launch_rank: unknown word " + word);
  std::_Exit(99);
}

}  // namespace

// Debian's libpmix 4.2.2 leaks some 170 bytes in PMIx_Init and PMIx_Get. Read by LeakSanitizer,
// unused otherwise.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libpmix.so\nleak:pmix_\n";
}

extern "C" __attribute__((visibility("default"))) const char* __lsan_default_options();
extern "C" const char* __lsan_default_options() {
  return "print_suppressions=0";
}

int main(int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) {
      std::string word = argv[i];
      if (word[0] == '@' || word[0] == '!') {
        const size_t colon = word.find(':');
        const bool same = static_cast<uint32_t>(std::atoi(word.c_str() + 1)) == rank();
        if (same != (word[0] == '@')) continue;
        word = word.substr(colon + 1);
      }
      const size_t equals = word.find('=');
      perform(word.substr(0, equals), equals == std::string::npos ? "" : word.substr(equals + 1));
    }
  } catch (const causeway::Error& e) {
    say(fmt::format("rank {} error {}: {}", rank(), causeway::status_name(e.status()), e.text()));
    return 5;
  }
  return 0;
}
