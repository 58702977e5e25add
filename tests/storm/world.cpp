#include "world.h"

#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "../slowdown.h"

namespace storm {
namespace {

// Written by the first thread, read by the watch and by handlers of fatal signals; nothing else is
// ordered by them, so relaxed accesses are enough.
struct Position {
  std::atomic<uint32_t> step{0};
  std::atomic<uint8_t> family{0};
  std::atomic<const char*> doing{"start"};
  std::atomic<uint64_t> moves{0};
};
Position position;
std::atomic<bool> watching{false};

void say_position(const char* word, const char* more) {
  char line[256];
  const std::string_view family = name_of(static_cast<Family>(position.family.load()));
  const int n = std::snprintf(line, sizeof line, "%s rank %u step %u %.*s: %s%s\n", word,
                              world().rank, position.step.load(), static_cast<int>(family.size()),
                              family.data(), position.doing.load(), more);
  if (n > 0 && write(STDOUT_FILENO, line, static_cast<size_t>(n)) < 0) return;
}

void on_crash(int signal) {
  say_position("CRASH", signal == SIGFPE    ? " (SIGFPE)"
                        : signal == SIGSEGV ? " (SIGSEGV)"
                        : signal == SIGBUS  ? " (SIGBUS)"
                                            : " (SIGABRT)");
  void* frames[24];
  backtrace_symbols_fd(frames, backtrace(frames, 24), STDOUT_FILENO);
  // SA_RESETHAND: the default action ends the process now.
  raise(signal);
}

void watch(double patience) {
  uint64_t seen = ~uint64_t{0};
  auto since = std::chrono::steady_clock::now();
  while (watching.load(std::memory_order_relaxed)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const uint64_t moves = position.moves.load(std::memory_order_relaxed);
    const auto now = std::chrono::steady_clock::now();
    if (moves != seen) {
      seen = moves;
      since = now;
    } else if (std::chrono::duration<double>(now - since).count() > patience) {
      say_position("HANG", "");
      // The other ranks hang too and say where.
      std::this_thread::sleep_for(std::chrono::seconds(2));
      _exit(4);
    }
  }
}

void require(int status, const char* call) {
  if (status == GASNET_OK) return;
  std::fprintf(stderr, "storm: %s: %s\n", call, gasnet_ErrorName(status));
  std::exit(1);
}

}  // namespace

World& world() {
  static World instance;
  return instance;
}

const Script& script() {
  static const Script instance(world().options, world().size);
  return instance;
}

void start_world(const Options& options, int* argc, char*** argv) {
  World& w = world();
  w.options = options;
  require(gex_Client_Init(&w.client, &w.ep, &w.tm, "STORM", argc, argv, 0), "gex_Client_Init");
  w.rank = gex_TM_QueryRank(w.tm);
  w.size = gex_TM_QuerySize(w.tm);
  gex_Segment_t segment;
  require(gex_Segment_Attach(&segment, w.tm, (w.bytes() + 4095) & ~size_t{4095}),
          "gex_Segment_Attach");
  w.segment = static_cast<std::byte*>(gex_Segment_QueryAddr(segment));
  w.bases.resize(w.size);
  for (gex_Rank_t r = 0; r < w.size; ++r) {
    void* owner = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(w.tm, r, &owner, nullptr, nullptr, 0));
    w.bases[r] = static_cast<std::byte*>(owner);
  }
  std::memset(w.segment, 0, w.bytes());
  fill(w.segment, kMuseum, w.museum_stamp(w.rank));
}

void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(world().tm, 0));
}

void fail(const Step& step, const char* format, ...) {
  char text[1024];
  const std::string_view family = name_of(step.family);
  int n = std::snprintf(text, sizeof text, "FAIL rank %u step %u %.*s: ", world().rank, step.index,
                        static_cast<int>(family.size()), family.data());
  va_list rest;
  va_start(rest, format);
  n += std::vsnprintf(text + n, sizeof text - static_cast<size_t>(n) - 1, format, rest);
  va_end(rest);
  n = std::min(n, static_cast<int>(sizeof text) - 2);
  text[n++] = '\n';
  if (write(STDOUT_FILENO, text, static_cast<size_t>(n)) < 0) std::abort();
  gasnet_exit(3);
}

void expect(const Step& step, const char* what, const void* memory, size_t from, size_t bytes,
            Stamp stamp) {
  const size_t at = first_wrong_from(memory, from, bytes, stamp);
  if (at == bytes) return;
  fail(step, "%s: byte %zu of %zu is wrong: %s", what, at, bytes,
       describe(memory, bytes, at).c_str());
}

void stand_at(const Step& step, const char* doing) {
  position.step.store(step.index, std::memory_order_relaxed);
  position.family.store(static_cast<uint8_t>(step.family), std::memory_order_relaxed);
  stand_at(doing);
}

void stand_at(const char* doing) {
  position.doing.store(doing, std::memory_order_relaxed);
  position.moves.fetch_add(1, std::memory_order_relaxed);
}

void begin_watch() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) {
    struct sigaction action {};
    action.sa_handler = on_crash;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_NODEFER;
    sigaction(signal, &action, nullptr);
  }
  watching.store(true, std::memory_order_relaxed);
  std::thread(watch, world().options.patience * kSlowdown).detach();
}

void end_watch() {
  watching.store(false, std::memory_order_relaxed);
}

}  // namespace storm
