// Standing in front of another conduit: what interposing conduits share.
//
// The conduit behind keeps all of its objects: domains, endpoints, connections, registrations and
// rights are its own and pass through untouched. The one in front exports copies of the tables
// behind it, in which it replaces the entries it wants to see. What it does not know, members of a
// later minor included, so works as if nothing stood in front.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "../../common/guard.h"
#include "../../common/plugin_error.h"
#include "module_table.h"

namespace causeway::wrapping {

// OK or INPROGRESS. A number that is no status of this interface is an error.
constexpr bool accepted(cwy_status status) {
  return status == CWY_OK || status == CWY_INPROGRESS;
}

// A table, or another structure, of whatever minor, extended with zeroes up to what this file knows of it.
template <class Table>
class TableCopy {
 public:
  explicit TableCopy(const Table* from) {
    const size_t theirs = from->head.struct_size;
    const size_t room = std::max(theirs, sizeof(Table));
    bytes_ = std::make_unique<std::byte[]>(room);  // zeroed
    std::memcpy(bytes_.get(), from, theirs);
    table().head.struct_size = static_cast<uint32_t>(room);
  }
  Table& table() const { return *reinterpret_cast<Table*>(bytes_.get()); }

 private:
  std::unique_ptr<std::byte[]> bytes_;
};

// A conduit with another in front of it.
class Front {
 public:
  explicit Front(const cwy_wrapped& inner)
      : inner_(inner), known_(inner.module), exported_(inner.module) {
    cwyc_module& module = exported_.table();
    for (uint32_t i = 0; i < module.ops_count; ++i) {
      known_ops_.emplace_back(module.ops[i]);
      exported_ops_.emplace_back(module.ops[i]);
      pointers_.push_back(&exported_ops_.back().table());
    }
    module.ops = pointers_.data();
    module.configure = nullptr;  // has happened
    module.fini = nullptr;       // the core's to call, once, for the conduit behind
  }
  virtual ~Front() = default;
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  // Of the conduit behind; members it lacks are NULL.
  const cwyc_module& module() const { return known_.table(); }
  const cwyc_ops& ops(const cwyc_conn* conn) const { return known_ops_[conn->table].table(); }
  const cwy_options* options() const { return inner_.options; }
  const char* device() const { return inner_.device; }
  const char* plugin() const { return inner_.plugin; }

  // What the core gets.
  const cwyc_module* exported() const { return &exported_.table(); }
  // Replaces an entry that the conduit behind has; one it lacks stays missing.
  template <class Entry>
  void replace(Entry cwyc_module::*member, Entry by) {
    cwyc_module& module = exported_.table();
    if (module.*member != nullptr) module.*member = by;
  }
  // Sets an entry that the conduit behind may lack.
  template <class Entry>
  void add(Entry cwyc_module::*member, Entry by) {
    exported_.table().*member = by;
  }
  template <class Entry>
  void replace(Entry cwyc_ops::*member, Entry by) {
    for (TableCopy<cwyc_ops>& ops : exported_ops_)
      if (ops.table().*member != nullptr) ops.table().*member = by;
  }

 private:
  cwy_wrapped inner_;
  TableCopy<cwyc_module> known_, exported_;
  std::vector<TableCopy<cwyc_ops>> known_ops_, exported_ops_;
  std::vector<const cwyc_ops*> pointers_;
};

// Objects of the core or of the conduit behind, and what the one in front knows of them. Cold.
template <class Value>
class ColdMap {
 public:
  void set(const void* key, Value value) {
    const std::lock_guard lock(mutex_);
    map_[key] = value;
  }
  void erase(const void* key) {
    const std::lock_guard lock(mutex_);
    map_.erase(key);
  }
  Value get(const void* key) {
    const std::lock_guard lock(mutex_);
    const auto found = map_.find(key);
    return found != map_.end() ? found->second : Value{};
  }

