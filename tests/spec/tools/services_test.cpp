// Timers, environment, errors, facts about the system, data helpers, tracing.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tools.h"

namespace {

std::string number(int64_t value, bool is_mem) {
  char text[64];
  EXPECT_EQ(gasnett_format_number(value, text, sizeof text, is_mem), text);
  return text;
}

// What a call writes to stderr.
template <typename Call>
std::string said(Call&& call) {
  testing::internal::CaptureStderr();
  call();
  std::fflush(stderr);
  return testing::internal::GetCapturedStderr();
}

}  // namespace

TEST(Timer, goes_on_at_the_clock_s_pace) {
  static gasnett_tick_t at = GASNETT_TICK_MIN;
  EXPECT_EQ(at, 0u);
  EXPECT_EQ(GASNETT_TICK_MAX + 1, GASNETT_TICK_MIN);
  const gasnett_tick_t start = gasnett_ticks_now();
  const uint64_t wall = gasnett_gettimeofday_us();
  EXPECT_EQ(gasnett_nsleep(20000000), 0);
  const gasnett_tick_t passed = gasnett_ticks_now() - start;
  EXPECT_GE(gasnett_ticks_to_ns(passed), 20000000u);
  EXPECT_GE(gasnett_ticks_to_us(passed), 20000u);
  EXPECT_LT(gasnett_ticks_to_ns(passed), 60000000000u);
  EXPECT_GT(wall, 1600000000000000u);  // later than 2020
  EXPECT_EQ(gasnett_nsleep(0), 0);
  EXPECT_GT(gasnett_tick_granularityus(), 0.0);
  EXPECT_LT(gasnett_tick_granularityus(), 1e6);
  EXPECT_GT(gasnett_tick_overheadus(), 0.0);
}

