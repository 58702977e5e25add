#include "bootstrap/pmix_bootstrap.h"

#include <fmt/ranges.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "bootstrap/quiet_thread.h"
#include "bootstrap/stand_in_directory.h"
#include "spawn/job_words.h"
#include "spawn/prompt_sockets.h"

namespace causeway {
namespace {

// Waits are cut to this, so that a caller's "no limit" does not overflow a deadline.
constexpr uint64_t kLongestWait = 1000ull * 3600 * 1000 * 1000 * 1000;

// How long the name of a dead rank may take after its fence has failed. Longer than our launcher
// watches a rank that exited with status 0 and no goodbye.
constexpr std::chrono::nanoseconds kNamesFollow = std::chrono::milliseconds(1500);

constexpr const char* kFirstCard = "causeway.card.0";
constexpr const char* kGoodbye = "causeway.goodbye";
constexpr uint64_t kAskRemote = 1'000'000'000;

// Up to so many ranks, every rank gets every card itself: one fence instead of two.
constexpr uint32_t kFetchEach = 6;

std::chrono::nanoseconds limit_of(uint64_t timeout_ns) {
  return std::chrono::nanoseconds(std::min(timeout_ns, kLongestWait));
}

struct FenceContext {
  std::shared_ptr<JobState> state;
  JobState::Wait wait;
};

void fence_done(pmix_status_t status, void* context) {
  const std::unique_ptr<std::shared_ptr<FenceContext>> fence(
      static_cast<std::shared_ptr<FenceContext>*>(context));
  (*fence)->state->complete((*fence)->wait, status);
}

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
  if (event.affected->rank == who.self.rank) {
    state.placed(*event.rank, *event.epoch);
  } else {
    state.replaced(*event.rank, *event.epoch);
  }
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
  const auto found = std::find(who.ranks.begin(), who.ranks.end(), event.affected->rank);
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
      if (code == kReplacedEvent) {
        note_replacement(who, *state, event);
      } else if (code == kAllLeaveEvent) {
        state->all_leave();
      } else if (code == kDepartedEvent) {
        note_departed(who, *state, event);
      } else {
        note_death(who, *state, event, code);
      }
    }
  }
  if (done != nullptr) done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, done_context);
}

// Cards one after the other, each behind its length.
std::string pack_table(const std::vector<std::string>& cards) {
  std::string table;
  for (const std::string& card : cards) {
    const uint64_t length = card.size();
    table.append(reinterpret_cast<const char*>(&length), sizeof length);
    table += card;
  }
  return table;
}

std::vector<std::string> unpack_table(const std::string& table, size_t count) {
  std::vector<std::string> cards;
  size_t at = 0;
  while (cards.size() < count) {
    uint64_t length = 0;
    if (table.size() - at < sizeof length) break;
    std::memcpy(&length, table.data() + at, sizeof length);
    at += sizeof length;
    if (table.size() - at < length) break;
    cards.push_back(table.substr(at, length));
    at += length;
  }
  if (cards.size() != count || at != table.size())
    throw Error(CWY_ERR_INVALID, "rank 0's table of cards is damaged ({} of {} cards)",
                cards.size(), count);
  return cards;
}

// A number in "ranks=4,spares=1,...", which our launcher says of the job.
std::optional<uint32_t> number_of_job(const std::string& text, const std::string& name) {
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) {
    if (item.rfind(name + "=", 0) == 0)
      return static_cast<uint32_t>(std::strtoul(item.c_str() + name.size() + 1, nullptr, 10));
  }
  return std::nullopt;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The connection to the server, as the environment names it ("...tcp4://127.0.0.1:41375").
void send_to_server_promptly() {
  send_promptly([](int fd) {
    const uint16_t port = peer_port(fd);
    if (port == 0) return false;
    const std::string end = fmt::format(":{}", port);
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text = *entry;
      if (text.starts_with("PMIX_SERVER_URI") && text.ends_with(end)) return true;
    }
    return false;
  });
}

}  // namespace

