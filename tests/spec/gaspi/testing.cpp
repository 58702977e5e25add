#include "testing.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace spec {
namespace {

struct State {
  Job job;
  std::vector<Case> cases;
  const Case* running = nullptr;
  std::string skip_reason;
  std::atomic<unsigned> failures{0};  // relaxed: counted by several threads, read after they joined
  unsigned passed = 0, failed = 0, skipped = 0;
  uint64_t seed = 1;
  std::byte* memory[2] = {};
};
State& state() {
  static State instance;
  return instance;
}

void require(gaspi_return_t result, const char* call) {
  if (result == GASPI_SUCCESS) return;
  std::fprintf(stderr, "rank %u: %s: %s\n", state().job.rank, call, gaspi_error_str(result));
  std::exit(1);
}

unsigned sum_over_ranks(unsigned value) {
  unsigned total = 0;
  require(gaspi_allreduce(&value, &total, 1, GASPI_OP_SUM, GASPI_TYPE_UINT, GASPI_GROUP_ALL,
                          GASPI_BLOCK),
          "gaspi_allreduce");
  return total;
}

void clear(gaspi_segment_id_t id, std::byte* base, size_t bytes) {
  std::memset(base, 0, bytes);
  gaspi_number_t notes = 0;
  gaspi_notification_num(&notes);
  for (;;) {
    gaspi_notification_id_t found = 0;
    gaspi_notification_t value = 0;
    if (gaspi_notify_waitsome(id, 0, notes, &found, GASPI_TEST) != GASPI_SUCCESS) return;
    gaspi_notify_reset(id, found, &value);
  }
}

void run_case(const Case& c) {
  State& s = state();
  const std::string name = std::string(c.group) + "." + c.name;
  if (s.job.size < c.least_ranks) {
    ++s.skipped;
    return;
  }
  s.running = &c;
  s.skip_reason.clear();
  s.failures.store(0, std::memory_order_relaxed);
  clear(0, s.memory[0], kBytes);
  clear(1, s.memory[1], kBytes / 2);
  barrier();
  const double start = seconds_now();
  c.body();
  const unsigned total = sum_over_ranks(s.failures.load(std::memory_order_relaxed));
  const bool skipped = sum_over_ranks(s.skip_reason.empty() ? 0 : 1) != 0;
  if (total > 0)
    ++s.failed;
  else if (skipped)
    ++s.skipped;
  else
    ++s.passed;
  if (s.job.rank != 0) return;
  if (total > 0) std::printf("FAIL  %s: %u failed check(s) over all ranks\n", name.c_str(), total);
  if (total == 0 && skipped) std::printf("skip  %s: %s\n", name.c_str(), s.skip_reason.c_str());
  if (std::getenv("SPEC_VERBOSE") != nullptr)
    std::printf("ran   %s (%.3f s)\n", name.c_str(), seconds_now() - start);
  std::fflush(stdout);
}

bool selected(const Case& c, int argc, char** argv) {
  bool any = false;
  const std::string full = std::string(c.group) + "." + c.name;
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') continue;
    any = true;
    if (full == argv[i] || std::string(c.group) == argv[i]) return true;
  }
  return !any;
}

}  // namespace

const Job& job() {
  return state().job;
}
std::byte* memory(size_t offset) {
  return state().memory[0] + offset;
}
std::byte* memory1(size_t offset) {
  return state().memory[1] + offset;
}
void barrier() {
  require(gaspi_barrier(GASPI_GROUP_ALL, GASPI_BLOCK), "gaspi_barrier");
}
double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
uint64_t seed() {
  return state().seed;
}

Registration::Registration(const char* group, const char* name, void (*body)(), unsigned least) {
  state().cases.push_back({group, name, body, least});
}

void report_failure(const char* file, int line, const std::string& text) {
  State& s = state();
  constexpr unsigned kPrinted = 8;
  if (s.failures.fetch_add(1, std::memory_order_relaxed) >= kPrinted) return;
  const char* slash = std::strrchr(file, '/');
  std::fprintf(stderr, "rank %u: %s.%s: %s:%d: %s\n", s.job.rank,
               s.running ? s.running->group : "start", s.running ? s.running->name : "-",
               slash ? slash + 1 : file, line, text.c_str());
}

void skip_case(const std::string& reason) {
  state().skip_reason = reason;
}

gaspi_notification_t take_note(gaspi_segment_id_t id, gaspi_notification_id_t note) {
  gaspi_notification_id_t found = 0;
  gaspi_notification_t value = 0;
  if (!CHECK_OK(gaspi_notify_waitsome(id, note, 1, &found, kLong))) return 0;
  CHECK_EQ(found, note);
  CHECK_OK(gaspi_notify_reset(id, found, &value));
  return value;
}

int run_cases(int argc, char** argv) {
  require(gaspi_proc_init(GASPI_BLOCK), "gaspi_proc_init");
  return run_cases_of_started(argc, argv);
}

int run_cases_of_started(int argc, char** argv) {
  State& s = state();
  std::sort(s.cases.begin(), s.cases.end(), [](const Case& a, const Case& b) {
    const int group = std::strcmp(a.group, b.group);
    return group != 0 ? group < 0 : std::strcmp(a.name, b.name) < 0;
  });
  require(gaspi_proc_rank(&s.job.rank), "gaspi_proc_rank");
  require(gaspi_proc_num(&s.job.size), "gaspi_proc_num");
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).substr(0, 7) == "--seed=")
      s.seed = std::strtoull(argv[i] + 7, nullptr, 10);
  }
  for (gaspi_segment_id_t id = 0; id < 2; ++id) {
    require(gaspi_segment_create(id, id == 0 ? kBytes : kBytes / 2, GASPI_GROUP_ALL, GASPI_BLOCK,
                                 GASPI_MEM_INITIALIZED),
            "gaspi_segment_create");
    require(gaspi_segment_ptr(id, &s.memory[id]), "gaspi_segment_ptr");
  }
  for (const Case& c : s.cases)
    if (selected(c, argc, argv)) run_case(c);
  if (s.job.rank == 0)
    std::printf("%u passed, %u failed, %u skipped on %u ranks (seed %llu)\n", s.passed, s.failed,
                s.skipped, s.job.size, static_cast<unsigned long long>(s.seed));
  const int status = s.failed > 0 || s.passed == 0 ? 1 : 0;
  barrier();
  require(gaspi_proc_term(GASPI_BLOCK), "gaspi_proc_term");
  return status;
}

}  // namespace spec

// A program with a main of its own leaves this out.
#ifndef SPEC_NO_MAIN
int main(int argc, char** argv) {
  return spec::run_cases(argc, argv);
}
#endif