 private:
  std::mutex mutex_;
  std::map<const void*, Value> map_;
};

// The state that the conduit in front keeps per endpoint, found by the endpoint or by the core's
// name for it.
//
// Looked up on every operation without a lock. A slot is free, or its two keys name an endpoint
// that is open; only the thread that opens or closes an endpoint writes its slot (under the mutex).
// The record is stored before the keys (release), so whoever finds a key (acquire) finds the
// record; an endpoint is not in use while it is opened or closed, so nobody looks for the keys that
// change.
template <class Record, size_t most = 256>
class EndpointTable {
 public:
  // False: the table is full.
  bool add(const void* core_ep, Record* record) {
    const std::lock_guard lock(mutex_);
    for (Slot& slot : slots_) {
      if (slot.record.load(std::memory_order_relaxed) != nullptr) continue;
      slot.record.store(record, std::memory_order_release);
      slot.core_ep.store(core_ep, std::memory_order_release);
      const size_t used = static_cast<size_t>(&slot - slots_) + 1;
      if (used > used_.load(std::memory_order_relaxed))
        used_.store(used, std::memory_order_release);
      return true;
    }
    return false;
  }
  void opened(const Record* record, const void* ep) {
    for (Slot& slot : slots_)
      if (slot.record.load(std::memory_order_relaxed) == record)
        slot.ep.store(ep, std::memory_order_release);
  }
  void remove(const Record* record) {
    const std::lock_guard lock(mutex_);
    for (Slot& slot : slots_) {
      if (slot.record.load(std::memory_order_relaxed) != record) continue;
      slot.ep.store(nullptr, std::memory_order_relaxed);
      slot.core_ep.store(nullptr, std::memory_order_relaxed);
      slot.record.store(nullptr, std::memory_order_release);
    }
  }
  Record& by_ep(const void* ep) const { return find(&Slot::ep, ep); }
  Record& by_core_ep(const void* core_ep) const { return find(&Slot::core_ep, core_ep); }

 private:
  struct Slot {
    std::atomic<const void*> ep{nullptr}, core_ep{nullptr};
    std::atomic<Record*> record{nullptr};
  };
  Record& find(std::atomic<const void*> Slot::*key, const void* wanted) const {
    const size_t used = used_.load(std::memory_order_acquire);
    for (size_t i = 0; i < used; ++i)
      if ((slots_[i].*key).load(std::memory_order_acquire) == wanted)
        return *slots_[i].record.load(std::memory_order_acquire);
    __builtin_trap();  // an endpoint that was never opened through this conduit
  }
  std::mutex mutex_;
  std::atomic<size_t> used_{0};
  Slot slots_[most];
};

// Takes the conduit that the option `key` names.
inline cwy_status wrap(const cwy_services& services, const cwy_options* opts, const char* key,
                       cwy_wrapped& out, cwy_err* err) {
  const char* name = "";
  services.opt_string(opts, key, &name);
  out = {};
  out.head = CWY_HEAD(cwy_wrapped);
  return services.wrap_conduit(name, &out, err);
}

// The fronts of a plugin, from `configure` to `fini`, and the cold calls that find theirs by the
// options or the domain they are given.
template <class F>
class Fronts {
 public:
  // The front is complete: the core gets its module.
  static void keep(const cwy_options* opts, std::unique_ptr<F> front, const cwyc_module** out) {
    front->replace(&cwyc_module::list_devices, list_devices);
    front->replace(&cwyc_module::domain_open, domain_open);
    front->replace(&cwyc_module::domain_close, domain_close);
    by_options_.set(opts, front.get());
    *out = front->exported();
    all().push_back(std::move(front));
  }
  // Never destroyed but by fini(): calls may come until then.
  static std::vector<std::unique_ptr<F>>& all() {
    static auto* const fronts = new std::vector<std::unique_ptr<F>>;
    return *fronts;
  }
  static void fini() { all().clear(); }
  static F* of(const cwy_options* opts) { return by_options_.get(opts); }

  // An endpoint of the conduit behind whose messages come to `deliver`. `Endpoint` has the members
  // front, core_ep and deliver; `opened` is run before anybody can find it. Closed by close().
  template <class Endpoint, class Opened>
  static cwy_status open(EndpointTable<Endpoint>& endpoints, const char* plugin,
                         cwyc_deliver_fn deliver, cwyc_domain* domain,
                         const cwyc_ep_params* params, cwyc_ep** out, cwy_err* err,
                         Opened&& opened) {
    return guarded(err, [&]() -> cwy_status {
      auto ep = std::make_unique<Endpoint>();
      ep->front = by_domain_.get(domain);
      ep->core_ep = params->core_ep;
      ep->deliver = params->deliver;
      if (!endpoints.add(params->core_ep, ep.get()))
        return report(err, CWY_ERR_NOMEM, "%s: too many endpoints in one process", plugin);
      const TableCopy<cwyc_ep_params> ours(params);
      ours.table().deliver = deliver;
      const cwy_status status = ep->front->module().ep_open(domain, &ours.table(), out, err);
      if (status != CWY_OK) {
        endpoints.remove(ep.get());
        return status;
      }
      opened(*ep, *out);
      endpoints.opened(ep.get(), *out);
      ep.release();  // close() deletes it
      return CWY_OK;
    });
  }
  template <class Endpoint>
  static void close(EndpointTable<Endpoint>& endpoints, cwyc_ep* raw) {
    Endpoint* ep = &endpoints.by_ep(raw);
    ep->front->module().ep_close(raw);
    endpoints.remove(ep);
    delete ep;
  }