PmixBootstrap::PmixBootstrap(uint64_t timeout_ns) {
  join(timeout_ns);
  // The server may name its own launcher only through the environment it gave this process.
  session_dir_ = environment("CAUSEWAY_SESSION_DIR");
  job_id_ = std::string(self_.nspace).substr(0, 63);
  const std::string directory = session_dir_.substr(session_dir_.rfind('/') + 1);
  // A relay's directory has the number of its host behind the job's name.
  own_launcher_ = !directory.empty() && directory.substr(0, directory.find('.')) == job_id_;
  if (!own_launcher_) session_dir_.clear();
  for (char& c : job_id_) {
    if (c <= ' ' || c > '~' || c == '/') c = '_';
  }
  find_ranks();
  find_local_ranks();
  find_host();
  state_ = std::make_shared<JobState>(size());
  listen_for_deaths();
}

PmixBootstrap::~PmixBootstrap() {
  state_->stop();
  const std::lock_guard lock(listener().mutex);
  listener().state.reset();
}

// PMIx_Init has no time limit, and a server may be stopped.
void PmixBootstrap::join(uint64_t timeout_ns) {
  struct Joined {
    pmix_status_t status;
    pmix_proc_t self;
  };
  const StandInDirectory directory;
  const auto got = within(limit_of(timeout_ns), [] {
    Joined joined{};
    joined.status = PMIx_Init(&joined.self, nullptr, 0);
    return joined;
  });
  const std::string where =
      fmt::format("the launcher's PMIx server (PMIX_NAMESPACE={})", environment("PMIX_NAMESPACE"));
  if (!got)
    throw Error(CWY_ERR_UNREACHABLE, "{} did not answer within {:.1f} s; is it stopped?", where,
                static_cast<double>(timeout_ns) * 1e-9);
  if (got->status != PMIX_SUCCESS)
    throw Error(CWY_ERR_UNREACHABLE,
                "cannot reach {}: {}; it has ended or was started for another process: start the "
                "program with `causeway run`, or unset the PMIX_ variables to run one rank alone",
                where, PMIx_Error_string(got->status));
  self_ = got->self;
  joined_ = true;
  send_to_server_promptly();
}

void PmixBootstrap::find_ranks() {
  pmix_proc_t job = self_;
  job.rank = PMIX_RANK_WILDCARD;
  pmix_value_t* value = nullptr;
  const pmix_status_t status = PMIx_Get(&job, PMIX_JOB_SIZE, nullptr, 0, &value);
  uint32_t size = 0;
  if (status == PMIX_SUCCESS && value->type == PMIX_UINT32) size = value->data.uint32;
  if (value != nullptr) PMIX_VALUE_RELEASE(value);
  if (size == 0 || self_.rank >= size)
    throw Error(CWY_ERR_UNREACHABLE,
                "the launcher's PMIx server does not say how many ranks the job has ({})",
                PMIx_Error_string(status));
  size_ = size;
  rank_ = self_.rank;
  if (!own_launcher_) return;
  const std::string said = environment(kJobVariable);
  const std::optional<uint32_t> ranks = number_of_job(said, "ranks");
  if (ranks && *ranks > 0 && *ranks <= size) size_ = *ranks;
  spares_in_job_ = size_ < size;
  survives_ = said.find("on_failure=continue") != std::string::npos;
  spare_ = self_.rank >= size_;
  if (spare_) rank_ = size_;
}

// A text that the launcher says without being asked again: a foreign server that does not know the
// key is not made to look for it.
std::optional<std::string> PmixBootstrap::text_of_job(const char* key, bool of_self) {
  pmix_proc_t proc = self_;
  if (!of_self) proc.rank = PMIX_RANK_WILDCARD;
  pmix_info_t optional;
  const bool yes = true;
  PMIX_INFO_LOAD(&optional, PMIX_OPTIONAL, &yes, PMIX_BOOL);
  pmix_value_t* value = nullptr;
  std::optional<std::string> text;
  if (PMIx_Get(&proc, key, &optional, 1, &value) == PMIX_SUCCESS && value != nullptr) {
    if (value->type == PMIX_STRING && value->data.string != nullptr) text = value->data.string;
    if (value->type == PMIX_UINT32) text = std::to_string(value->data.uint32);
  }
  if (value != nullptr) PMIX_VALUE_RELEASE(value);
  PMIX_INFO_DESTRUCT(&optional);
  return text;
}

