// The news that a rank hears of the others: PMIx's events become news of the job.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>

#include "bootstrap/pmix_bootstrap.h"
#include "spawn/job_words.h"

namespace causeway {
namespace {

// PMIx hands no context to event handlers. Set before the handler is registered, and only ever
// replaced by a null pointer; guarded because PMIx's thread reads it.
struct Listener {
  std::mutex mutex;
  std::weak_ptr<JobState> state;
  pmix_proc_t self{};
  std::vector<pmix_rank_t> ranks;  // by core rank
  uint32_t processes = 0;          // of the job, spares included
  bool own_launcher = false;
};
// Never destroyed: PMIx's thread may outlive static destruction.
Listener& listener() {
  static Listener* instance = new Listener;
  return *instance;
}

std::string describe(pmix_status_t code) {
  switch (code) {
    case PMIX_ERR_LOST_CONNECTION:
      return "closed its connection to the launcher";
    case PMIX_ERR_PROC_ABORTED_BY_SIG:
      return "was killed by a signal";
    case PMIX_ERR_PROC_TERM_WO_SYNC:
      return "exited early";
    case PMIX_ERR_PROC_REQUESTED_ABORT:
      return "aborted the job";
    case PMIX_ERR_PROC_KILLED_BY_CMD:
      return "was killed by the launcher";
    default:
      return fmt::format("died ({})", PMIx_Error_string(code));
  }
}

struct Event {
  const pmix_proc_t* affected;
  std::string text;
  std::optional<uint32_t> rank, epoch;  // of a replacement
};

Event read_event(const pmix_proc_t* source, const pmix_info_t* info, size_t count) {
  Event event{source, "", {}, {}};
  for (size_t i = 0; i < count; ++i) {
    if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_AFFECTED_PROC) && info[i].value.type == PMIX_PROC)
      event.affected = info[i].value.data.proc;
    if (PMIX_CHECK_KEY(&info[i], PMIX_EVENT_TEXT_MESSAGE) && info[i].value.type == PMIX_STRING &&
        info[i].value.data.string != nullptr)
      event.text = info[i].value.data.string;
    if (info[i].value.type != PMIX_UINT32) continue;
    if (PMIX_CHECK_KEY(&info[i], kRankKey)) event.rank = info[i].value.data.uint32;
    if (PMIX_CHECK_KEY(&info[i], kEpochKey)) event.epoch = info[i].value.data.uint32;
  }
  return event;
}

// The listener's mutex is held.
void note_replacement(Listener& who, JobState& state, const Event& event) {
  if (!event.rank || !event.epoch || *event.rank >= who.ranks.size()) return;
  who.ranks[*event.rank] = event.affected->rank;
  if (event.affected->rank == who.self.rank)
    state.placed(*event.rank, *event.epoch);
  else
    state.replaced(*event.rank, *event.epoch);
}

void note_departed(const Listener& who, JobState& state, const Event& event) {
  const char* at = event.text.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    const unsigned long rank = std::strtoul(at, &end, 10);
    if (end == at) return;
    if (rank < who.ranks.size() && who.ranks[rank] != who.self.rank)
      state.departed(static_cast<uint32_t>(rank));
    at = *end == ',' ? end + 1 : end;
  }
}

void note_death(Listener& who, JobState& state, const Event& event, pmix_status_t code) {
  const bool of_job = PMIX_CHECK_NSPACE(event.affected->nspace, who.self.nspace) &&
                      event.affected->rank < who.processes;
  const auto found = std::ranges::find(who.ranks, event.affected->rank);
  if (of_job && found != who.ranks.end()) {
    // Our launcher will say how it died; the mere loss of its socket would come first.
    if (!(who.own_launcher && code == PMIX_ERR_LOST_CONNECTION))
      state.died(static_cast<uint32_t>(found - who.ranks.begin()),
                 event.text.empty() ? describe(code) : event.text);
  } else if (!of_job && code == PMIX_ERR_LOST_CONNECTION) {
    state.died(static_cast<uint32_t>(who.ranks.size()), "is gone");
  }
}

void on_event(size_t, pmix_status_t code, const pmix_proc_t* source, pmix_info_t* info,
              size_t count, pmix_info_t*, size_t, pmix_event_notification_cbfunc_fn_t done,
              void* done_context) {
  const Event event = read_event(source, info, count);
  Listener& who = listener();
  {
    const std::lock_guard lock(who.mutex);
    if (const std::shared_ptr<JobState> state = who.state.lock(); state && event.affected) {
      if (code == kReplacedEvent)
        note_replacement(who, *state, event);
      else if (code == kAllLeaveEvent)
        state->all_leave();
      else if (code == kDepartedEvent)
        note_departed(who, *state, event);
      else
        note_death(who, *state, event, code);
    }
  }
  if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, done_context);
}

}  // namespace

void PmixBootstrap::listen_for_deaths() {
  {
    Listener& who = listener();
    const std::lock_guard lock(who.mutex);
    who.state = state_;
    who.self = self_;
    who.ranks.resize(size_);
    std::iota(who.ranks.begin(), who.ranks.end(), 0);
    who.processes = processes_;
    who.own_launcher = own_launcher_;
  }
  pmix_status_t codes[] = {PMIX_ERR_PROC_ABORTED,
                           PMIX_ERR_PROC_ABORTED_BY_SIG,
                           PMIX_ERR_PROC_TERM_WO_SYNC,
                           PMIX_ERR_PROC_REQUESTED_ABORT,
                           PMIX_ERR_PROC_KILLED_BY_CMD,
                           PMIX_ERR_LOST_CONNECTION,
                           kReplacedEvent,
                           kAllLeaveEvent,
                           kDepartedEvent};
  PMIx_Register_event_handler(codes, std::size(codes), nullptr, 0, &on_event, nullptr, nullptr);
}

void PmixBootstrap::stop_listening() {
  const std::lock_guard lock(listener().mutex);
  listener().state.reset();
}

pmix_proc_t PmixBootstrap::proc_of(uint32_t rank) const {
  pmix_proc_t proc = self_;
  const std::lock_guard lock(listener().mutex);
  proc.rank = listener().ranks[rank];
  return proc;
}

}  // namespace causeway
