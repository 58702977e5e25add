// Runtime: what a process has once: job, configuration, plugins, conduits, clients.
#pragma once

#include <causeway/plugin.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/context.h"
#include "bootstrap/bootstrap.h"
#include "config/config.h"
#include "connection/conduit_set.h"
#include "connection/job.h"
#include "loader/loader.h"
#include "loader/plugin_call.h"
#include "process/departures.h"

namespace causeway {

enum class ThreadMode { seq = 0, parsync = 1, par = 2 };

class Runtime final : public ProcessContext {
 public:
  // Reads the configuration, joins the job, loads plugins, opens conduits. Throws Error. With
  // `wait` a process that was started as a spare waits until it has a rank; without, it has only
  // read its configuration until take_place() says true. See start_runtime().
  explicit Runtime(ThreadMode mode, bool wait = true);
  // True when this process has its rank and has joined the job. A spare waits for that for
  // `timeout_ns`. Throws Error.
  bool take_place(uint64_t timeout_ns);

  const cwy_services& services() const { return services_; }

  // From now on several threads may be inside the library, whatever the first client promised.
  // Called while no other thread is inside it. Idempotent.
  void raise_threads();
  ThreadMode mode() const { return mode_; }
  // A further client promises less than those before: from now on several threads may enter. The
  // earlier clients' promise keeps every other thread out while this is called.
  void raise_mode(ThreadMode mode);

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
  void note_loss(uint32_t rank, uint32_t epoch, const std::string& how) override;
  void note_stranded(const std::string& text) override;
  void attend() override;
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
  Config own_config_;
  void (*peer_lost_)(uint32_t rank, const std::string& how) = nullptr;
  void (*peer_replaced_)(uint32_t rank, uint32_t epoch) = nullptr;
  bool started_ = false;  // clients start one after the other
  // Written by the bootstrap's thread, which ends with the bootstrap: a start that fails frees that
  // first.
  std::map<uint32_t, uint32_t> told_epochs_;  // by rank; of that thread alone
  std::mutex news_mutex_;
  std::vector<News> news_;  // in the order in which they came
  std::unique_ptr<Bootstrap> own_bootstrap_;
  std::unique_ptr<JobFacts> own_job_;
  cwy_services services_{};
  std::unique_ptr<PluginWatch> watch_;
  std::unique_ptr<Loader> own_loader_;
  ConduitSet own_conduits_;
  std::unique_ptr<CollectiveTable> own_collectives_;
  Departures departures_;
  std::string stranded_;         // what cannot complete; under news_mutex_
  uint64_t stranded_until_ = 0;  // when that is said; 0: nothing
  bool stranding_ = false;       // it is being said
};

extern Runtime* g_runtime;  // set once, before gex_Client_Init returns; never reset
// Sets it, when there is none. Throws Error, and leaves none then.
void start_runtime(ThreadMode mode, bool wait = true);
inline Runtime& runtime() {
  return *g_runtime;
}

}  // namespace causeway
