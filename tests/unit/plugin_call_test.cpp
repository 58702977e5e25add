// Cold calls of plugins that do not come back as they should: by an exception, by exit(), never.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "base/error.h"
#include "loader/plugin_call.h"

namespace causeway {
namespace {

std::string error_of(const std::function<cwy_status()>& made) {
  try {
    plugin_call({"conduit", "acme"}, "domain_open", made);
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), CWY_ERR_INVALID);
    return e.text();
  }
  return "no error";
}

// Would catch: a status that is not handed on; a call that counts as under way after its end.
TEST(PluginCall, AnswersAsTheCallDoes) {
  EXPECT_EQ(plugin_call({"conduit", "acme"}, "reach", [] { return CWY_ERR_UNREACHABLE; }),
            CWY_ERR_UNREACHABLE);
  EXPECT_EXIT(std::exit(0), testing::ExitedWithCode(0), "^$");
}

// Would catch: an exception that ends the process, or whose line names no plugin.
TEST(PluginCall, NamesWhoThrew) {
  EXPECT_EQ(error_of([]() -> cwy_status { throw std::runtime_error("no\nroom"); }),
            "conduit acme: domain_open threw a C++ exception (no room), which must not leave a "
            "plugin");
  EXPECT_EQ(error_of([]() -> cwy_status { throw 7; }),
            "conduit acme: domain_open threw a C++ exception, which must not leave a plugin");
}

// Would catch: a job that counts as done because a plugin ended a rank with status 0.
TEST(PluginCall, NamesWhoEndedTheProcess) {
  const auto ends = [](int status) {
    plugin_call({"conduit", "acme"}, "ep_open", [&]() -> cwy_status { std::exit(status); });
  };
  EXPECT_EXIT(ends(0), testing::ExitedWithCode(1),
              "conduit acme ended the process in ep_open, with status 0");
  EXPECT_EXIT(ends(9), testing::ExitedWithCode(9), "with status 9");
}

// Would catch: a process that ends by a signal, and nothing says that a plugin was called; a crash
// that is made an exit; a handler of the program's that is lost, or one that stays behind the call.
TEST(PluginCall, NamesWhoCrashed) {
  const auto crashes = [] {
    const PluginWatch watch(60'000'000'000);
    plugin_call({"conduit", "acme"}, "reach", [] { return CWY_OK; });
    plugin_call({"conduit", "acme"}, "domain_open", []() -> cwy_status { std::abort(); });
  };
  EXPECT_EXIT(crashes(), testing::KilledBySignal(SIGABRT),
              "error: conduit acme crashed in domain_open .signal 6.");
  const auto behind = [] {
    const PluginWatch watch(60'000'000'000);
    plugin_call({"conduit", "acme"}, "reach", [] { return CWY_OK; });
    std::abort();
  };
  EXPECT_EXIT(behind(), testing::KilledBySignal(SIGABRT), "^$");
  const auto beside = [&] {
    std::signal(SIGABRT, [](int) { ::_exit(7); });
    crashes();
  };
  EXPECT_EXIT(beside(), testing::ExitedWithCode(7), "^$");
  const auto sent = [] {
    const PluginWatch watch(60'000'000'000);
    const pid_t self = ::getpid();
    plugin_call({"conduit", "acme"}, "reach", [self] {
      if (::fork() == 0) ::kill(self, SIGABRT), ::_exit(0);
      return ::sleep(60), CWY_OK;
    });
  };
  EXPECT_EXIT(sent(), testing::KilledBySignal(SIGABRT), "^$");
}

// Would catch: a handler that outlives the start, or takes the place of the program's.
TEST(PluginWatch, LeavesSignalsToTheProgram) {
  const auto now = [](int signal) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    return action;
  };
  struct sigaction own {
  }, ill{}, abort{};
  own.sa_sigaction = [](int, siginfo_t*, void*) {};
  own.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigaction(SIGILL, &own, &ill);
  ::sigaction(SIGABRT, nullptr, &abort);
  ASSERT_EQ(abort.sa_handler, SIG_DFL);
  {
    PluginWatch none(60'000'000'000, [](int) { return false; });
    EXPECT_EQ(now(SIGABRT).sa_handler, SIG_DFL);
  }
  {
    PluginWatch watch(60'000'000'000);
    EXPECT_EQ(now(SIGILL).sa_sigaction, own.sa_sigaction);
    EXPECT_NE(now(SIGABRT).sa_handler, SIG_DFL);
    PluginWatch::name_crashes(false);
    EXPECT_EQ(now(SIGABRT).sa_handler, SIG_DFL);
    EXPECT_EQ(now(SIGILL).sa_sigaction, own.sa_sigaction);
    EXPECT_EQ(now(SIGILL).sa_flags & SA_RESTART, SA_RESTART);
  }
  ::sigaction(SIGILL, &ill, nullptr);
}

// Would catch: a plugin that hangs for ever in silence; a line that names the outer call.
TEST(PluginWatch, EndsWhatDoesNotReturn) {
  const auto hangs = [] {
    const PluginWatch watch(300'000'000);
    plugin_call({"conduit", "outer"}, "configure", [] {
      plugin_call({"conduit", "acme"}, "domain_open", [] {
        ::sleep(60);
        return CWY_OK;
      });
      return CWY_OK;
    });
  };
  EXPECT_EXIT(hangs(), testing::ExitedWithCode(1),
              "conduit acme has been in domain_open for .*\n.*conduit acme has not returned "
              "from domain_open within 0.3 s .timeouts.start.");
}

// Would catch: a start that is ended because its calls together, or the time between them, last
// longer than one may; a watch that outlives its object.
TEST(PluginWatch, LeavesShortCallsAlone) {
  {
    const PluginWatch watch(2'000'000'000);
    for (int i = 0; i < 10; ++i)
      plugin_call({"conduit", "acme"}, "reach", [] { return ::usleep(250'000), CWY_OK; });
  }
  const PluginWatch again(50'000'000);
  ::usleep(100'000);
}

// Would catch: a large registration that is ended, or lasts without a word.
TEST(PluginWatch, OnlyTellsOfMemory) {
  const PluginWatch watch(200'000'000);
  testing::internal::CaptureStderr();
  const auto takes_long = [] { return ::usleep(600'000), CWY_OK; };
  EXPECT_EQ(plugin_call({"conduit", "acme"}, "mem_reg", takes_long, Lasting::is_told), CWY_OK);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("conduit acme has been in mem_reg for"), std::string::npos) << said;
  EXPECT_EQ(said.find("ends after"), std::string::npos) << said;
}

}  // namespace
}  // namespace causeway
