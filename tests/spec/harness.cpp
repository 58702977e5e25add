#include "harness.h"

#include <unistd.h>

#include <algorithm>
#include <bitset>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "../slowdown.h"

namespace spec {
namespace {

constexpr gex_AM_Index_t kReportIndex = 128;
constexpr gex_AM_Index_t kVerdictIndex = 129;
constexpr unsigned kPrintedPerCase = 8;

struct Options {
  std::vector<std::string> filters;  // "group", "group.name"; none: all
  bool list = false;
  bool verbose = false;
  double case_timeout_s = 100;
};

struct State {
  Job job;
  Options options;
  std::vector<Case> cases;
  std::vector<std::byte*> segments;  // owner addresses by rank
  size_t segment_bytes = 0;
  const Case* running = nullptr;
  std::string skip_reason;
  unsigned passed = 0, failed = 0, skipped = 0;
  // Counters below are touched by handlers and, in PAR, by several threads; nothing else is
  // ordered by them except where GASNET_BLOCKUNTIL acquires, so relaxed increments with release
  // on the message counters are enough.
  std::atomic<unsigned> failures{0};
  std::atomic<unsigned> reports{0};
  std::atomic<unsigned> reported_failures{0};
  std::atomic<unsigned> verdicts{0};
  std::atomic<unsigned> verdict_failures{0};
};

State& state() {
  static State instance;
  return instance;
}

void on_report(gex_Token_t, gex_AM_Arg_t failures) {
  State& s = state();
  s.reported_failures.fetch_add(static_cast<unsigned>(failures), std::memory_order_relaxed);
  s.reports.fetch_add(1, std::memory_order_release);
}

void on_verdict(gex_Token_t, gex_AM_Arg_t failures) {
  State& s = state();
  s.verdict_failures.store(static_cast<unsigned>(failures), std::memory_order_relaxed);
  s.verdicts.fetch_add(1, std::memory_order_release);
}

// Says which case hangs and ends this rank, so that the job's own time limit is not the only
// word. A plain thread that never enters the library.
class Watchdog {
 public:
  explicit Watchdog(double limit_s) : limit_(limit_s), thread_([this] { watch(); }) {}
  ~Watchdog() {
    {
      std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void watch() {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::duration<double>(limit_), [this] { return done_; }))
      return;
    const State& s = state();
    std::fprintf(stderr, "rank %u: case %s.%s did not end within %.0f s\n", s.job.rank,
                 s.running->group, s.running->name, limit_);
    std::abort();
  }
  const double limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

// Sums the failures of all ranks; every rank gets the sum, and none returns before all came.
unsigned sum_over_ranks(unsigned failures) {
  State& s = state();
  static unsigned rounds = 0;
  ++rounds;
  gex_AM_RequestShort1(s.job.tm, 0, kReportIndex, 0, static_cast<gex_AM_Arg_t>(failures));
  if (s.job.rank == 0) {
    GASNET_BLOCKUNTIL(s.reports.load(std::memory_order_acquire) == s.job.size);
    const unsigned total = s.reported_failures.exchange(0, std::memory_order_relaxed);
    s.reports.store(0, std::memory_order_relaxed);
    for (gex_Rank_t rank = 0; rank < s.job.size; ++rank)
      gex_AM_RequestShort1(s.job.tm, rank, kVerdictIndex, 0, static_cast<gex_AM_Arg_t>(total));
  }
  GASNET_BLOCKUNTIL(s.verdicts.load(std::memory_order_acquire) == rounds);
  return s.verdict_failures.load(std::memory_order_relaxed);
}

bool selected(const Case& c) {
  const auto& filters = state().options.filters;
  const std::string full = std::string(c.group) + "." + c.name;
  return filters.empty() || std::any_of(filters.begin(), filters.end(),
                                        [&](const auto& f) { return f == c.group || f == full; });
}

void run_case(const Case& c) {
  State& s = state();
  const std::string name = std::string(c.group) + "." + c.name;
  if (s.job.size < c.min_ranks) {
    ++s.skipped;
    if (s.job.rank == 0 && s.options.verbose)
      std::printf("skip  %s: needs %u ranks\n", name.c_str(), c.min_ranks);
    return;
  }
  s.running = &c;
  s.skip_reason.clear();
  s.failures.store(0, std::memory_order_relaxed);
  const double start = seconds_now();
  unsigned total = 0;
  {
    Watchdog watchdog(s.options.case_timeout_s * kSlowdown);
    c.body();
    total = sum_over_ranks(s.failures.load(std::memory_order_relaxed));
  }
  if (total > 0)
    ++s.failed;
  else if (!s.skip_reason.empty())
    ++s.skipped;
  else
    ++s.passed;
  if (s.job.rank != 0) return;
  if (total > 0)
    std::printf("FAIL  %s: %u failed check(s) over all ranks\n", name.c_str(), total);
  else if (!s.skip_reason.empty())
    std::printf("skip  %s: %s\n", name.c_str(), s.skip_reason.c_str());
  else if (s.options.verbose)
    std::printf("ok    %s (%.3f s)\n", name.c_str(), seconds_now() - start);
  std::fflush(stdout);
}

void run_phase(Phase phase) {
  for (const Case& c : state().cases)
    if (c.phase == phase && selected(c)) run_case(c);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--list") {
      options.list = true;
    } else if (arg == "--verbose") {
      options.verbose = true;
    } else if (arg.starts_with("--case-timeout=")) {
      options.case_timeout_s = std::atof(arg.substr(15).data());
    } else if (!arg.starts_with("-")) {
      options.filters.emplace_back(arg);
    } else {
      std::fprintf(stderr, "%s: unknown option %s\n", argv[0], argv[i]);
      std::exit(2);
    }
  }
  return options;
}

void require(int status, const char* call) {
  if (status == GASNET_OK) return;
  std::fprintf(stderr, "%s: %s\n", call, gasnet_ErrorName(status));
  std::exit(1);
}

}  // namespace

