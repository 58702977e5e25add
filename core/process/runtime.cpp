#include "process/runtime.h"
#include "process/last_thread.h"
#include "process/report.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

#include "am/held.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fatal.h"
#include "base/log.h"
#include "base/warn_once.h"
#include "collective/inquiry.h"
#include "collective/table.h"
#include "config/identity.h"
#include "connection/device_state.h"
#include "loader/instance.h"
#include "loader/one_line.h"
#include "object/client.h"
#include "process/departed.h"
#include "process/exit.h"
#include "process/linger.h"
#include "process/status.h"
#include "process/stops.h"
#include "process/suspects.h"
#include "progress/poll.h"

namespace causeway {

Runtime* g_runtime = nullptr;

namespace {

LogLevel level_of(const std::string& word) {
  if (word == "error") return LogLevel::error;
  if (word == "info") return LogLevel::info;
  if (word == "debug") return LogLevel::debug;
  return LogLevel::warn;
}

// ---- services offered to plugins: conduit-api/README.md, "Services" ----

void service_log(const char* plugin, cwy_log_level level, const char* text) {
  log(static_cast<LogLevel>(level), "{}: {}", given(plugin, "a plugin"), given(text, ""));
}

Suspects& suspects() {
  static auto* const instance = new Suspects;  // conduits report to the very end
  return *instance;
}

// A conduit's connection broke, and it does not know yet what became of the peer. Where failures
// end the job the launcher says whose it was; here the polls look for the process.
void suspect(cwy_peer peer, std::string how) {
  if (!runtime().survives_failures()) return;
  const JobFacts& job = runtime().job();
  const uint32_t pid = job.pid_here(peer.rank);
  if (pid == 0 || job.epoch(peer.rank) != peer.epoch) return;
  suspects().add({peer.rank, peer.epoch, std::move(how)}, static_cast<pid_t>(pid));
  runtime().attention.store(true, std::memory_order_release);
}

// Every poll looks again until nobody is suspected: for the moment between the end of a process's
// connections and its own.
void look_at_suspects() {
  for (const Suspects::Suspect& gone : suspects().take_gone())
    runtime().note_loss(gone.rank, gone.epoch, gone.how);
  if (suspects().any()) runtime().attention.store(true, std::memory_order_relaxed);
}

void service_peer_state(void* core_ep, cwy_peer peer, cwy_peer_state state, const char* why) {
  if (g_runtime == nullptr) return;
  auto* cep = static_cast<ConduitEp*>(core_ep);
  const std::string& name = cep->conduit->name();
  if (peer.rank >= runtime().size())
    return warn_once("conduit {}: news of rank {}, which this job does not have", name, peer.rank);
  // A process that is not known yet is nobody's peer; its own end is no news to this one.
  if (peer.epoch > runtime().job().newest_epoch(peer.rank) || peer.rank == runtime().rank()) return;
  std::string how = fmt::format("conduit {}: {}{}", name, given(why, "no reason given"),
                                device_trouble(*cep->conduit));
  if (state == CWY_PEER_FAILED) return runtime().note_loss(peer.rank, peer.epoch, how);
  if (state == CWY_PEER_SUSPECT) suspect(peer, std::move(how));
}

void service_device_state(void* core_ep, const char* device, uint32_t state, const char* why) {
  if (g_runtime != nullptr)
    note_device_state(*static_cast<ConduitEp*>(core_ep)->conduit, device, state, why);
}

// The core's sleeps are bounded and end on a signal; a plugin's own thread that has news sends
// one to the process, whose handler does nothing.
void service_wake(void*) {
  ::kill(::getpid(), SIGURG);
}

void fill_services(cwy_services& services, const cwy_job* job) {
  services.head = CWY_HEAD(cwy_services);
  services.job = job;
  services.log = service_log;
  fill_option_services(services);
  fill_wrap_service(services);
  services.peer_state = service_peer_state;
  services.wake = service_wake;
  services.now = now_ns;
  services.device_state = service_device_state;
}

}  // namespace

Runtime::Runtime(ThreadMode mode, bool wait) : mode_(mode) {
  start_phase("configuration");
  own_config_ = load_config(ConfigSources::from_environment());
  config_ = &own_config_;
  set_log_level(level_of(own_config_.log_level));
  checks_ = own_config_.checks == Checks::full;
  direct_allowed_ = own_config_.direct_map == DirectMap::automatic && !checks_;
  everything_ = build_wishes.everything.load(std::memory_order_relaxed);
  multithreaded_ = mode == ThreadMode::par;
  start_phase("launcher");
  own_bootstrap_ = make_bootstrap(own_config_.timeouts.start_ns);
  bootstrap_ = own_bootstrap_.get();
  clients.reserve(Client::kMax);  // read without the lock: must stay where it is
  if ((wait || !bootstrap_->spare()) && !take_place(UINT64_MAX))
    throw Error(CWY_ERR_UNREACHABLE, "the launcher ended while this spare waited for a rank");
}

void start_runtime(ThreadMode mode, bool wait) {
  if (g_runtime != nullptr) return;
  std::atomic_ref(g_runtime).store(new Runtime(mode, wait), std::memory_order_release);
  g_context = g_runtime;
  g_checks = g_runtime->checks();
}

// A spare is nobody until a rank has failed; a job that ends without it ends it.
bool Runtime::take_place(uint64_t timeout_ns) {
  if (job_ != nullptr) return true;
  if (bootstrap_->spare() && !bootstrap_->wait_for_place(timeout_ns)) return false;
  set_log_identity(bootstrap_->rank(), bootstrap_->size());
  listen();
  own_job_ = std::make_unique<JobFacts>(*bootstrap_);
  job_ = own_job_.get();
  rank_ = job_->rank();
  size_ = job_->size();
  join_job();
  return true;
}

// The bootstrap tells of deaths and replacements in their order, from one thread.
void Runtime::listen() {
  bootstrap_->on_replacement([this](uint32_t rank, uint32_t epoch) {
    told_epochs_[rank] = epoch;
    note({rank, epoch, ""});
  });
  bootstrap_->on_departure(note_departed);
  bootstrap_->on_all_leave(end_lingering);
  bootstrap_->on_death([this](uint32_t rank, const std::string& how) {
    note_death(rank, told_epochs_.emplace(rank, 1).first->second, how);
  });
}

void Runtime::join_job() {
  start_phase("plugins");
  const Card card = Card::of_this_process(bootstrap_);
  job_->set_own_card(card);
  const cwy_job& facts = job_->facts();
  if (bootstrap_->own_launcher() || facts.size > 1) show_status(facts);
  fill_services(services_, &facts);
  watch_ = std::make_unique<PluginWatch>(own_config_.timeouts.start_ns, may_catch);
  own_loader_ = std::make_unique<Loader>(own_config_, &services_);
  loader_ = own_loader_.get();
  // GASNET_HOST_DETECT may make several hosts of the launcher's one.
  const bool one_host = bootstrap_->one_host() && std::getenv("GASNET_HOST_DETECT") == nullptr;
  own_conduits_ = open_conduits(
      own_config_, *loader_, one_host ? WhichConduits::used_on_one_host : WhichConduits::used,
      {&facts, card.hostname, bootstrap_->job_key(own_config_.timeouts.start_ns)});
  conduits_ = &own_conduits_;
  own_collectives_ = std::make_unique<CollectiveTable>(own_config_, *loader_);
  collectives_ = own_collectives_.get();
  install_exit_signals();
  log_debug("process: joined job {}, {} of its {} ranks on this host, {} host(s); process {}",
            facts.job_id, facts.local_count, facts.size, job_->host_set_size(), ::getpid());
}

void Runtime::raise_mode(ThreadMode mode) {
  if (mode <= mode_) return;
  mode_ = mode;
  if (mode == ThreadMode::par) raise_threads();
}

void Runtime::raise_threads() {
  if (multithreaded_) return;
  multithreaded_ = true;
  if (base_endpoint_ == nullptr) return;
  // Every endpoint of every client sends through the base's connections and is polled with it, and
  // the connections' tables change in place, also under the aliases of the others.
  for (auto& cep : base_endpoint_->conduit_eps()) raise_conduit_ep(*cep);
  refresh_poll();  // what only one thread may enter is polled another way
}

void Runtime::note_death(uint32_t rank, uint32_t epoch, const std::string& how) {
  note({rank, epoch, how.empty() ? "died" : how});
}

void Runtime::note(News news) {
  {
    const std::lock_guard lock(news_mutex_);
    news_.push_back(std::move(news));
  }
  attention.store(true, std::memory_order_release);
}

// A process that goes on without its peers treats both kinds of news alike: what it cannot reach is
// lost to it.
void Runtime::note_loss(uint32_t rank, uint32_t epoch, const std::string& how) {
  if (survives_failures()) return note_death(rank, epoch, how);
  departures_.suspect(rank, how);
  attention.store(true, std::memory_order_release);
}

void Runtime::note_stranded(const std::string& text) {
  {
    const std::lock_guard lock(news_mutex_);
    if (stranded_until_ != 0) return;
    stranded_ = text;
    stranded_until_ = now_ns() + patience_with_launcher();
  }
  attention.store(true, std::memory_order_release);
}

void Runtime::settle_failure_policy() {
  const bool all = peer_lost_ != nullptr && std::ranges::all_of(clients, [](Client* c) {
                     return c->kind() == ClientKind::gaspi;
                   });
  survives_.store(all && !clients.empty(), std::memory_order_relaxed);
}

void Runtime::note_started() {
  if (std::exchange(started_, true)) return;
  bootstrap_->started();
  PluginWatch::name_crashes(false);
  end_with_last_thread();
  show_phase(StatusPage::runs);
}

void Runtime::attend() {
  if (exiting()) return;
  std::vector<News> news;
  {
    const std::lock_guard lock(news_mutex_);
    news.swap(news_);
    // Under the mutex that orders it. Messages kept during an attachment are for polls alone.
    attention.store(held_waiting.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  if (news.empty()) {
    if (asked_to_leave()) leave_as_asked();
    look_into_losses();
    answer_inquiries();
    look_at_departed();
  } else if (survives_failures()) {
    go_on_after(news);
  } else {
    end_because(news);
  }
  look_at_suspects();
}

void Runtime::go_on_after(const std::vector<News>& news) {
  for (const News& n : news)
    if (n.how.empty())
      peer_replaced_(n.rank, n.epoch);
    else if (n.epoch >= job_->card(n.rank).epoch)  // not of a process that has been replaced
      peer_lost_(n.rank, n.how);
}

// The specification ends a GASNet job when one of its processes fails (GASNet-1 1.6, 2.1.5). Our
// own launcher names the dead rank and ends everybody, if it has not been told that others go on;
// elsewhere this rank says it itself.
void Runtime::end_because(const std::vector<News>& news) {
  if (std::ranges::none_of(news, [](const News& n) { return !n.how.empty(); })) return;
  if (!bootstrap_->own_launcher() || bootstrap_->survives_failures())
    for (const News& n : news)
      if (!n.how.empty()) log_error("rank {} failed ({}); ending this rank", n.rank, n.how);
  leave_as_asked();
}

// Our launcher sees failures at once and ends what stays behind others that left after
// `timeouts.exit`. A link that is cut while the launcher's own is not, it never sees.
uint64_t Runtime::patience_with_launcher() const {
  constexpr uint64_t kMore = 3'000'000'000;
  return own_config_.timeouts.exit_ns + kMore;
}

void Runtime::look_into_losses() {
  const Departures::Finding finding = departures_.look(*bootstrap_, patience_with_launcher());
  switch (finding.kind) {
    case Departures::Finding::Kind::nothing:
      return end_if_stranded();
    case Departures::Finding::Kind::waiting:
      // Polls look here each time until it is known; the job is about to end, or stands still.
      attention.store(true, std::memory_order_relaxed);
      return;
    case Departures::Finding::Kind::left:
      // The next poll looks at who else is suspected.
      attention.store(true, std::memory_order_relaxed);
      note_departed(finding.who.rank);
      if (!finding.code) return;  // alone, and is not missed
      told_of_exit(*finding.code);
      if ((*finding.code & 0xff) != 0) leave_as_asked();
      return;
    case Departures::Finding::Kind::failed:
      log_error("rank {} cannot be reached any more ({}); ending this rank", finding.who.rank,
                finding.who.how);
      return leave_as_asked();
  }
}

void Runtime::end_if_stranded() {
  {
    const std::lock_guard lock(news_mutex_);
    if (stranded_until_ == 0) return;
    attention.store(true, std::memory_order_relaxed);
    // The launcher speaks of everybody but those who have left in good order.
    if (now_ns() < stranded_until_ && departed_words().empty()) return;
    // The thread that writes the line looks on for news meanwhile, and comes by here again.
    if (std::exchange(stranding_, true)) return;
  }
  fatal_peer_lost("communication", stranded_ + departed_words());  // written once
}

}  // namespace causeway