 private:
  static cwy_status list_devices(const cwy_options* opts, cwyc_device_fn fn, void* arg,
                                 cwy_err* err) {
    F* front = of(opts);
    return front->module().list_devices(front->options(), fn, arg, err);
  }
  static cwy_status domain_open(const cwy_options* opts, const cwyc_domain_params* params,
                                cwyc_domain** out, cwy_err* err) {
    return guarded(err, [&] {
      F* front = of(opts);
      TableCopy<cwyc_domain_params> theirs(params);
      if (*params->device == '\0') theirs.table().device = front->device();
      const cwy_status status =
          front->module().domain_open(front->options(), &theirs.table(), out, err);
      if (status == CWY_OK) by_domain_.set(*out, front);
      return status;
    });
  }
  static void domain_close(cwyc_domain* domain) {
    F* front = by_domain_.get(domain);
    by_domain_.erase(domain);
    front->module().domain_close(domain);
  }

  static inline ColdMap<F*> by_options_, by_domain_;
};

// For plugins whose only interest in conduits' loads and stores is that there be none.
inline cwy_status no_direct_rights(cwyc_rkey*, intptr_t*) {
  return CWY_ERR_UNSUPPORTED;
}

// Relays: operations handed to the conduit behind in place of the core's. `Relay` begins with a
// cwyc_op and has a member `next`. Memory grows with what is under way at once and is kept. The
// lock is for a few instructions, and only operations that may be completed later take it.
template <class Relay>
class RelayPool {
 public:
  Relay* take() {
    const std::lock_guard lock(mutex_);
    if (free_ == nullptr && !grow()) return nullptr;
    Relay* relay = free_;
    free_ = relay->next;
    return relay;
  }
  void give(Relay* relay) {
    const std::lock_guard lock(mutex_);
    relay->next = free_;
    free_ = relay;
  }

 private:
  bool grow() {
    constexpr size_t at_once = 256;
    auto slab = std::unique_ptr<Relay[]>(new (std::nothrow) Relay[at_once]());
    if (!slab) return false;
    for (size_t i = 0; i < at_once; ++i) {
      slab[i].next = free_;
      free_ = &slab[i];
    }
    slabs_.push_back(std::move(slab));
    return true;
  }
  std::mutex mutex_;
  Relay* free_ = nullptr;
  std::vector<std::unique_ptr<Relay[]>> slabs_;
};

// Bits that an operation reports, and the one after which it is over.
inline constexpr uint32_t local_bit = CWYC_DONE_LOCAL, remote_bit = CWYC_DONE_REMOTE,
                          both_bits = CWYC_DONE_LOCAL | CWYC_DONE_REMOTE;

// Calls of any type that are not served, or that have nothing to do.
inline constexpr auto unsupported = [](auto...) -> cwy_status { return CWY_ERR_UNSUPPORTED; };
inline constexpr auto nothing = [](auto...) {};

// A plugin that serves nobody before it is configured, for module_table.h.
template <auto configuring, auto ending>
struct Unconfigured {
  static constexpr uint32_t concurrency = CWYC_MULTI;
  static constexpr auto configure = configuring;
  static constexpr auto fini = ending;
  static constexpr auto am_short = unsupported, am_medium = unsupported, domain_open = unsupported,
                        ep_open = unsupported, ep_query = unsupported, ep_address = unsupported,
                        reach = unsupported, connect = unsupported;
  static constexpr auto domain_close = nothing, ep_close = nothing, disconnect = nothing,
                        purge = nothing;
  static constexpr auto progress = [](cwyc_ep*, uint32_t, uint32_t) -> uint32_t { return 0; };
};

}  // namespace causeway::wrapping
