// Facts about the process that every room may ask for: the job, the configuration, flags, and where
// news of peers goes. The runtime (core/process) fills it in and answers; what it refers
// to is described in the rooms of those types.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace causeway {

class Bootstrap;
class Client;
class CollectiveTable;
class Endpoint;
class JobFacts;
class Loader;
struct ConduitSet;
struct Config;

class ProcessContext {
 public:
  ProcessContext(const ProcessContext&) = delete;
  ProcessContext& operator=(const ProcessContext&) = delete;

  const Config& config() const { return *config_; }
  JobFacts& job() { return *job_; }
  const JobFacts& job() const { return *job_; }
  Bootstrap& bootstrap() { return *bootstrap_; }
  ConduitSet& conduits() { return *conduits_; }
  const ConduitSet& conduits() const { return *conduits_; }
  Loader& loader() { return *loader_; }
  CollectiveTable& collectives() { return *collectives_; }

  uint32_t rank() const { return rank_; }
  uint32_t size() const { return size_; }
  bool checks() const { return checks_; }
  bool direct_allowed() const { return direct_allowed_; }
  // GASNET_SEGMENT_EVERYTHING: primordial endpoints are bound to the whole address space.
  bool everything() const { return everything_; }
  // Several threads may be inside the library at once.
  bool multithreaded() const { return multithreaded_; }
  // Every client of the process goes on when a peer fails. Relaxed reads: only starts change it.
  bool survives_failures() const { return survives_.load(std::memory_order_relaxed); }

  // The first client's primordial endpoint, with every connection. Set once, while it starts.
  Endpoint& base_endpoint() { return *base_endpoint_; }
  void set_base_endpoint(Endpoint* ep) { base_endpoint_ = ep; }

  // Something rare wants attention at the next poll: a rank died.
  std::atomic<bool> attention{false};

  std::vector<Client*> clients;  // in order of gex_Client_Init
  std::mutex clients_mutex;

  // A conduit or an operation finds that the process that is, or was, `rank` in that epoch cannot
  // be reached any more. Any thread.
  virtual void note_loss(uint32_t rank, uint32_t epoch, const std::string& how) = 0;
  // Something that a client waits for will never complete, since a peer is gone; which peer, and
  // how it went, comes by the call above. The polls of a thread that waits end this process then,
  // or say `text` themselves when nothing is learnt in time. Only where failures are not survived.
  // Any thread, any context.
  virtual void note_stranded(const std::string& text) = 0;
  // Called from poll when `attention` is set.
  virtual void attend() = 0;

 protected:
  ProcessContext() = default;
  ~ProcessContext() = default;

  const Config* config_ = nullptr;
  JobFacts* job_ = nullptr;
  Bootstrap* bootstrap_ = nullptr;
  ConduitSet* conduits_ = nullptr;
  Loader* loader_ = nullptr;
  CollectiveTable* collectives_ = nullptr;
  Endpoint* base_endpoint_ = nullptr;
  uint32_t rank_ = 0, size_ = 0;
  bool checks_ = false;
  bool direct_allowed_ = true;
  bool everything_ = false;
  bool multithreaded_ = false;
  std::atomic<bool> survives_{false};
};

// Set once, before gex_Client_Init returns; never reset. NULL: nothing has started.
extern ProcessContext* g_context;
inline ProcessContext& context() {
  return *g_context;
}

// Whether `checks: full` holds, readable without a runtime: events need none. True until there is
// one, so that a call made too early goes the checked way and finds that out there, and no call
// looks for a runtime on its fast path. Written before any other thread may be in the library.
extern bool g_checks;

// Exchanged by the first thread that ends the process (acq_rel); the others wait for its end.
extern std::atomic<bool> g_exiting;
// True once this process is on its way out.
inline bool exiting() {
  return g_exiting.load(std::memory_order_acquire);
}

}  // namespace causeway
