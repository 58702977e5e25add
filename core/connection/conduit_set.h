// The conduits of this process: every conduit that the configuration uses, whose plugin loads and
// whose domain opens, and the endpoint that each client endpoint has in it.
#pragma once

#include <causeway/conduit.h>
#include <causeway/entry_lock.h>

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "config/config.h"
#include "connection/am_limits.h"
#include "connection/taken.h"
#include "connection/wrapping.h"
#include "loader/loader.h"

namespace causeway {

class Endpoint;

// A conduit refuses an option's value: whoever wrote it is to change it, wherever the job runs.
struct OptionRefused : Error {
  OptionRefused(const Origin& origin, const std::string& text)
      : Error(CWY_ERR_INVALID, text), where(origin) {}
  Origin where;
};

// An entry of `conduits:` in use: plugin, options, open domain.
class Conduit {
 public:
  // Throws Error when the domain cannot be opened, OptionRefused where that is for an option.
  Conduit(uint32_t index, const ConduitSpec& spec, ConfiguredConduit configured,
          const std::string& job_key = "");
  ~Conduit();
  Conduit(const Conduit&) = delete;
  Conduit& operator=(const Conduit&) = delete;

  uint32_t index() const { return index_; }
  const std::string& name() const { return name_; }  // "net", "net.1" of its second lane
  const ConduitSpec& spec() const { return spec_; }
  const cwyc_module& module() const { return configured_.plugin->module; }
  const ConduitPlugin& plugin() const { return *configured_.plugin; }
  cwyc_domain* domain() const { return domain_; }
  const DeviceChoice& device() const { return configured_.device; }

  // The configuration may forbid a native operation ("native:"); the core then emulates it.
  bool allows(const char* operation) const;
  // Is it the lane of such a pair of ranks, or the one for atomics of all?
  bool is_lane_of(uint32_t pair) const {
    return spec_.lane == 0 || pair % spec_.lanes == spec_.lane;
  }
  bool has_atomics() const;

 private:
  uint32_t index_;
  ConduitSpec spec_;
  std::string name_;
  ConfiguredConduit configured_;
  cwyc_domain* domain_ = nullptr;
};

// A client endpoint's endpoint in one conduit, with its completed tables.
struct ConduitEp {
  Conduit* conduit = nullptr;
  Endpoint* owner = nullptr;
  cwyc_ep* ep = nullptr;
  // What a class has too holds for all of them here: the smallest limit, what each can. A peer's
  // memory is mapped by some (CWYC_CAP_DIRECT).
  cwyc_ep_attr attr{};
  std::vector<cwyc_class_attr> classes;  // per table, less what the configuration forbids
  // Per table of the plugin: native entries, holes filled (connection/fallbacks.h), and, for
  // SERIAL conduits in multi-threaded use, entries that take `mutex` first.
  std::vector<cwyc_ops> ops;
  std::vector<cwyc_ops> inner;  // SERIAL: what the locking entries call
  // For aliases of its connections: between host memory, and with an end in device memory.
  std::vector<cwyc_ops> alias, device;
  bool serial = false;  // some table is SERIAL and several threads may enter
  EntryLock mutex;      // SERIAL: held by the thread inside; no handler runs under it
  // Several threads may enter, and the conduit delivers inside of a lock.
  bool takes_over = false;
  cwyc_deliver_fn deliver = nullptr;  // runs a handler
  TakenMessages taken;
  uint64_t caps = 0;            // attr.caps less what the configuration forbids
  AmLimits limits{};            // constant for the life of the job
  bool maps_neighbors = false;  // other processes' memory can appear in this one
  // Some rank may come or be reached this way: it is polled. Relaxed: set before anything is sent.
  std::atomic<bool> needed{true};
  // Connections made; relaxed: a number that people see. Growth for those that were counted
  // (object/connect.h): memory of the process's own, and other mappings. Under the connect mutex.
  std::atomic<uint64_t> connections{0};
  int64_t counted = 0, own_bytes = 0, shared_bytes = 0;

  std::string address() const;              // of ep_address; throws Error
  std::string wiring(cwy_peer peer) const;  // the same of wiring
  // The same of rkey_pack; nothing where that is UNSUPPORTED.
  std::optional<std::string> packed_right(cwyc_mem* mem) const;
  uint32_t progress(uint32_t budget, uint32_t lane);
  ~ConduitEp();

  // Questions for the wirings of ranks that are being contacted (wiring_exchange.h). Under the
  // connect mutex.
  struct AskedWiring {
    uint32_t epoch = 0;            // of who was asked
    uint64_t since = 0, next = 0;  // ns: the first question; not again before
    std::future<std::optional<std::string>> answer;
    std::optional<std::string> text;
  };
  std::map<uint32_t, AskedWiring> asked_wirings;
  // CWYC_CAP_SHARED_KEYS: what was opened, by packed bytes, and how many publications use it.
  struct SharedRight {
    cwyc_rkey* rkey = nullptr;
    uint32_t users = 0;
  };
  std::map<std::string, SharedRight> shared_rights;
  std::mutex rights_mutex;  // of these
};

// What an endpoint has, in the order of the file.
using ConduitEps = std::vector<std::unique_ptr<ConduitEp>>;

// A conduit that cannot be opened here is left out with a reason (obeying on_load_error).
struct ConduitFailure {
  std::string name;
  std::string reason;
  bool unnamed = false;  // by every rule: its absence explains nothing
};
struct ConduitSet {
  std::vector<std::unique_ptr<Conduit>> conduits;  // file order
  std::vector<ConduitFailure> failures;
  Conduit* find(const std::string& name) const;
  // Every lane of `spec`, each with a domain of its own. Throws as the conduit's constructor, and
  // leaves none then.
  void open(ConduitSpec spec, const ConfiguredConduit& configured, const std::string& job_key);
  // The lane of that name for a pair of ranks, by the sum of their numbers: both sides find the
  // same. Lanes stand behind each other in `conduits`.
  Conduit* lane_of(const std::string& name, uint32_t pair) const;
  Conduit* first_lane(const Conduit* conduit) const;
};
// `used`: those that a rule of peers: names, or that say `open: always`; on one host rules for
// remote peers do not count, so that neither time nor memory goes into a network that nobody is
// reached by. `all`: for explaining.
enum class WhichConduits { used, used_on_one_host, all };
ConduitSet open_conduits(Config config, Loader& loader, WhichConduits which, const OwnPlace& place);

// Opens an endpoint of `conduit` for `owner` and completes its tables. `place` NULL: no payload has
// a place of the core's.
std::unique_ptr<ConduitEp> open_conduit_ep(Conduit& conduit, Endpoint* owner, uint32_t index,
                                           uint32_t multithreaded, uint32_t max_peers,
                                           cwyc_deliver_fn deliver, cwyc_place_fn place = nullptr);

// From now on several threads enter the endpoint; while no thread is inside it. Connections stay.
void raise_conduit_ep(ConduitEp& cep);

}  // namespace causeway
