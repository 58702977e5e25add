// Runtime: what a process has once: job, configuration, plugins, conduits, clients.
#pragma once

#include <causeway/plugin.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.h"
#include "config/config.h"
#include "connection/conduit_set.h"
#include "connection/job.h"
#include "connection/selector.h"
#include "loader/loader.h"
#include "process/departures.h"

namespace causeway {

class Client;
class CollectiveTable;
class Endpoint;

enum class ThreadMode { seq = 0, parsync = 1, par = 2 };

class Runtime {
 public:
  // Reads the configuration, joins the job, loads plugins, opens conduits. Throws Error. With
  // `wait` a process that was started as a spare waits until it has a rank; without, it has only
  // read its configuration until take_place() says true. See start_runtime().
  explicit Runtime(ThreadMode mode, bool wait = true);
  // True when this process has its rank and has joined the job. A spare waits for that for
  // `timeout_ns`. Throws Error.
  bool take_place(uint64_t timeout_ns);

  const Config& config() const { return config_; }
  JobFacts& job() { return *job_; }
  const JobFacts& job() const { return *job_; }
  Bootstrap& bootstrap() { return *bootstrap_; }
  ConduitSet& conduits() { return conduits_; }
  const ConduitSet& conduits() const { return conduits_; }
  Loader& loader() { return *loader_; }
  const cwy_services& services() const { return services_; }

  uint32_t rank() const { return job_->rank(); }
  uint32_t size() const { return job_->size(); }
  bool checks() const { return checks_; }
  bool direct_allowed() const { return direct_allowed_; }
  // GASNET_SEGMENT_EVERYTHING: primordial endpoints are bound to the whole address space.
  bool everything() const { return everything_; }
  // Several threads may be inside the library at once.
  bool multithreaded() const { return multithreaded_; }
  // From now on they may, whatever the first client promised. Called while no other thread is
  // inside the library. Idempotent.
  void raise_threads();
  ThreadMode mode() const { return mode_; }
  // A further client promises less than those before: from now on several threads may enter. The
  // earlier clients' promise keeps every other thread out while this is called.
  void raise_mode(ThreadMode mode);

  // A reply may leave by another conduit than its request came by: rules split messages, or two
  // ranks choose differently towards each other. Set once, before anything is polled.
  bool replies_cross() const { return replies_cross_; }
  void set_replies_cross() { replies_cross_ = true; }

  // Something rare wants attention at the next poll: a rank died.
  std::atomic<bool> attention{false};

  std::vector<Client*> clients;  // in order of gex_Client_Init
  std::mutex clients_mutex;

  // The first client's primordial endpoint, which holds every connection of the process. Set once,
  // while that client starts.
  Endpoint& base_endpoint() { return *base_endpoint_; }
  void set_base_endpoint(Endpoint* ep) { base_endpoint_ = ep; }

  // Ranks of this process' neighborhood and host, increasing; and where this process stands.
  CollectiveTable& collectives() { return *collectives_; }

  // Every client of the process goes on when a peer fails. Relaxed reads: it changes while clients
  // start only.
  bool survives_failures() const { return survives_.load(std::memory_order_relaxed); }
  // To be called when a client has been added to `clients`. A process in which one client must end
  // with its peers ends with them.
  void settle_failure_policy();
  // Called by attend() in place of the end of the job: from any context in which a thread polls,
  // inside deliveries too. Set before the first client that survives starts.
  void on_peer_lost(void (*fn)(uint32_t rank, const std::string& how)) { peer_lost_ = fn; }

  // The same for a rank that has a new process: `epoch` is the new one's. The card of the rank is
  // still the old process's, or, in a process that started later, already the new one's.
  void on_peer_replaced(void (*fn)(uint32_t rank, uint32_t epoch)) { peer_replaced_ = fn; }

  // A client has ended its start. The launcher is told of the first one. Throws Error.
  void note_started();

  // The launcher says that the process that is, or was, `rank` in that epoch failed. Any thread.
  void note_death(uint32_t rank, uint32_t epoch, const std::string& how);
  // A conduit or an operation finds that it cannot be reached any more. Any thread.
  void note_loss(uint32_t rank, uint32_t epoch, const std::string& how);
  // Something that a client waits for will never complete, since a peer is gone; which peer, and
  // how it went, comes by the calls above. The polls of who waits end this process then, or say
  // `text` themselves when nothing is learnt in time. Only where failures are not survived. Any
  // thread, any context.
  void note_stranded(const std::string& text);
  // Called from poll when `attention` is set.
  void attend();
  // Some peer is being looked into: attend() will end this process or find that nobody is missed.
  bool looks_into_losses() { return departures_.any(); }

 private:
  // A death, or, with an empty `how`, a replacement.
  struct News {
    uint32_t rank, epoch;
    std::string how;
  };
  void join_job();
  void look_into_losses();
  void end_if_stranded();
  uint64_t patience_with_launcher() const;
  void listen();
  void note(News news);
  void end_because(const std::vector<News>& news);
  void go_on_after(const std::vector<News>& news);

  ThreadMode mode_;
  Endpoint* base_endpoint_ = nullptr;
  Config config_;
  bool checks_ = false;
  bool direct_allowed_ = true;
  bool everything_ = false;
  bool multithreaded_ = false;
  std::atomic<bool> survives_{false};
  void (*peer_lost_)(uint32_t rank, const std::string& how) = nullptr;
  void (*peer_replaced_)(uint32_t rank, uint32_t epoch) = nullptr;
  bool replies_cross_ = false;
  bool started_ = false;  // clients start one after the other
  std::unique_ptr<Bootstrap> bootstrap_;
  std::unique_ptr<JobFacts> job_;
  cwy_services services_{};
  std::unique_ptr<Loader> loader_;
  ConduitSet conduits_;
  std::unique_ptr<CollectiveTable> collectives_;
  std::map<uint32_t, uint32_t> told_epochs_;  // by rank; of the bootstrap's thread alone
  std::mutex news_mutex_;
  std::vector<News> news_;  // in the order in which they came
  Departures departures_;
  std::string stranded_;         // what cannot complete; under news_mutex_
  uint64_t stranded_until_ = 0;  // when that is said; 0: nothing
};

// Whether `checks: full` holds, readable without a runtime: events need none. True until there is
// one, so that a call made too early goes the checked way and finds that out there, and no call
// looks for a runtime on its fast path. Written before any other thread may be in the library.
extern bool g_checks;

extern Runtime* g_runtime;  // set once, before gex_Client_Init returns; never reset
// Sets it, when there is none. Throws Error, and leaves none then.
void start_runtime(ThreadMode mode, bool wait = true);
inline Runtime& runtime() {
  return *g_runtime;
}

}  // namespace causeway