class HandlerTable {
 public:
  static HandlerTable& instance() {
    static HandlerTable table;
    return table;
  }
  void add(Handler* handler) { handlers_.push_back(handler); }
  void register_all() {
    std::vector<gex_AM_Entry_t> entries;
    entries.push_back({kReportIndex, reinterpret_cast<gex_AM_Fn_t>(&on_report),
                       GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, nullptr, "report"});
    entries.push_back({kVerdictIndex, reinterpret_cast<gex_AM_Fn_t>(&on_verdict),
                       GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, nullptr, "verdict"});
    for (const Handler* handler : handlers_) entries.push_back(handler->entry_);
    require(register_handlers(entries.data(), entries.size()), "gex_EP_RegisterHandlers");
    for (size_t i = 0; i < handlers_.size(); ++i)
      handlers_[i]->entry_.gex_index = entries[i + 2].gex_index;
  }
  std::bitset<256> taken;

 private:
  std::vector<Handler*> handlers_;
};

Handler::Handler(gex_AM_Fn_t fn, gex_Flags_t flags, unsigned nargs, const char* name,
                 const void* cdata)
    : entry_{0, fn, flags, nargs, cdata, name} {
  HandlerTable::instance().add(this);
}

int register_handlers(gex_AM_Entry_t* table, size_t entries) {
  const int status = gex_EP_RegisterHandlers(job().ep, table, entries);
  if (status == GASNET_OK)
    for (size_t i = 0; i < entries; ++i) HandlerTable::instance().taken.set(table[i].gex_index);
  return status;
}

bool handler_index_taken(unsigned index) {
  return HandlerTable::instance().taken.test(index);
}

Registration::Registration(const char* group, const char* name, void (*body)(),
                           gex_Rank_t min_ranks, Phase phase) {
  state().cases.push_back({group, name, body, min_ranks, phase});
}

Job& job() {
  return state().job;
}

std::byte* segment_of(gex_Rank_t rank, size_t offset) {
  return state().segments[rank] + offset;
}
std::byte* my_segment(size_t offset) {
  return segment_of(job().rank, offset);
}
size_t segment_bytes() {
  return state().segment_bytes;
}

void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(job().tm, 0));
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

unsigned scaled(unsigned base, unsigned least) {
  return job().size <= 4 ? base : std::max(least, base * 4 / job().size);
}

void report_failure(const char* file, int line, const std::string& text) {
  State& s = state();
  const unsigned count = s.failures.fetch_add(1, std::memory_order_relaxed);
  if (count > kPrintedPerCase) return;
  const char* slash = std::strrchr(file, '/');
  std::fprintf(stderr, "rank %u: %s.%s: %s:%d: %s\n", s.job.rank,
               s.running ? s.running->group : "start", s.running ? s.running->name : "-",
               slash ? slash + 1 : file, line,
               count < kPrintedPerCase ? text.c_str() : "(more failed checks not printed)");
}

void skip_case(const std::string& reason) {
  state().skip_reason = reason;
}

static uint8_t pattern_byte(size_t i, uint64_t seed) {
  const uint64_t word = ((i >> 3) + 1) * 0x9E3779B97F4A7C15ULL + seed * 0xD1B54A32D192ED03ULL;
  return static_cast<uint8_t>((word ^ (word >> 29)) >> (8 * (i & 7)));
}

void fill(void* memory, size_t bytes, uint64_t seed) {
  auto* p = static_cast<uint8_t*>(memory);
  for (size_t i = 0; i < bytes; ++i) p[i] = pattern_byte(i, seed);
}

size_t first_difference(const void* memory, size_t bytes, uint64_t seed) {
  const auto* p = static_cast<const uint8_t*>(memory);
  for (size_t i = 0; i < bytes; ++i)
    if (p[i] != pattern_byte(i, seed)) return i;
  return bytes;
}

[[gnu::weak]] void start_client(Job& j, int* argc, char*** argv) {
  require(gex_Client_Init(&j.client, &j.ep, &j.tm, "SPEC_GEX", argc, argv, 0), "gex_Client_Init");
}

// Attaches a segment and learns everybody's address; defined by the program.
gex_Segment_t make_segment(std::vector<std::byte*>& owners, size_t& common_bytes);

int run_program(int argc, char** argv) {
  State& s = state();
  std::sort(s.cases.begin(), s.cases.end(), [](const Case& a, const Case& b) {
    const int group = std::strcmp(a.group, b.group);
    return group != 0 ? group < 0 : std::strcmp(a.name, b.name) < 0;
  });
  start_client(s.job, &argc, &argv);
  s.options = parse(argc, argv);
  s.job.rank = gex_TM_QueryRank(s.job.tm);
  s.job.size = gex_TM_QuerySize(s.job.tm);
  if (s.options.list) {
    if (s.job.rank == 0)
      for (const Case& c : s.cases) std::printf("%s.%s\n", c.group, c.name);
    gasnet_exit(0);
  }
  HandlerTable::instance().register_all();
  barrier();
  run_phase(Phase::unattached);
  s.job.segment = make_segment(s.segments, s.segment_bytes);
  barrier();  // handlers of the first case may ask for the segment
  run_phase(Phase::attached);
  if (s.job.rank == 0)
    std::printf("%u passed, %u failed, %u skipped on %u ranks\n", s.passed, s.failed, s.skipped,
                s.job.size);
  const int status = s.failed > 0 || s.passed == 0 ? 1 : 0;
  barrier();
  gasnet_exit(status);
}

}  // namespace spec

int main(int argc, char** argv) {
  return spec::run_program(argc, argv);
}
