#include "bootstrap/pmix_bootstrap.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/quiet_thread.h"
#include "bootstrap/stand_in_directory.h"
#include "spawn/job_id.h"
#include "spawn/job_words.h"
#include "spawn/limits.h"
#include "spawn/prompt_sockets.h"

namespace causeway {
namespace {

// Waits are cut to this, so that a caller's "no limit" does not overflow a deadline.
constexpr uint64_t kLongestWait = 1000ull * 3600 * 1000 * 1000 * 1000;

// How long the name of a dead rank may take after its fence has failed. Longer than our launcher
// watches a rank that exited with status 0 and no goodbye.
constexpr std::chrono::nanoseconds kNamesFollow = std::chrono::milliseconds(1500);

constexpr const char* kFirstCard = "causeway.card.0";

// Up to so many ranks, every rank gets every card itself: one fence instead of two.
constexpr uint32_t kFetchEach = 6;

std::chrono::nanoseconds limit_of(uint64_t timeout_ns) {
  return std::chrono::nanoseconds(std::min(timeout_ns, kLongestWait));
}

std::string environment(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? "" : value;
}

struct Release {
  void operator()(pmix_value_t* value) const { PMIX_VALUE_RELEASE(value); }
};
using Value = std::unique_ptr<pmix_value_t, Release>;

// What `proc` has under a key, or why not. `how`: PMIX_OPTIONAL, PMIX_IMMEDIATE, or nullptr.
std::pair<Value, pmix_status_t> ask_now(const pmix_proc_t& proc, const char* key, const char* how) {
  pmix_info_t info;
  const bool yes = true;
  if (how != nullptr) PMIX_INFO_LOAD(&info, how, &yes, PMIX_BOOL);
  pmix_value_t* value = nullptr;
  const pmix_status_t status =
      PMIx_Get(&proc, key, how == nullptr ? nullptr : &info, how == nullptr ? 0 : 1, &value);
  if (how != nullptr) PMIX_INFO_DESTRUCT(&info);
  Value answer(value);
  if (status != PMIX_SUCCESS) answer.reset();
  return {std::move(answer), status};
}

std::optional<std::string> bytes_in(const Value& value) {
  if (!value || value->type != PMIX_BYTE_OBJECT) return std::nullopt;
  return std::string(value->data.bo.bytes, value->data.bo.size);
}

std::string text_in(const Value& value) {
  if (value && value->type == PMIX_STRING && value->data.string != nullptr)
    return value->data.string;
  return value && value->type == PMIX_UINT32 ? std::to_string(value->data.uint32) : "";
}

// Asks for what the server has said already: a foreign one is not made to look for the key.
std::string said_of(const pmix_proc_t& proc, const char* key) {
  return text_in(ask_now(proc, key, PMIX_OPTIONAL).first);
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

// A rank of our launcher is one program in one process, once, as a link in the session's directory
// (containers may not see it) says: words of a second one would pass for the first one's.
void take_place(const std::string& directory, const std::string& process) {
  static std::atomic<pid_t> taker{0};  // relaxed: starts are one after the other
  const std::string link = directory + "/process-" + process, self = std::to_string(::getpid());
  if (taker.exchange(::getpid(), std::memory_order_relaxed) == ::getpid()) return;
  if (::symlink(self.c_str(), link.c_str()) == 0 || errno != EEXIST) return;
  std::error_code unreadable;
  throw Error(CWY_ERR_INVALID,
              "process {} is, or was, rank {} of this job; a rank is one program in one process, "
              "once: start a job for each program",
              std::filesystem::read_symlink(link, unreadable).string(), process);
}

}  // namespace

PmixBootstrap::PmixBootstrap(uint64_t timeout_ns) {
  session_dir_ = environment("CAUSEWAY_SESSION_DIR");
  job_id_ = environment("PMIX_NAMESPACE");
  const std::string directory = session_dir_.substr(session_dir_.rfind('/') + 1);
  // A relay's directory has the number of its host behind the job's name, PMIx's name a secret.
  const std::string own = job_id_.substr(0, job_id_.find('.'));
  if (own.empty() || directory.substr(0, directory.find('.')) != own) session_dir_.clear();
  if (!session_dir_.empty()) take_place(session_dir_, environment("PMIX_RANK"));
  join(timeout_ns);
  find_job();
  if (!own_launcher_) session_dir_.clear();
  job_id_ = own_launcher_ ? own : job_id_.substr(0, 63);
  for (char& c : job_id_)
    if (c <= ' ' || c > '~' || c == '/') c = '_';
  find_local_ranks();
  state_ = std::make_shared<JobState>(size());
  listen_for_deaths();
}

PmixBootstrap::~PmixBootstrap() {
  state_->stop();
  stop_listening();
}

// PMIx_Init has no time limit, and a server may be stopped.
void PmixBootstrap::join(uint64_t timeout_ns) {
  struct Joined {
    pmix_status_t status;
    pmix_proc_t self;
  };
  demand_affinity();
  const StandInDirectory directory;
  const auto got = within(limit_of(timeout_ns), [] {
    Joined joined{};
    joined.status = PMIx_Init(&joined.self, nullptr, 0);
    return joined;
  });
  const std::string where =
      fmt::format("the launcher's PMIx server (PMIX_NAMESPACE={})", environment("PMIX_NAMESPACE"));
  if (!got)
    throw Error(CWY_ERR_UNREACHABLE,
                "{} did not answer within {:g} s (timeouts.start); is it stopped?", where,
                static_cast<double>(timeout_ns) * 1e-9);
  if (got->status != PMIX_SUCCESS)
    throw Error(CWY_ERR_UNREACHABLE, "cannot reach {}: {}; {}", where,
                PMIx_Error_string(got->status),
                got->status == PMIX_ERR_NOT_SUPPORTED
                    ? "PMIx's hwloc finds no processors here: set HWLOC_SYNTHETIC=pu:1"
                    : "it has ended or was started for another process: start the program with "
                      "`causeway run`, or unset the PMIX_ variables to run one rank alone");
  self_ = got->self;
  joined_ = true;
  send_to_server_promptly();
}

pmix_proc_t PmixBootstrap::whole_job() const {
  pmix_proc_t job = self_;
  job.rank = PMIX_RANK_WILDCARD;
  return job;
}

void PmixBootstrap::find_job() {
  const auto [value, status] = ask_now(whole_job(), PMIX_JOB_SIZE, nullptr);
  const uint32_t size = value && value->type == PMIX_UINT32 ? value->data.uint32 : 0;
  if (size == 0 || self_.rank >= size)
    throw Error(CWY_ERR_UNREACHABLE,
                "the launcher's PMIx server does not say how many ranks the job has ({})",
                PMIx_Error_string(status));
  size_ = processes_ = size;
  rank_ = self_.rank;
  // By what the server says: every rank finds the same, whatever its environment is.
  const std::string said = said_of(whole_job(), kLayoutKey);
  own_launcher_ = !said.empty();
  host_id_ = own_launcher_ ? said_of(whole_job(), kHostKey) : said_of(self_, PMIX_NODEID);
  if (!own_launcher_) return;
  const std::optional<uint32_t> ranks = number_of_job(said, "ranks");
  if (ranks && *ranks > 0 && *ranks <= size) size_ = *ranks;
  survives_ = said.find("on_failure=continue") != std::string::npos;
  hosts_ = number_of_job(said, "hosts").value_or(1);
  // In a job of a single host the system's name stays, which rules were written for.
  if (hosts_ > 1) host_name_ = said_of(whole_job(), kHostNameKey);
  spare_ = self_.rank >= size_;
  if (spare_) rank_ = size_;
}

// PMIX_LOCAL_PEERS is a comma-delimited list of PMIx ranks. A launcher that does not give it leaves
// this rank alone in the list; the cards tell the rest later.
void PmixBootstrap::find_local_ranks() {
  std::istringstream in(text_in(ask_now(whole_job(), PMIX_LOCAL_PEERS, nullptr).first));
  std::set<uint32_t> ranks{rank_};
  for (std::string item; std::getline(in, item, ',');) {
    const auto rank = static_cast<pmix_rank_t>(std::strtoul(item.c_str(), nullptr, 10));
    if (!item.empty() && rank < size_) ranks.insert(rank);
  }
  local_ranks_.assign(ranks.begin(), ranks.end());
}

// The members of a fence: the ranks. PMIx's wildcard for the whole namespace includes spares.
std::vector<pmix_proc_t> PmixBootstrap::members(Among among) const {
  std::vector<pmix_proc_t> procs;
  for (uint32_t rank = 0; rank < size_; ++rank)
    if (among == Among::all || rank == rank_ || !state_->is_dead(rank))
      procs.push_back(proc_of(rank));
  if (procs.size() == processes_) return {whole_job()};
  return procs;
}

std::optional<std::string> PmixBootstrap::get_card(uint32_t rank, const std::string& key) {
  // After a fence the local server has every card, so this does not wait.
  return bytes_in(ask_now(proc_of(rank), key.c_str(), PMIX_IMMEDIATE).first);
}

void PmixBootstrap::publish(const Texts& texts) {
  pmix_status_t status = PMIX_SUCCESS;
  for (const auto& [key, text] : texts) {
    std::string content = "c" + text;  // PMIx does not carry empty objects, so a byte goes ahead
    pmix_value_t value;
    PMIX_VALUE_CONSTRUCT(&value);
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = content.data();
    value.data.bo.size = content.size();
    status = PMIx_Put(PMIX_GLOBAL, key.c_str(), &value);
    if (status != PMIX_SUCCESS) break;
  }
  if (status == PMIX_SUCCESS) status = PMIx_Commit();
  if (status != PMIX_SUCCESS)
    throw Error(CWY_ERR_UNREACHABLE, "cannot publish this rank's card: {}",
                PMIx_Error_string(status));
}

std::string PmixBootstrap::fetch(uint32_t rank, const std::string& key, uint64_t timeout_ns) {
  if (const auto content = get_card(rank, key)) return content->substr(1);
  // PRRTE 3.0 does not keep what a fence collects on other hosts; it asks their servers.
  if (!own_launcher_) return await(rank, key, timeout_ns);
  const std::string death = state_->first_death();
  throw Error(CWY_ERR_PEER_FAILED, "rank {} left the job before it was wired up{}{}", rank,
              death.empty() ? "" : ": ", death);
}

std::string PmixBootstrap::job_key(uint64_t timeout_ns) {
  // Our launcher has made one; another one is not asked for what it does not know.
  if (auto key = bytes_in(ask_now(whole_job(), kJobKey, PMIX_OPTIONAL).first)) return *key;
  publish({{kJobKey, rank_ == 0 ? new_secret() : ""}});
  fence_collecting(true, timeout_ns, kJobKey);
  return fetch(0, kJobKey, timeout_ns);
}

// Every get is a round trip through one server thread, and PMIx keeps what it got. So one rank
// collects and hands out one table: of each host, as a file of the session, where the server is
// ours; else rank 0, by publishing it, as is done where no file can be.
CardTable PmixBootstrap::exchange(const std::string& card, uint64_t timeout_ns) {
  if (epoch_ > 1) return gather_cards(card, timeout_ns);
  const auto begin = std::chrono::steady_clock::now();
  const std::string key = fmt::format("causeway.card.{}", exchanges_++);
  publish({{key, card}});
  fence_collecting(true, timeout_ns, key);
  const auto fetch_each = [&] {
    std::vector<std::string> cards(size());
    for (uint32_t rank = 0; rank < size(); ++rank)
      cards[rank] = rank == rank_ ? card : fetch(rank, key, timeout_ns);
    return CardTable(cards);
  };
  if (size() <= kFetchEach) return fetch_each();
  const uint32_t collector = own_launcher_ ? local_ranks_.front() : 0;
  const std::string table_key = key + ".all";
  const std::string file = session_dir_.empty() ? "" : session_dir_ + '/' + table_key;
  CardTable table;
  if (rank_ == collector) {
    table = fetch_each();
    if (!table.keep(file)) publish({{table_key, std::string(table.text())}});
  }
  const auto spent = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  const uint64_t left = timeout_ns - std::min(timeout_ns, static_cast<uint64_t>(spent));
  fence_collecting(!own_launcher_, left, key);
  if (auto shared = CardTable::map(file, size())) return *shared;
  if (rank_ == collector) return table;
  if (!own_launcher_) return CardTable(fetch(collector, table_key, left), size());
  const auto published = get_card(collector, table_key);
  return published ? CardTable(published->substr(1), size()) : fetch_each();
}

// The answer is waited for, so that a rank that fails later fails after the launcher knows. PMIx
// servers pass events of this range on to the launcher, and keep those of the launcher's own range.
void PmixBootstrap::started() {
  if (!survives_) return;
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
  if (timeout_ns == 0)
    PMIX_INFO_LOAD(&question->how, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
  else
    PMIX_INFO_LOAD(&question->how, PMIX_TIMEOUT, &seconds, PMIX_INT);
  const auto done = [](pmix_status_t status, pmix_value_t* value, void* context) {
    const std::unique_ptr<Question> mine(static_cast<Question*>(context));
    std::optional<std::string> content;
    if (status == PMIX_SUCCESS && value != nullptr && value->type == PMIX_BYTE_OBJECT &&
        value->data.bo.size > 0)
      content.emplace(value->data.bo.bytes + 1, value->data.bo.size - 1);
    mine->then(std::move(content));
  };
  if (PMIx_Get_nb(&question->proc, question->key.c_str(), &question->how, 1, done,
                  question.get()) == PMIX_SUCCESS)
    static_cast<void>(question.release());  // the callback owns it now
  else
    question->then(std::nullopt);
}

std::future<std::optional<std::string>> PmixBootstrap::ask_card(uint32_t rank,
                                                                const std::string& key,
                                                                uint64_t timeout_ns) {
  auto promise = std::make_shared<std::promise<std::optional<std::string>>>();
  ask(rank, key, timeout_ns,
      [promise](std::optional<std::string> card) { promise->set_value(std::move(card)); });
  return promise->get_future();
}

std::future<std::optional<std::string>> PmixBootstrap::told(uint32_t rank, const std::string& key,
                                                            uint64_t timeout_ns) {
  if (state_->is_dead(rank)) throw Error(CWY_ERR_PEER_FAILED, "{}", state_->death_of(rank));
  return ask_card(rank, key, timeout_ns);
}

std::string PmixBootstrap::card_of(uint32_t rank, uint64_t timeout_ns) {
  return await(rank, kFirstCard, timeout_ns);
}

std::string PmixBootstrap::await(uint32_t rank, const std::string& key, uint64_t timeout_ns) {
  const auto until = std::chrono::steady_clock::now() + limit_of(timeout_ns);
  std::future<std::optional<std::string>> future = ask_card(rank, key, timeout_ns);
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
CardTable PmixBootstrap::gather_cards(const std::string& card, uint64_t timeout_ns) {
  publish({{fmt::format("causeway.card.{}", exchanges_++), card}});
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
  return CardTable(cards);
}

std::optional<Bootstrap::Place> PmixBootstrap::wait_for_place(uint64_t timeout_ns) {
  const auto place = state_->wait_for_place(limit_of(timeout_ns));
  if (!place) return std::nullopt;
  rank_ = place->first;
  epoch_ = place->second;
  spare_ = false;
  if (std::ranges::find(local_ranks_, rank_) == local_ranks_.end()) local_ranks_.push_back(rank_);
  std::erase(local_ranks_, size_);
  std::ranges::sort(local_ranks_);
  return Place{rank_, epoch_};
}

void PmixBootstrap::fence(uint64_t timeout_ns, Among among) {
  if (among == Among::all) return fence_collecting(false, timeout_ns, "");
  for (const uint64_t began = now_ns();;) {
    const uint64_t known = state_->changes(), passed = now_ns() - began;
    try {
      return fence_collecting(false, timeout_ns - std::min(passed, timeout_ns), "", known);
    } catch (const Error& e) {
      if (e.status() != CWY_ERR_PEER_FAILED || state_->changes() == known) throw;
    }
  }
}

// `done` is called in PMIx's thread, unless the fence cannot be posted.
pmix_status_t PmixBootstrap::post_fence(bool collect, Among among,
                                        std::function<void(pmix_status_t)> done) const {
  struct Fence {
    std::vector<pmix_proc_t> members;
    std::function<void(pmix_status_t)> done;
    pmix_info_t how;
  };
  auto fence = std::make_unique<Fence>(Fence{members(among), std::move(done), {}});
  PMIX_INFO_LOAD(&fence->how, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
  const auto ended = [](pmix_status_t status, void* context) {
    const std::unique_ptr<Fence> mine(static_cast<Fence*>(context));
    mine->done(status);
  };
  const pmix_status_t status = PMIx_Fence_nb(fence->members.data(), fence->members.size(),
                                             &fence->how, 1, ended, fence.get());
  if (status == PMIX_SUCCESS) static_cast<void>(fence.release());  // the callback owns it now
  return status;
}

void PmixBootstrap::fence_collecting(bool collect, uint64_t timeout_ns, const std::string& key,
                                     JobState::Known known) {
  const auto wait = std::make_shared<JobState::Wait>();
  const pmix_status_t posted =
      post_fence(collect, known ? Among::living : Among::all,
                 [state = state_, wait](pmix_status_t status) { state->complete(*wait, status); });
  if (posted != PMIX_SUCCESS)
    throw Error(CWY_ERR_UNREACHABLE, "cannot reach the launcher's PMIx server: {}",
                PMIx_Error_string(posted));
  const JobState::Outcome outcome = state_->wait_for(*wait, limit_of(timeout_ns), known);
  if (outcome == JobState::Outcome::timeout)
    throw Error(CWY_ERR_TIMEOUT, "not every rank joined within {:g} s (timeouts.start){}",
                static_cast<double>(timeout_ns) * 1e-9, key.empty() ? "" : missing_ranks(key));
  const bool failed = outcome == JobState::Outcome::done && *wait->result != PMIX_SUCCESS;
  // The server ends a fence as soon as a participant's socket closes; who it was and how it ended
  // is known when the launcher has reaped it.
  if (outcome == JobState::Outcome::death ||
      (failed && state_->wait_for_death(std::min(limit_of(timeout_ns), kNamesFollow), known)))
    throw Error(CWY_ERR_PEER_FAILED, "{}", state_->first_death());
  if (failed)
    throw Error(CWY_ERR_PEER_FAILED, "a rank left the job while others waited for it: {}",
                PMIx_Error_string(*wait->result));
}

// ": missing ranks 2,3", as far as the servers know. This host's server knows nothing of other
// hosts' ranks before the fence, so the servers of those are asked, all at once.
std::string PmixBootstrap::missing_ranks(const std::string& key) {
  constexpr uint64_t kAskFor = 1'000'000'000;
  std::map<uint32_t, std::future<std::optional<std::string>>> asked;
  std::set<uint32_t> missing;
  for (uint32_t rank = 0; rank < size(); ++rank) {
    if (rank == rank_ || get_card(rank, key)) continue;
    missing.insert(rank);
    if (!std::ranges::binary_search(local_ranks_, rank)) asked[rank] = ask_card(rank, key, kAskFor);
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(kAskFor);
  for (auto& [rank, future] : asked)
    if (future.wait_until(until) == std::future_status::ready && future.get()) missing.erase(rank);
  if (missing.empty()) return "";
  return fmt::format(": missing rank{} {}", missing.size() > 1 ? "s" : "", fmt::join(missing, ","));
}

void PmixBootstrap::abort(int status, const std::string& line) {
  if (joined_) PMIx_Abort(status, line.c_str(), nullptr, 0);
}

}  // namespace causeway
