// Peers that are gone: who has left in good order must not be taken for dead, who has said nothing
// must be in the end, and nobody waits for ever.
#include "process/departures.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>

namespace {

using namespace causeway;
using Kind = Departures::Finding::Kind;
using Clock = std::chrono::steady_clock;
constexpr uint64_t kLauncherNs = 3'000'000'000;

// Knows the goodbyes in `said`; `answers` false: a server that never answers.
class FakeBootstrap final : public Bootstrap {
 public:
  explicit FakeBootstrap(bool own_launcher) : own_launcher_(own_launcher) {}
  uint32_t rank() const override { return 0; }
  uint32_t size() const override { return 8; }
  const std::string& job_id() const override { return text_; }
  const std::string& session_dir() const override { return text_; }
  bool own_launcher() const override { return own_launcher_; }
  std::vector<uint32_t> local_ranks() const override { return {0}; }
  std::string job_key(uint64_t) override { return ""; }
  CardTable exchange(const std::string&, uint64_t) override { return {}; }
  void fence(uint64_t, Among) override {}
  void on_death(std::function<void(uint32_t, const std::string&)>) override {}
  void abort(int, const std::string&) override {}
  void finalize(std::optional<int>) override {}
  std::future<std::optional<Goodbye>> goodbye_of(uint32_t rank) override {
    ++questions;
    std::promise<std::optional<Goodbye>> answer;
    if (!answers) {
      kept_.push_back(std::move(answer));
      return kept_.back().get_future();
    }
    const auto found = said.find(rank);
    answer.set_value(found == said.end() ? std::nullopt : std::optional(found->second));
    return answer.get_future();
  }

  std::map<uint32_t, Goodbye> said;
  bool answers = true;
  int questions = 0;

 private:
  bool own_launcher_;
  std::string text_;
  std::vector<std::promise<std::optional<Goodbye>>> kept_;
};

// What is found in the end, and how long it took.
Departures::Finding settle(Departures& departures, FakeBootstrap& bootstrap, double& seconds) {
  const Clock::time_point begin = Clock::now();
  Departures::Finding finding = departures.look(bootstrap, kLauncherNs);
  while (finding.kind == Kind::waiting && Clock::now() - begin < std::chrono::seconds(60)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    finding = departures.look(bootstrap, kLauncherNs);
  }
  seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return finding;
}

TEST(Departures, NobodyIsSuspected) {
  FakeBootstrap bootstrap(true);
  Departures departures;
  EXPECT_EQ(departures.look(bootstrap, kLauncherNs).kind, Kind::nothing);
  EXPECT_EQ(bootstrap.questions, 0);
}

// Would catch: an orderly exit taken for a failure, or its code lost.
TEST(Departures, WhoLeftWithACodeTakesTheOthersAlong) {
  for (const int code : {0, 7}) {
    FakeBootstrap bootstrap(false);
    bootstrap.said[3] = {code};
    Departures departures;
    departures.suspect(3, "the process is gone");
    double seconds = 0;
    const Departures::Finding finding = settle(departures, bootstrap, seconds);
    EXPECT_EQ(finding.kind, Kind::left);
    EXPECT_EQ(finding.code, code);
  }
}

// Would catch: a rank that left alone missed, and the failure behind it overlooked.
TEST(Departures, WhoLeftAloneIsNotMissed) {
  FakeBootstrap bootstrap(false);
  bootstrap.said[3] = {};
  Departures departures;
  departures.suspect(3, "the process is gone");
  double seconds = 0;
  const Departures::Finding alone = settle(departures, bootstrap, seconds);
  EXPECT_EQ(alone.kind, Kind::left);
  EXPECT_FALSE(alone.code);
  EXPECT_EQ(departures.look(bootstrap, kLauncherNs).kind, Kind::nothing);
  departures.suspect(3, "the process is gone");
  departures.suspect(5, "no answer");
  EXPECT_EQ(settle(departures, bootstrap, seconds).kind, Kind::left);
  const Departures::Finding finding = settle(departures, bootstrap, seconds);
  EXPECT_EQ(finding.kind, Kind::failed);
  EXPECT_EQ(finding.who.rank, 5u);
  EXPECT_EQ(finding.who.how, "no answer");
}

// Would catch: a goodbye that is still on its way overlooked, or a failure waited for without end.
TEST(Departures, SilenceIsAFailureAfterAWhile) {
  FakeBootstrap bootstrap(false);
  Departures departures;
  departures.suspect(3, "the process is gone");
  EXPECT_EQ(departures.look(bootstrap, kLauncherNs).kind, Kind::waiting);
  double seconds = 0;
  EXPECT_EQ(settle(departures, bootstrap, seconds).kind, Kind::failed);
  EXPECT_GT(seconds, 1.5);
  EXPECT_GT(bootstrap.questions, 2);
}

// Would catch: a server that is gone itself keeping everybody waiting.
TEST(Departures, ASilentServerEndsItToo) {
  FakeBootstrap bootstrap(false);
  bootstrap.answers = false;
  Departures departures;
  departures.suspect(3, "the process is gone");
  double seconds = 0;
  EXPECT_EQ(settle(departures, bootstrap, seconds).kind, Kind::failed);
}

// Would catch: silence taken for a failure before our launcher, which knows, has had its time.
TEST(Departures, OurLauncherIsWaitedFor) {
  FakeBootstrap bootstrap(true);
  Departures departures;
  departures.suspect(3, "the process is gone");
  double seconds = 0;
  EXPECT_EQ(settle(departures, bootstrap, seconds).kind, Kind::failed);
  EXPECT_GT(seconds, 2.9);
  bootstrap.said[4] = {0};
  departures.suspect(3, "the process is gone");
  departures.suspect(4, "the process is gone");
  EXPECT_EQ(departures.look(bootstrap, kLauncherNs).kind, Kind::waiting);
}

}  // namespace