void PmixBootstrap::find_host() {
  host_id_ = text_of_job(PMIX_NODEID, true).value_or("");
  const std::string job = environment(kJobVariable);
  if (own_launcher_) hosts_ = number_of_job(job, "hosts").value_or(1);
  // One host keeps the system's name: so do rules of configurations that were written for it.
  if (hosts_ > 1) host_name_ = text_of_job(PMIX_HOSTNAME, true).value_or("");
}

// PMIX_LOCAL_PEERS is a comma-delimited list of PMIx ranks. A launcher that does not give it leaves
// this rank alone in the list; the cards tell the rest later.
void PmixBootstrap::find_local_ranks() {
  pmix_proc_t job = self_;
  job.rank = PMIX_RANK_WILDCARD;
  pmix_value_t* value = nullptr;
  std::string text;
  if (PMIx_Get(&job, PMIX_LOCAL_PEERS, nullptr, 0, &value) == PMIX_SUCCESS && value != nullptr &&
      value->type == PMIX_STRING && value->data.string != nullptr) {
    text = value->data.string;
  }
  if (value != nullptr) PMIX_VALUE_RELEASE(value);
  std::set<uint32_t> ranks{rank_};
  for (std::stringstream in(text); in;) {
    std::string item;
    std::getline(in, item, ',');
    const auto rank = static_cast<pmix_rank_t>(std::strtoul(item.c_str(), nullptr, 10));
    if (!item.empty() && rank < size_) ranks.insert(rank);
  }
  local_ranks_.assign(ranks.begin(), ranks.end());
}

