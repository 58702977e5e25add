// Session: what a case works with: this process's side, and the peer, which is another process,
// or, for conduits that reach their own process only, the same endpoint.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "endpoint.h"
#include "partner.h"
#include "plugin_host.h"
#include "random.h"

namespace causeway::conformance {

enum class Mode { nothing, loopback, two_processes };

struct SideOptions {
  uint64_t memory = 4u << 20;  // bytes that the peer may reach; 0: none
  uint32_t multithreaded = 0;
  uint32_t connect = 1;  // both sides connect at once
  uint32_t lossy = 0;    // over a network that loses packets (kLossy)
  uint32_t failing = 0;  // over a device that soon fails, on this side (kFailing)
  uint32_t tells = 0;    // Endpoint::peer_news
};

// One process's half of a case.
struct Side {
  explicit Side(const Settings& settings_in) : settings(settings_in) {}
  ~Side() { close(); }

  void open(const SideOptions& options);
  void meet(const Card& peer_card, bool same_process, bool connect);
  void close();
  // The card for another partner than the session's.
  Card card_for(uint32_t epoch) const;

  const Settings& settings;
  std::unique_ptr<Domain> domain;
  std::unique_ptr<Endpoint> ep;
  std::unique_ptr<Memory> memory;
  Card card{};
  Card peer{};
  bool same_process = false;
  std::unique_ptr<RemoteMemory> remote;
  std::unique_ptr<Connection> conn;
};

// The plugin's options for such networks; NULL: it has none of them.
inline const cwy_options* lossy_options() {
  return PluginHost::options_with("inject_loss", "300");
}
inline const cwy_options* failing_options() {
  return PluginHost::options_with("fail_after", "100");
}

struct Nothing {};

class Session {
 public:
  explicit Session(const SideOptions& options = {});
  // Closes both sides in order; what the partner saw against the contract comes here.
  ~Session();

  Side& side() { return side_; }
  Endpoint& ep() { return *side_.ep; }
  Connection& conn() { return *side_.conn; }
  const cwyc_ops& ops() { return side_.conn->ops(); }
  cwyc_conn* raw() { return side_.conn->get(); }
  RemoteMemory& remote() { return *side_.remote; }
  Memory& memory() { return *side_.memory; }
  OpPool& pool() { return side_.conn->ops_pool(); }
  bool loopback() const { return partner_ == nullptr; }
  Partner& partner();  // throws Skip in loopback
  Random random;

  // Runs fn on the peer's side and waits for its result, making progress here meanwhile.
  template <typename A, typename R>
  R call(R (*fn)(Side&, const A&), const A& argument, double seconds = 30.0) {
    if (loopback()) return fn(side_, argument);
    partner_->start(fn, argument);
    return partner_->finish<R>([this] { step(); }, seconds);
  }
  template <typename A, typename R>
  void start(R (*fn)(Side&, const A&), const A& argument) {
    partner().start(fn, argument);
  }
  template <typename R>
  R finish(double seconds = 30.0) {
    return partner().finish<R>([this] { step(); }, seconds);
  }

 private:
  // A case may have closed its own side.
  void step() {
    if (side_.ep) side_.ep->step();
  }
  Side side_;
  std::unique_ptr<Partner> partner_;
};

// Set once by main after probing.
struct World {
  Settings settings;
  Mode mode = Mode::nothing;
  std::string why_nothing;   // the conduit's own words
  bool unsupported = false;  // nor did it promise anything here: nothing to test, no failure
  cwyc_ep_attr attr{};
  cwyc_ops ops{};
  uint32_t next_epoch = 1;
};
World& world();
void probe(const Settings& settings);
// The name of a limit below the 512 bytes that every message can carry, or "".
std::string limit_too_small();

}  // namespace causeway::conformance
