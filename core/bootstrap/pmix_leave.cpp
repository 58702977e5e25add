// Words of a rank to the launcher: that it has come to its end, when it hears whether all have, and
// that another one is to go on.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "bootstrap/pmix_bootstrap.h"
#include "spawn/job_words.h"

namespace causeway {

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
  const std::vector<pmix_proc_t> everybody = members();
  auto state = std::make_unique<std::shared_ptr<JobState>>(state_);
  const auto met = [](pmix_status_t status, void* context) {
    const std::unique_ptr<std::shared_ptr<JobState>> mine(
        static_cast<std::shared_ptr<JobState>*>(context));
    if (status == PMIX_SUCCESS) (*mine)->all_leave();
  };
  if (PMIx_Fence_nb(everybody.data(), everybody.size(), nullptr, 0, met, state.get()) ==
      PMIX_SUCCESS)
    static_cast<void>(state.release());  // the callback owns it now
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

}  // namespace causeway