void PmixBootstrap::listen_for_deaths() {
  {
    Listener& who = listener();
    const std::lock_guard lock(who.mutex);
    who.state = state_;
    who.self = self_;
    who.ranks.clear();
    for (pmix_rank_t rank = 0; rank < size_; ++rank) who.ranks.push_back(rank);
    who.processes = spares_in_job_ || spare_
                        ? size_ + number_of_job(environment(kJobVariable), "spares").value_or(0)
                        : size_;
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

pmix_proc_t PmixBootstrap::proc_of(uint32_t rank) const {
  pmix_proc_t proc = self_;
  const std::lock_guard lock(listener().mutex);
  proc.rank = listener().ranks[rank];
  return proc;
}

// The processes that take part in a fence: the ranks. PMIx's wildcard for the whole namespace would
// include spares.
std::vector<pmix_proc_t> PmixBootstrap::members() const {
  std::vector<pmix_proc_t> procs;
  if (!spares_in_job_) {
    procs.push_back(self_);
    procs.back().rank = PMIX_RANK_WILDCARD;
    return procs;
  }
  for (uint32_t rank = 0; rank < size_; ++rank) procs.push_back(proc_of(rank));
  return procs;
}

std::optional<std::string> PmixBootstrap::get_card(uint32_t rank, const std::string& key) {
  const pmix_proc_t proc = proc_of(rank);
  // After a fence the local server has every card, so this get does not wait.
  pmix_info_t now;
  const bool yes = true;
  PMIX_INFO_LOAD(&now, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
  pmix_value_t* value = nullptr;
  std::optional<std::string> card;
  if (PMIx_Get(&proc, key.c_str(), &now, 1, &value) == PMIX_SUCCESS && value != nullptr) {
    if (value->type == PMIX_BYTE_OBJECT) card.emplace(value->data.bo.bytes, value->data.bo.size);
    PMIX_VALUE_RELEASE(value);
  }
  PMIX_INFO_DESTRUCT(&now);
  return card;
}

void PmixBootstrap::publish(const std::string& key, std::string content) {
  pmix_value_t value;
  PMIX_VALUE_CONSTRUCT(&value);
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = content.data();
  value.data.bo.size = content.size();
  pmix_status_t status = PMIx_Put(PMIX_GLOBAL, key.c_str(), &value);
  if (status == PMIX_SUCCESS) status = PMIx_Commit();
  if (status != PMIX_SUCCESS)
    throw Error(CWY_ERR_UNREACHABLE, "cannot publish this rank's card: {}",
                PMIx_Error_string(status));
}

std::string PmixBootstrap::fetch(uint32_t rank, const std::string& key) {
  std::optional<std::string> content = get_card(rank, key);
  if (content) return std::move(*content);
  const std::string death = state_->first_death();
  throw Error(CWY_ERR_PEER_FAILED, "rank {} left the job before it was wired up{}{}", rank,
              death.empty() ? "" : ": ", death);
}

std::vector<std::string> PmixBootstrap::exchange(const std::string& card, uint64_t timeout_ns) {
  if (epoch_ > 1) return gather_cards(card, timeout_ns);
  const auto begin = std::chrono::steady_clock::now();
  const std::string key = fmt::format("causeway.card.{}", exchanges_);
  const std::string table_key = fmt::format("causeway.table.{}", exchanges_++);
  // PMIx does not carry empty objects, so a byte goes ahead.
  publish(key, "c" + card);
  fence_collecting(true, timeout_ns, key);
  std::vector<std::string> cards(size());
  if (size() <= kFetchEach || rank_ == 0) {
    for (uint32_t rank = 0; rank < size(); ++rank)
      cards[rank] = rank == rank_ ? card : fetch(rank, key).substr(1);
  }
  if (size() <= kFetchEach) return cards;
  // Every get is a round trip through one server thread: ranks squared of them take seconds from
  // a hundred ranks on. So rank 0 collects, and the others get the table from it.
  if (rank_ == 0) publish(table_key, pack_table(cards));
  const auto spent = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  const uint64_t used = std::min(timeout_ns, static_cast<uint64_t>(spent));
  fence_collecting(true, timeout_ns - used, key);
  return rank_ == 0 ? cards : unpack_table(fetch(0, table_key), size());
}

// The answer is waited for, so that a rank that fails later fails after the launcher knows. PMIx
// servers pass events of this range on to the launcher, and keep those of the launcher's own range.
void PmixBootstrap::started() {
  if (!survives_ || epoch_ > 1) return;
  const pmix_status_t status =
      PMIx_Notify_event(kStartedEvent, &self_, PMIX_RANGE_GLOBAL, nullptr, 0, nullptr, nullptr);
  if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
    throw Error(CWY_ERR_UNREACHABLE, "cannot reach the launcher's PMIx server: {}",
                PMIx_Error_string(status));
}

// With a time limit a server of another host is asked too, and both servers wait for as long as
// that until the rank has published the key. Without one the answer is what is there now. `then`
// runs in PMIx's thread, or here when PMIx refuses the question.
void PmixBootstrap::ask(uint32_t rank, const std::string& key, uint64_t timeout_ns, Answer then) {
  // PMIx copies nothing of the question, and reads it until it answers.
  struct Question {
    Answer then;
    std::string key;
    pmix_proc_t proc;
    pmix_info_t how;
  };
  // Kept by the callback, which may come after everybody has given up.
  auto question = std::make_unique<Question>(Question{std::move(then), key, proc_of(rank), {}});
  const int seconds = static_cast<int>(std::min<uint64_t>(timeout_ns / 1'000'000'000 + 1, 1 << 20));
  const bool yes = true;
  if (timeout_ns == 0) {
    PMIX_INFO_LOAD(&question->how, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
  } else {
    PMIX_INFO_LOAD(&question->how, PMIX_TIMEOUT, &seconds, PMIX_INT);
  }
  const auto done = [](pmix_status_t status, pmix_value_t* value, void* context) {
    const std::unique_ptr<Question> mine(static_cast<Question*>(context));
    std::optional<std::string> content;
    if (status == PMIX_SUCCESS && value != nullptr && value->type == PMIX_BYTE_OBJECT &&
        value->data.bo.size > 0)
      content.emplace(value->data.bo.bytes + 1, value->data.bo.size - 1);
    mine->then(std::move(content));
  };
  if (PMIx_Get_nb(&question->proc, question->key.c_str(), &question->how, 1, done,
                  question.get()) == PMIX_SUCCESS) {
    static_cast<void>(question.release());  // the callback owns it now
  } else {
    question->then(std::nullopt);
  }
}

std::future<std::optional<std::string>> PmixBootstrap::ask_card(uint32_t rank,
                                                                const std::string& key,
                                                                uint64_t timeout_ns) {
  auto promise = std::make_shared<std::promise<std::optional<std::string>>>();
  ask(rank, key, timeout_ns,
      [promise](std::optional<std::string> card) { promise->set_value(std::move(card)); });
  return promise->get_future();
}

std::string PmixBootstrap::card_of(uint32_t rank, uint64_t timeout_ns) {
  const auto until = std::chrono::steady_clock::now() + limit_of(timeout_ns);
  std::future<std::optional<std::string>> future = ask_card(rank, kFirstCard, timeout_ns);
  const std::chrono::milliseconds kLook(20);  // between looks at who lives
  while (future.wait_for(kLook) != std::future_status::ready) {
    if (state_->is_dead(rank)) throw Error(CWY_ERR_PEER_FAILED, "{}", state_->death_of(rank));
    if (std::chrono::steady_clock::now() > until)
      throw Error(CWY_ERR_TIMEOUT, "rank {} has not joined within {:.1f} s", rank,
                  static_cast<double>(timeout_ns) * 1e-9);
  }
  std::optional<std::string> card = future.get();
  if (!card)
    throw Error(CWY_ERR_PEER_FAILED, "rank {} has no card: {}", rank,
                state_->is_dead(rank) ? state_->death_of(rank) : "it left before it had one");
  return std::move(*card);
}

// In a replacement: nobody waits for it, and it waits for no collective call of the others.
std::vector<std::string> PmixBootstrap::gather_cards(const std::string& card, uint64_t timeout_ns) {
  publish(fmt::format("causeway.card.{}", exchanges_++), "c" + card);
  std::vector<std::string> cards(size());
  for (uint32_t rank = 0; rank < size(); ++rank) {
    if (rank == rank_) {
      cards[rank] = card;
    } else if (state_->is_dead(rank)) {
      cards[rank] = get_card(rank, kFirstCard).value_or("c").substr(1);
    } else {
      try {
        cards[rank] = card_of(rank, timeout_ns);
      } catch (const Error& e) {
        if (e.status() != CWY_ERR_PEER_FAILED) throw;
      }
    }
  }
  return cards;
}

std::optional<Bootstrap::Place> PmixBootstrap::wait_for_place(uint64_t timeout_ns) {
  const auto place = state_->wait_for_place(limit_of(timeout_ns));
  if (!place) return std::nullopt;
  rank_ = place->first;
  epoch_ = place->second;
  spare_ = false;
  if (std::find(local_ranks_.begin(), local_ranks_.end(), rank_) == local_ranks_.end())
    local_ranks_.push_back(rank_);
  local_ranks_.erase(std::remove(local_ranks_.begin(), local_ranks_.end(), size_),
                     local_ranks_.end());
  std::sort(local_ranks_.begin(), local_ranks_.end());
  return Place{rank_, epoch_};
}

void PmixBootstrap::on_replacement(std::function<void(uint32_t, uint32_t)> callback) {
  state_->set_replacement_callback(std::move(callback));
}

void PmixBootstrap::fence(uint64_t timeout_ns) {
  fence_collecting(false, timeout_ns, "");
}

void PmixBootstrap::fence_collecting(bool collect, uint64_t timeout_ns, const std::string& key) {
  auto context = std::make_shared<FenceContext>();
  context->state = state_;
  const std::vector<pmix_proc_t> everybody = members();
  pmix_info_t info;
  PMIX_INFO_LOAD(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
  auto handle = std::make_unique<std::shared_ptr<FenceContext>>(context);
  const pmix_status_t posted =
      PMIx_Fence_nb(everybody.data(), everybody.size(), &info, 1, &fence_done, handle.get());
  if (posted != PMIX_SUCCESS) {
    PMIX_INFO_DESTRUCT(&info);
    throw Error(CWY_ERR_UNREACHABLE, "cannot reach the launcher's PMIx server: {}",
                PMIx_Error_string(posted));
  }
  static_cast<void>(handle.release());  // fence_done owns it now
  const JobState::Outcome outcome = state_->wait_for(context->wait, limit_of(timeout_ns));
  PMIX_INFO_DESTRUCT(&info);
  if (outcome == JobState::Outcome::timeout)
    throw Error(CWY_ERR_TIMEOUT, "not every rank joined within {:.1f} s{}",
                static_cast<double>(timeout_ns) * 1e-9, key.empty() ? "" : missing_ranks(key));
  const bool failed = outcome == JobState::Outcome::done && *context->wait.result != PMIX_SUCCESS;
  // The server ends a fence as soon as a participant's socket closes; who it was and how it ended
  // is known when the launcher has reaped it.
  if (outcome == JobState::Outcome::death ||
      (failed && state_->wait_for_death(std::min(limit_of(timeout_ns), kNamesFollow))))
    throw Error(CWY_ERR_PEER_FAILED, "{}", state_->first_death());
  if (failed)
    throw Error(CWY_ERR_PEER_FAILED, "a rank left the job while others waited for it: {}",
                PMIx_Error_string(*context->wait.result));
}

// ": missing are ranks 2,3", as far as the servers know. This host's server knows nothing of other
// hosts' ranks before the fence, so the servers of those are asked, all at once.
std::string PmixBootstrap::missing_ranks(const std::string& key) {
  constexpr uint64_t kAskFor = 1'000'000'000;
  std::map<uint32_t, std::future<std::optional<std::string>>> asked;
  std::set<uint32_t> missing;
  for (uint32_t rank = 0; rank < size(); ++rank) {
    if (rank == rank_ || get_card(rank, key)) continue;
    missing.insert(rank);
    if (!std::binary_search(local_ranks_.begin(), local_ranks_.end(), rank))
      asked[rank] = ask_card(rank, key, kAskFor);
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(kAskFor);
  for (auto& [rank, future] : asked) {
    if (future.wait_until(until) == std::future_status::ready && future.get()) missing.erase(rank);
  }
  if (missing.empty()) return "";
  return fmt::format(": missing are ranks {}", fmt::join(missing, ","));
}

void PmixBootstrap::on_death(std::function<void(uint32_t, const std::string&)> callback) {
  state_->set_callback(std::move(callback));
}

void PmixBootstrap::on_departure(std::function<void(uint32_t)> callback) {
  state_->set_departure_callback(std::move(callback));
}

void PmixBootstrap::on_all_leave(std::function<void()> callback) {
  state_->set_all_leave_callback(std::move(callback));
}

void PmixBootstrap::abort(int status, const std::string& line) {
  if (joined_) PMIx_Abort(status, line.c_str(), nullptr, 0);
}

std::future<std::optional<Bootstrap::Goodbye>> PmixBootstrap::goodbye_of(uint32_t rank) {
  auto promise = std::make_shared<std::promise<std::optional<Goodbye>>>();
  // A server may miss the goodbye of a local rank while a question waits there for it, if the rank
  // had published other keys before. So a local rank's goodbye is asked for without waiting, and
  // the caller asks again.
  const bool local = std::binary_search(local_ranks_.begin(), local_ranks_.end(), rank);
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
  // PMIx does not carry empty objects, so a byte goes ahead.
  const std::string said = "c" + (code ? std::to_string(*code) : std::string());
  // The library waits without end where the program has closed its socket, or the server is
  // stopped.
  const auto failure = within(kFinalizeWithin, [said] {
    std::string problem;
    try {
      publish(kGoodbye, said);
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
