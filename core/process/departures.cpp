#include "process/departures.h"

#include <algorithm>
#include <chrono>

#include "base/clock.h"

namespace causeway {
namespace {

constexpr uint64_t kMilli = 1'000'000;
// The goodbye is given time to arrive before the first question (Bootstrap::goodbye_of).
constexpr uint64_t kGoodbyeTravels = 500 * kMilli;
// A rank's goodbye and a question about it take different ways to the bootstrap's server.
constexpr uint64_t kGoodbyeHas = 2000 * kMilli;
constexpr uint64_t kBetweenQuestions = 100 * kMilli;

}  // namespace

void Departures::suspect(uint32_t rank, const std::string& how) {
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(suspects_, rank, &Suspect::rank);
  if (known == suspects_.end()) suspects_.push_back({rank, how});
}

bool Departures::any() {
  const std::lock_guard lock(mutex_);
  return !suspects_.empty();
}

Departures::Finding Departures::look(Bootstrap& bootstrap, uint64_t launcher_ns) {
  const std::lock_guard lock(mutex_);
  if (suspects_.empty()) return {Finding::Kind::nothing};
  const Suspect who = suspects_.front();
  Finding finding = judge(bootstrap, launcher_ns, who);
  if (finding.kind == Finding::Kind::waiting) return finding;
  // Found out: the next one is looked into from the start.
  give_up_ = 0;
  answer_ = {};
  if (finding.kind == Finding::Kind::left) suspects_.erase(suspects_.begin());
  return finding;
}

Departures::Finding Departures::judge(Bootstrap& bootstrap, uint64_t launcher_ns,
                                      const Suspect& who) {
  const uint64_t now = now_ns();
  if (give_up_ == 0) {
    ask_again_ = now + kGoodbyeTravels;
    give_up_ = ask_again_ + (bootstrap.own_launcher() ? launcher_ns : kGoodbyeHas);
  }
  if (!answer_.valid()) {
    if (now < ask_again_) return {Finding::Kind::waiting};
    answer_ = bootstrap.goodbye_of(who.rank);
  }
  if (answer_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    if (now < give_up_ + kGoodbyeHas) return {Finding::Kind::waiting};
    return {Finding::Kind::failed, std::nullopt, who};  // nobody answers at all
  }
  const std::optional<Bootstrap::Goodbye> goodbye = answer_.get();  // invalid from here on
  if (goodbye) return {Finding::Kind::left, goodbye->code, who};
  if (now >= give_up_) return {Finding::Kind::failed, std::nullopt, who};
  ask_again_ = now + kBetweenQuestions;
  return {Finding::Kind::waiting};
}

}  // namespace causeway
