// How a rank ends: it tells the launcher, hears whether all have come to their end, and says
// goodbye, for which the others ask. And how it has another one go on.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/quiet_thread.h"
#include "bootstrap/pmix_bootstrap.h"
#include "spawn/job_words.h"

namespace causeway {
namespace {

constexpr const char* kGoodbye = "causeway.goodbye";
constexpr uint64_t kAskRemote = 1'000'000'000;

}  // namespace

// Not waited for: what follows, a goodbye for one, goes by the same connection.
void PmixBootstrap::tell_launcher(pmix_status_t event, const char* key,
                                  std::optional<uint32_t> number) {
  // PMIx may read it until it answers.
  struct Telling {
    pmix_info_t info;
    uint32_t value;
  };
  auto telling = std::make_unique<Telling>();
  telling->value = number.value_or(0);
  PMIX_INFO_LOAD(&telling->info, key, &telling->value, PMIX_UINT32);
  const auto told = [](pmix_status_t, void* context) { delete static_cast<Telling*>(context); };
  const pmix_status_t status =
      PMIx_Notify_event(event, &self_, PMIX_RANGE_GLOBAL, number ? &telling->info : nullptr,
                        number ? 1 : 0, told, telling.get());
  if (status == PMIX_SUCCESS) static_cast<void>(telling.release());  // the callback owns it now
}

void PmixBootstrap::let_go_on(uint32_t rank) {
  if (joined_ && own_launcher_) tell_launcher(kLetGoOnEvent, kRankKey, rank);
}

// A launcher that is not ours cannot be told that a rank leaves. Instead all ranks that leave meet
// in a fence. The fence fails where a rank has left before or ends with an error; then
// on_all_leave() is never called.
void PmixBootstrap::meet_those_who_leave() {
  post_fence(false, Among::all, [state = state_](pmix_status_t status) {
    if (status == PMIX_SUCCESS) state->all_leave();
  });
}

bool PmixBootstrap::begin_leave(std::optional<int> code) {
  if (!joined_ || leaving_) return false;
  leaving_ = true;
  if (own_launcher_) {
    std::optional<uint32_t> told;
    if (code) told = static_cast<uint32_t>(*code) & 0xff;
    tell_launcher(kLeavingEvent, kCodeKey, told);
  } else if (code.value_or(0) == 0) {
    meet_those_who_leave();  // a rank that ends with an error meets nobody
  }
  return true;
}

std::future<std::optional<Bootstrap::Goodbye>> PmixBootstrap::goodbye_of(uint32_t rank) {
  auto promise = std::make_shared<std::promise<std::optional<Goodbye>>>();
  // A server may miss the goodbye of a local rank while a question waits there for it, if the rank
  // had published other keys before. So a local rank's goodbye is asked for without waiting, and
  // the caller asks again.
  const bool local = std::ranges::binary_search(local_ranks_, rank);
  ask(rank, kGoodbye, local ? 0 : kAskRemote, [promise](const std::optional<std::string>& said) {
    if (!said) return promise->set_value(std::nullopt);
    Goodbye goodbye;
    if (!said->empty()) goodbye.code = std::atoi(said->c_str());
    promise->set_value(goodbye);
  });
  return promise->get_future();
}

void PmixBootstrap::finalize(std::optional<int> code) {
  if (!joined_) return;
  if (own_launcher_) begin_leave(code);
  joined_ = false;
  state_->stop();
  const std::string said = code ? std::to_string(*code) : std::string();
  // The library waits for ever where the program has closed its socket, or the server is stopped.
  const auto failure = within(kFinalizeWithin, [said] {
    std::string problem;
    try {
      publish({{kGoodbye, said}});
    } catch (const std::exception& e) {
      problem = e.what();
    }
    // The handler of events stays registered, and says nothing any more: PMIx 4 frees one that is
    // taken away while an event of another rank's end is on its way through it, and reads it then.
    // Without PMIX_EMBED_BARRIER: a rank leaves when it wants to.
    PMIx_Finalize(nullptr, 0);
    return problem;
  });
  if (!failure)
    throw Error(CWY_ERR_UNREACHABLE, "the launcher's PMIx server did not take the goodbye");
  if (!failure->empty()) throw Error(CWY_ERR_UNREACHABLE, "{}", *failure);
}

}  // namespace causeway