TEST(Timer, sleep_ends_on_a_signal) {
  gasnett_reghandler(SIGUSR1, [](int) {});
  const pthread_t sleeper = pthread_self();
  std::atomic<bool> done{false};
  // Again and again: the first one may come before the sleep.
  std::thread waker([&] {
    while (!done.load()) {
      pthread_kill(sleeper, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  errno = 0;
  const int status = gasnett_nsleep(60000000000u);
  const int error = errno;
  done.store(true);
  waker.join();
  EXPECT_NE(status, 0);
  EXPECT_EQ(error, EINTR);
  gasnett_reghandler(SIGUSR1, SIG_DFL);
}

TEST(Numbers, plain) {
  EXPECT_EQ(gasnett_parse_int("0", 0), 0);
  EXPECT_EQ(gasnett_parse_int("  42xyz", 0), 42);
  EXPECT_EQ(gasnett_parse_int("-17", 0), -17);
  EXPECT_EQ(gasnett_parse_int("+17", 0), 17);
  EXPECT_EQ(gasnett_parse_int("010", 0), 10);  // not octal
  EXPECT_EQ(gasnett_parse_int("0x1F", 0), 31);
  EXPECT_EQ(gasnett_parse_int("-0x10", 0), -16);
  EXPECT_EQ(gasnett_parse_int("", 0), 0);
  EXPECT_EQ(gasnett_parse_int("9223372036854775807", 0), INT64_MAX);
}

TEST(Numbers, memory_sizes) {
  EXPECT_EQ(gasnett_parse_int("7", 1), 7);
  EXPECT_EQ(gasnett_parse_int("7", 1024), 7 * 1024);
  EXPECT_EQ(gasnett_parse_int("7B", 1024), 7);
  EXPECT_EQ(gasnett_parse_int("2k", 1), 2048);
  EXPECT_EQ(gasnett_parse_int("2 KB", 1), 2048);
  EXPECT_EQ(gasnett_parse_int("1.5m", 1), 1536 * 1024);
  EXPECT_EQ(gasnett_parse_int("128.0MB", 1), int64_t{128} << 20);
  EXPECT_EQ(gasnett_parse_int("3gb", 1), int64_t{3} << 30);
  EXPECT_EQ(gasnett_parse_int("1T", 1), int64_t{1} << 40);
  EXPECT_EQ(gasnett_parse_int("", 1), 0);
}

TEST(Numbers, formatting) {
  EXPECT_EQ(number(-5, false), "-5");
  EXPECT_EQ(number(0, true), "0 B");
  EXPECT_EQ(number(1000, true), "1000 B");
  EXPECT_EQ(number(4096, true), "4 KB");
  EXPECT_EQ(number(int64_t{2} << 20, true), "2 MB");
  EXPECT_EQ(number((int64_t{1} << 20) + 1024, true), "1025 KB");
  EXPECT_EQ(number((int64_t{12} << 20) + 1, true), "12 MB");  // leaves at least 10
  EXPECT_EQ(number(int64_t{1} << 40, true), "1 TB");
  EXPECT_EQ(number(-(int64_t{3} << 30), true), "-3 GB");
  char little[4] = "xxx";
  gasnett_format_number(123456, little, sizeof little, 0);
  EXPECT_STREQ(little, "123");
}

TEST(Environment, strings) {
  gasnett_unsetenv("SPEC_TOOLS_A");
  EXPECT_EQ(gasnett_getenv("SPEC_TOOLS_A"), nullptr);
  EXPECT_STREQ(gasnett_getenv_withdefault("SPEC_TOOLS_A", "dflt"), "dflt");
  EXPECT_EQ(gasnett_getenv_withdefault("SPEC_TOOLS_A", nullptr), nullptr);
  gasnett_setenv("SPEC_TOOLS_A", "");
  EXPECT_STREQ(gasnett_getenv_withdefault("SPEC_TOOLS_A", "dflt"), "");
  gasnett_setenv("SPEC_TOOLS_A", "value");
  EXPECT_STREQ(gasnett_getenv("SPEC_TOOLS_A"), "value");
}

TEST(Environment, yes_and_no) {
  const struct {
    const char* text;
    int answer;
  } kWords[] = {{"y", 1}, {"Y", 1}, {"yes", 1}, {"YES", 1}, {"1", 1},
                {"n", 0}, {"N", 0}, {"no", 0},  {"No", 0},  {"0", 0}};
  for (const auto& word : kWords) {
    gasnett_setenv("SPEC_TOOLS_B", word.text);
    EXPECT_EQ(gasnett_getenv_yesno_withdefault("SPEC_TOOLS_B", !word.answer), word.answer);
  }
  for (const char* wrong : {"", "maybe", "2", "yess"}) {
    gasnett_setenv("SPEC_TOOLS_B", wrong);
    EXPECT_DEATH(gasnett_getenv_yesno_withdefault("SPEC_TOOLS_B", 0), "SPEC_TOOLS_B");
  }
  gasnett_unsetenv("SPEC_TOOLS_B");
  EXPECT_EQ(gasnett_getenv_yesno_withdefault("SPEC_TOOLS_B", 1), 1);
  EXPECT_EQ(gasnett_getenv_yesno_withdefault("SPEC_TOOLS_B", 0), 0);
}

TEST(Environment, numbers) {
  gasnett_unsetenv("SPEC_TOOLS_C");
  EXPECT_EQ(gasnett_getenv_int_withdefault("SPEC_TOOLS_C", -3, 0), -3);
  gasnett_setenv("SPEC_TOOLS_C", "2M");
  EXPECT_EQ(gasnett_getenv_int_withdefault("SPEC_TOOLS_C", 0, 1), 2 << 20);
  gasnett_setenv("SPEC_TOOLS_C", "");
  EXPECT_EQ(gasnett_getenv_int_withdefault("SPEC_TOOLS_C", 9, 0), 0);
  gasnett_setenv("SPEC_TOOLS_C", "2/4");
  EXPECT_EQ(gasnett_getenv_dbl_withdefault("SPEC_TOOLS_C", 0), 0.5);
  gasnett_setenv("SPEC_TOOLS_C", "0.25");
  EXPECT_EQ(gasnett_getenv_dbl_withdefault("SPEC_TOOLS_C", 0), 0.25);
  for (const char* wrong : {"", "x", "1/0", "1/x", "1.5z"}) {
    gasnett_setenv("SPEC_TOOLS_C", wrong);
    EXPECT_DEATH(gasnett_getenv_dbl_withdefault("SPEC_TOOLS_C", 0), "SPEC_TOOLS_C");
  }
  gasnett_unsetenv("SPEC_TOOLS_C");
  EXPECT_EQ(gasnett_getenv_dbl_withdefault("SPEC_TOOLS_C", 1.25), 1.25);
}

TEST(Environment, reports) {
  gasnett_unsetenv("GASNET_VERBOSEENV");
  EXPECT_EQ(gasnett_verboseenv(), 0);
  EXPECT_EQ(said([] { gasnett_envstr_display("SPEC_TOOLS_D", "quiet", 0); }), "");
  gasnett_setenv("GASNET_VERBOSEENV", "1");
  gasnett_unsetenv("PMIX_RANK");
  EXPECT_NE(gasnett_verboseenv(), 0);
  gasnett_setenv("SPEC_TOOLS_E", "12K");
  const std::string line = said([] { gasnett_getenv_int_withdefault("SPEC_TOOLS_E", 0, 1); });
  EXPECT_EQ(line.rfind("ENV parameter: SPEC_TOOLS_E = 12 KB", 0), 0u) << line;
  EXPECT_EQ(line.find("default"), std::string::npos) << line;
  EXPECT_EQ(said([] { gasnett_getenv_int_withdefault("SPEC_TOOLS_E", 0, 1); }), "");  // once
  EXPECT_NE(said([] { gasnett_getenv_yesno_withdefault("SPEC_TOOLS_F", 1); }).find("(default)"),
            std::string::npos);
  EXPECT_NE(said([] { gasnett_envdbl_display("SPEC_TOOLS_G", 0.5, 0); }).find("0.5"),
            std::string::npos);
  EXPECT_NE(said([] { gasnett_envstr_display("SPEC_TOOLS_H", nullptr, 1); }).find("SPEC_TOOLS_H"),
            std::string::npos);
  gasnett_setenv("PMIX_RANK", "1");
  EXPECT_EQ(gasnett_verboseenv(), 0);
  gasnett_unsetenv("PMIX_RANK");
  gasnett_unsetenv("GASNET_VERBOSEENV");
}

namespace {
void fail_here() {
  gasnett_fatalerror("number %d", 42);
}
}  // namespace
TEST(Errors, name_the_place) {
  EXPECT_EXIT(fail_here(), testing::KilledBySignal(SIGABRT),
              "\\*\\*\\* FATAL ERROR \\(.*\\): in fail_here\\(\\) at .*services_test.cpp:[0-9]+: "
              "number 42");
  EXPECT_EXIT(gasnett_fatalerror_nopos("plain %s", "text"), testing::KilledBySignal(SIGABRT),
              "FATAL ERROR \\(.*\\): plain text");
  EXPECT_EXIT(gasnett_killmyprocess(7), testing::ExitedWithCode(7), "");
#ifndef gasnett_fatalerror_nopos
#error "must be visible to the preprocessor"
#endif
  char* place = gasnett_current_loc;
  EXPECT_NE(std::string(place).find("services_test.cpp:"), std::string::npos);
  std::free(place);
  EXPECT_STREQ(GASNETT_CURRENT_FUNCTION, "TestBody");
  gasnett_flush_streams();
  EXPECT_EXIT((gasnett_close_streams(), _exit(3)), testing::ExitedWithCode(3), "");
}

TEST(Backtrace, prints_where_asked) {
  gasnett_backtrace_init("spec_tools");
  EXPECT_NE(said([] { EXPECT_EQ(gasnett_print_backtrace(2), 0); }), "");
  gasnett_unsetenv("GASNET_BACKTRACE");
  EXPECT_EQ(said([] { gasnett_print_backtrace_ifenabled(2); }), "");
  gasnett_setenv("GASNET_BACKTRACE", "1");
  EXPECT_NE(said([] { gasnett_print_backtrace_ifenabled(2); }), "");
  gasnett_unsetenv("GASNET_BACKTRACE");
  gasnett_backtrace_user = {"mine", [](int fd) { return ::write(fd, "mine", 4) == 4 ? 0 : 1; }, 1};
  EXPECT_EQ(said([] { gasnett_print_backtrace(2); }), "mine");
  gasnett_backtrace_user = {nullptr, nullptr, 0};
  int (*const before)(int) = gasnett_print_backtrace_ifenabled;
  gasnett_print_backtrace_ifenabled = [](int) { return 17; };
  EXPECT_EQ(gasnett_print_backtrace_ifenabled(2), 17);
  gasnett_print_backtrace_ifenabled = before;
}

TEST(Freeze, waits_for_the_flag) {
  static volatile int flag = 0;
  std::thread debugger([] {
    const auto frozen = [] { return __atomic_load_n(&flag, __ATOMIC_RELAXED) != 0; };
    while (!frozen()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    __atomic_store_n(&flag, 0, __ATOMIC_RELAXED);
  });
  const std::string line = said([] { gasnett_freezeForDebuggerNow(&flag, "flag"); });
  debugger.join();
  EXPECT_NE(line.find("flag"), std::string::npos);
  gasnett_unsetenv("GASNET_FREEZE_ON_ERROR");
  gasnett_freezeForDebuggerErr();  // returns at once
}

TEST(Signals, previous_handler_comes_back) {
  static volatile sig_atomic_t seen = 0;
  const gasnett_sighandlerfn_t mine = [](int) { seen = seen + 1; };
  EXPECT_EQ(gasnett_reghandler(SIGUSR2, mine), SIG_DFL);
  raise(SIGUSR2);
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(gasnett_reghandler(SIGUSR2, SIG_DFL), mine);
}

TEST(System, facts) {
  char name[256];
  ::gethostname(name, sizeof name);
  EXPECT_STREQ(gasnett_gethostname(), name);
  EXPECT_GE(gasnett_cpu_count(), 1);
  EXPECT_GT(gasnett_getPhysMemSz(0), uint64_t{1} << 20);
  EXPECT_NE(std::string(gasnett_exe_name()).find("spec_tools"), std::string::npos);
  const int one = 1;
  EXPECT_EQ(gasnett_isLittleEndian(), *reinterpret_cast<const char*>(&one));
  EXPECT_NE(gasnett_performance_warning_str(), nullptr);
  EXPECT_EQ(std::string(gasnett_release_version_str()).rfind("20", 0), 0u);
  EXPECT_GT(gasnett_release_version(), 2026000000u);
  EXPECT_EQ(1 << GASNETT_PAGESHIFT, GASNETT_PAGESIZE);
  EXPECT_GT(std::string(GASNETT_SYSTEM_TUPLE).size(), 5u);
  EXPECT_NE(std::string(GASNETT_CONFIG_STRING).find("SPEC=1.20"), std::string::npos);
  static char line[GASNETT_CACHE_LINE_BYTES];
  EXPECT_EQ(sizeof line % 32, 0u);
  EXPECT_NE(std::string(PLATFORM_COMPILER_IDSTR), "");
#if !PLATFORM_COMPILER_VERSION_GE(1, 0, 0) || PLATFORM_COMPILER_VERSION_LT(1, 0, 0)
#error "versions compare"
#endif
#if defined(PLATFORM_ARCH_32) + defined(PLATFORM_ARCH_64) != 1 || \
    defined(PLATFORM_ARCH_LITTLE_ENDIAN) + defined(PLATFORM_ARCH_BIG_ENDIAN) != 1
#error "exactly one each"
#endif
}

TEST(System, scheduling_and_limits) {
  gasnett_sched_yield();
  cpu_set_t before, after;
  sched_getaffinity(0, sizeof before, &before);
  int cpu = 0;
  while (!CPU_ISSET(cpu, &before)) ++cpu;
  if (gasnett_set_affinity(cpu) == 0) {
    sched_getaffinity(0, sizeof after, &after);
    EXPECT_EQ(CPU_COUNT(&after), 1);
    sched_setaffinity(0, sizeof before, &before);
  }
  EXPECT_NE(gasnett_set_affinity(-1), 0);
  rlimit limit;
  EXPECT_NE(gasnett_maximize_rlimit(RLIMIT_CORE, "RLIMIT_CORE"), 0);
  getrlimit(RLIMIT_CORE, &limit);
  EXPECT_EQ(limit.rlim_cur, limit.rlim_max);
  if (limit.rlim_max > 0) {
    limit.rlim_cur = 0;
    setrlimit(RLIMIT_CORE, &limit);
    gasnett_setenv("GASNET_MAXIMIZE_RLIMIT_CORE", "0");
    gasnett_maximize_rlimit(RLIMIT_CORE, "RLIMIT_CORE");
    getrlimit(RLIMIT_CORE, &limit);
    EXPECT_EQ(limit.rlim_cur, 0u);
    gasnett_unsetenv("GASNET_MAXIMIZE_RLIMIT_CORE");
  }
  gasnett_maximize_rlimits();
}

TEST(Data, zero_bytes) {
  unsigned char bytes[200], copy[200];
  for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<unsigned char>(i * 37 % 5);
  for (size_t from = 0; from < 9; ++from) {
    for (const size_t n : {size_t{0}, size_t{1}, size_t{7}, size_t{8}, size_t{9}, size_t{150}}) {
      size_t expected = 0;
      for (size_t i = 0; i < n; ++i) expected += bytes[from + i] == 0;
      EXPECT_EQ(gasnett_count0s(bytes + from, n), expected);
      std::memset(copy, 0xEE, sizeof copy);
      EXPECT_EQ(gasnett_count0s_copy(copy, bytes + from, n), expected);
      EXPECT_EQ(std::memcmp(copy, bytes + from, n), 0);
      EXPECT_EQ(copy[n], 0xEE);
    }
  }
  EXPECT_EQ(gasnett_count0s_uint64_t(0), 8);
  EXPECT_EQ(gasnett_count0s_uint64_t(0x8000000000000001u), 6);
  EXPECT_EQ(gasnett_count0s_uint64_t(~uint64_t{0}), 0);
  EXPECT_EQ(gasnett_count0s_uint32_t(0), 4);
  EXPECT_EQ(gasnett_count0s_uint32_t(0x00100200u), 2);
  EXPECT_EQ(gasnett_count0s_uintptr_t(0x40), static_cast<int>(sizeof(uintptr_t)) - 1);
}

TEST(Data, checksum) {
  char text[] = "some text of some length";
  const uint64_t sum = gasnett_checksum(text, sizeof text);
  EXPECT_EQ(gasnett_checksum(text, sizeof text), sum);
  std::swap(text[3], text[5]);
  EXPECT_NE(gasnett_checksum(text, sizeof text), sum);
  EXPECT_NE(gasnett_checksum(text, 3), gasnett_checksum(text, 4));
}

// Nothing is enabled, everything compiles in the places where clients use it, and arguments are
// left alone where the description says so.
TEST(Tracing, tells_that_nothing_is_traced) {
  EXPECT_FALSE(GASNETT_TRACE_ENABLED);
  GASNETT_TRACE_PRINTF("%d", 1);
  (true ? GASNETT_TRACE_PRINTF : GASNETT_TRACE_PRINTF_FORCE)("%s", "x");
  GASNETT_STATS_PRINTF("%d", 1);
  GASNETT_STATS_PRINTF_FORCE("%d", 1);
  EXPECT_STREQ(GASNETT_TRACE_GETMASK(), "");
  EXPECT_STREQ(GASNETT_STATS_GETMASK(), "");
  GASNETT_TRACE_SETMASK("A");
  GASNETT_STATS_SETMASK("A");
  EXPECT_STREQ(GASNETT_TRACE_GETMASK(), "");
  const char* file = "unchanged";
  unsigned line = 7;
  GASNETT_TRACE_SETSOURCELINE("other", 1);
  GASNETT_TRACE_GETSOURCELINE(&file, &line);
  EXPECT_STREQ(file, "unchanged");
  EXPECT_EQ(line, 7u);
  GASNETT_TRACE_FREEZESOURCELINE();
  GASNETT_TRACE_UNFREEZESOURCELINE();
  GASNETT_TRACE_SET_TRACELOCAL(1);
  EXPECT_EQ(GASNETT_TRACE_GET_TRACELOCAL(), 0);
  GASNETT_STATS_DUMP(1);
  void (*callback)(void (*)(const char*, ...)) = nullptr;
  EXPECT_EQ(GASNETT_STATS_INIT(callback), 0);
  EXPECT_NE(reinterpret_cast<void*>(&_gasnett_trace_printf_noop), nullptr);
  EXPECT_NE(reinterpret_cast<void*>(&_gasneti_threadkey_init), nullptr);
}

TEST(Printf, pieces) {
  char text[64];
  std::snprintf(text, sizeof text, "%" PRIuSZ " %" PRIdPD " %" PRIu64, sizeof(int), ptrdiff_t{-3},
                uint64_t{5});
  EXPECT_STREQ(text, "4 -3 5");
}

#ifdef _INCLUDED_GASNETEX_H
namespace {
unsigned value_of(const void* src, size_t n) {
  GASNETT_VALUE_RETURN(src, n);
}
}  // namespace
TEST(Conduit, values_and_memory) {
  uint64_t word = ~uint64_t{0};
  GASNETT_VALUE_ASSIGN(&word, 0x1234, 2);
  EXPECT_EQ(word, 0xFFFFFFFFFFFF1234u);
  EXPECT_EQ(value_of(&word, 2), 0x1234u);
  char copy[8];
  GASNETT_FAST_ALIGNED_MEMCPY(copy, &word, 8);
  GASNETT_FAST_UNALIGNED_MEMCPY(copy + 1, reinterpret_cast<char*>(&word) + 1, 7);
  EXPECT_EQ(std::memcmp(copy, &word, 8), 0);
  void* memory = gasnett_mmap(10000);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % GASNETT_PAGESIZE, 0u);
  munmap(memory, 10000);
}

TEST(Conduit, names_of_constants) {
  char text[256];
  const size_t n = gasnett_format_dt(nullptr, GEX_DT_I32 | GEX_DT_DBL);
  ASSERT_LE(n, sizeof text);
  EXPECT_EQ(gasnett_format_dt(text, GEX_DT_I32 | GEX_DT_DBL), n);
  EXPECT_STREQ(text, "GEX_DT_I32|GEX_DT_DBL");
  EXPECT_EQ(std::strlen(text) + 1, n);
  gasnett_format_op(text, GEX_OP_FCAS);
  EXPECT_STREQ(text, "GEX_OP_FCAS");
  gasnett_format_ti(text, GEX_TI_ENTRY | GEX_TI_SRCRANK);
  EXPECT_STREQ(text, "GEX_TI_SRCRANK|GEX_TI_ENTRY");
  gasnett_format_op(text, 0);
  EXPECT_STREQ(text, "0");
}

TEST(Conduit, lists_of_pieces) {
  std::vector<char> text(gasnett_format_memveclist_bufsz(3));
  const gex_Memvec_t list[] = {{reinterpret_cast<void*>(0x10), 8},
                               {reinterpret_cast<void*>(~uintptr_t{0}), SIZE_MAX - 16},
                               {nullptr, 0}};
  size_t n = gasnett_format_memveclist(text.data(), 3, list);
  EXPECT_LE(n, text.size());
  EXPECT_EQ(n, std::strlen(text.data()) + 1);
  EXPECT_NE(std::string(text.data()).find("3 pieces"), std::string::npos) << text.data();
  EXPECT_NE(std::string(text.data()).find("[0x10,8]"), std::string::npos) << text.data();
  EXPECT_GT(gasnett_format_memveclist(text.data(), 0, nullptr), 1u);

  void* const places[] = {reinterpret_cast<void*>(0x20), reinterpret_cast<void*>(~uintptr_t{0})};
  text.resize(gasnett_format_addrlist_bufsz(2));
  n = gasnett_format_addrlist(text.data(), 2, places, 24);
  EXPECT_LE(n, text.size());
  EXPECT_NE(std::string(text.data()).find("0x20"), std::string::npos) << text.data();
  EXPECT_NE(std::string(text.data()).find("24 bytes"), std::string::npos) << text.data();

  text.resize(gasnett_format_putvgetv_bufsz(3, 1));
  EXPECT_LE(gasnett_format_putvgetv(text.data(), 3, list, 1, list), text.size());
  EXPECT_NE(std::string(text.data()).find("from 1 pieces, 8 bytes"), std::string::npos);
  text.resize(gasnett_format_putigeti_bufsz(1, 2));
  EXPECT_LE(gasnett_format_putigeti(text.data(), 1, places, 16, 2, places, 8), text.size());
  EXPECT_NE(std::string(text.data()).find("to 1 pieces of 16 bytes: 0x20; from 2 pieces of 8"),
            std::string::npos)
      << text.data();

  const ptrdiff_t strides[] = {PTRDIFF_MIN, -3}, others[] = {8, 64};
  const size_t count[] = {4, SIZE_MAX};
  text.resize(gasnett_format_strides_bufsz(2));
  EXPECT_LE(gasnett_format_strides(text.data(), 2, strides), text.size());
  EXPECT_NE(std::string(text.data()).find(",-3]"), std::string::npos) << text.data();
  text.resize(gasnett_format_putsgets_bufsz(2));
  EXPECT_LE(
      gasnett_format_putsgets(text.data(), places[0], strides, places[1], others, 8, count, 2),
      text.size());
  EXPECT_NE(std::string(text.data()).find("strides [8,64]; elements of 8 bytes"), std::string::npos)
      << text.data();
  // With a place for statistics, as the text's other callers write it.
  std::vector<char> other(text.size());
  gasnett_format_putsgets(other.data(), nullptr, places[0], strides, places[1], others, 8, count,
                          2);
  EXPECT_STREQ(other.data(), text.data());
}
#endif
