#include "connection/conduit_set.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/log.h"
#include "config/load_config.h"
#include "connection/fallbacks.h"
#include "connection/locked_ops.h"
#include "connection/prepare.h"
#include "connection/tsan_ops.h"
#include "loader/check_options.h"
#include "loader/signal_keeper.h"

namespace causeway {
namespace {

// The words of `native:` and the table entries each of them governs.
struct NativeWord {
  const char* word;
  uint64_t caps;
};
constexpr NativeWord kNativeWords[] = {
    {"put", CWYC_CAP_PUT},
    {"get", CWYC_CAP_GET},
    {"atomic", CWYC_CAP_ATOMIC},
    {"put_notify", CWYC_CAP_PUT_NOTIFY},
    {"vector", CWYC_CAP_VECTOR},
    {"am_long", CWYC_CAP_AM_LONG},
    {"am_prepare", CWYC_CAP_AM_PREPARE},
    {"flush", CWYC_CAP_FLUSH},
    {"direct", CWYC_CAP_DIRECT},
};

void forbid(const Conduit& conduit, uint64_t& caps) {
  for (const NativeWord& w : kNativeWords) {
    if (!conduit.allows(w.word)) caps &= ~w.caps;
  }
}

void clear_forbidden(cwyc_ops& ops, uint64_t caps) {
  if (!(caps & CWYC_CAP_PUT)) ops.put = nullptr, ops.put_small = nullptr;
  if (!(caps & CWYC_CAP_GET)) ops.get = nullptr;
  if (!(caps & CWYC_CAP_ATOMIC)) ops.atomic = nullptr;
  if (!(caps & CWYC_CAP_PUT_NOTIFY)) ops.put_notify = nullptr;
  if (!(caps & CWYC_CAP_VECTOR)) ops.putv = nullptr, ops.getv = nullptr;
  if (!(caps & CWYC_CAP_AM_LONG)) ops.am_long = nullptr;
  if (!(caps & CWYC_CAP_FLUSH)) ops.flush = nullptr;
  if (!(caps & CWYC_CAP_CHECK)) ops.check = nullptr;
  if (!(caps & CWYC_CAP_AM_PREPARE)) {
    ops.am_prepare = nullptr, ops.am_commit = nullptr, ops.am_cancel = nullptr;
  }
}

// Enough for every purpose of a medium, and it fits the 32 bits in which limits are kept.
constexpr size_t kMediumMax = size_t{1} << 30;

// Emulations that wait for room take the lock for each attempt and not while they wait.
void keep_unlocked(cwyc_ops& locking, const cwyc_ops& inner) {
  const cwyc_ops& emulated = *fallbacks.emulated;
  if (inner.am_long == emulated.am_long) locking.am_long = emulated.am_long;
  if (inner.am_prepare != emulated.am_prepare) return;
  locking.am_prepare = emulated.am_prepare;
  locking.am_commit = emulated.am_commit;
  locking.am_cancel = emulated.am_cancel;
}

}  // namespace

Conduit::Conduit(uint32_t index, const ConduitSpec& spec, ConfiguredConduit configured)
    : index_(index), spec_(spec), configured_(std::move(configured)) {
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  const SignalKeeper keeper;
  const cwy_status status =
      module().domain_open(as_c(configured_.options.get()), spec_.device.c_str(), &domain_, &err);
  if (status != CWY_OK) {
    throw Error(status, "conduit {} ({}): {}", spec_.name, spec_.where.str(),
                err.text[0] ? err.text : status_name(status));
  }
}

Conduit::~Conduit() {
  if (domain_ != nullptr) module().domain_close(domain_);
}

bool Conduit::allows(const char* operation) const {
  return !spec_.native ||
         std::find(spec_.native->begin(), spec_.native->end(), operation) != spec_.native->end();
}

std::string ConduitEp::address() const {
  std::string bytes(attr.ep_address_max, '\0');
  uint64_t length = bytes.size();
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  const cwy_status status = conduit->module().ep_address(ep, bytes.data(), &length, &err);
  if (status != CWY_OK) throw Error(status, "conduit {}: {}", conduit->name(), err.text);
  bytes.resize(length);
  return bytes;
}

uint32_t ConduitEp::progress(uint32_t budget, uint32_t lane) {
  if (__builtin_expect(serial, 0)) {
    // Another thread makes progress here already: it is not waited for.
    const std::unique_lock lock(mutex, std::try_to_lock);
    return lock.owns_lock() ? conduit->module().progress(ep, budget, lane) : 0;
  }
  return conduit->module().progress(ep, budget, lane);
}

ConduitEp::~ConduitEp() {
  if (ep != nullptr) conduit->module().ep_close(ep);
}

Conduit* ConduitSet::find(const std::string& name) const {
  for (const auto& conduit : conduits) {
    if (conduit->name() == name) return conduit.get();
  }
  return nullptr;
}

ConduitSet open_conduits(const Config& config, Loader& loader, WhichConduits which) {
  ConduitSet set;
  Problems problems;
  std::vector<PreparedConduit> prepared =
      prepare_conduits(config, loader, which, set.failures, problems);
  // A wrong option is the user's mistake and ends the program; a device that cannot be opened is a
  // property of this machine and obeys on_load_error.
  if (!problems.empty()) throw Error(CWY_ERR_INVALID, "{}", problems.text(kMostProblemsSaid));
  for (PreparedConduit& one : prepared) {
    const ConduitSpec& spec = *one.spec;
    const bool asked_for = spec.where.source != kBuiltInSource;
    try {
      set.conduits.push_back(std::make_unique<Conduit>(static_cast<uint32_t>(set.conduits.size()),
                                                       spec, std::move(one.configured)));
    } catch (const Error& e) {
      if (!asked_for) log_info("{}", e.text());
      if (asked_for && config.on_load_error == LoadErrorPolicy::fail) throw;
      if (asked_for && config.on_load_error == LoadErrorPolicy::warn) log_warn("{}", e.text());
      set.failures.push_back({spec.name, e.text()});
    }
  }
  return set;
}

// SERIAL tables take the endpoint's lock once several threads may enter.
static void lock_serial_tables(ConduitEp& cep) {
  for (size_t i = 0; i < cep.ops.size(); ++i) {
    if (cep.inner[i].concurrency != CWYC_SERIAL) continue;
    cep.serial = true;
    cep.ops[i] = locking_table();
    keep_unlocked(cep.ops[i], cep.inner[i]);
  }
}

std::unique_ptr<ConduitEp> open_conduit_ep(Conduit& conduit, Endpoint* owner, uint32_t index,
                                           bool multithreaded, uint32_t max_peers,
                                           cwyc_deliver_fn deliver) {
  auto out = std::make_unique<ConduitEp>();
  out->conduit = &conduit;
  out->owner = owner;
  const cwyc_ep_params params{CWY_HEAD(cwyc_ep_params), out.get(), deliver, index,
                              multithreaded ? 1u : 0u,  max_peers, 0};
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  const SignalKeeper keeper;
  cwy_status status = conduit.module().ep_open(conduit.domain(), &params, &out->ep, &err);
  if (status != CWY_OK) {
    out->ep = nullptr;
    throw Error(status, "conduit {}: {}", conduit.name(),
                err.text[0] ? err.text : "ep_open failed");
  }
  out->attr.head = CWY_HEAD(cwyc_ep_attr);
  status = conduit.module().ep_query(out->ep, &out->attr);
  if (status != CWY_OK) {
    throw Error(status, "conduit {}: ep_query answered {}", conduit.name(), status_name(status));
  }
  // 0 is no limit; the paths that compare lengths with it need not know.
  if (out->attr.rma_max == 0) out->attr.rma_max = UINT64_MAX;
  if (conduit.plugin().lacks_direct) out->attr.caps &= ~uint64_t{CWYC_CAP_DIRECT};
  out->caps = out->attr.caps;
  forbid(conduit, out->caps);
  for (const cwyc_ops& native : conduit.plugin().ops) {
    cwyc_ops ops = native;
    annotate_sends_for_tsan(ops);
    clear_forbidden(ops, out->caps);
    fill_with_emulation(ops);
    out->inner.push_back(ops);
    out->ops.push_back(ops);
  }
  if (multithreaded) lock_serial_tables(*out);
  // Emulated longs serve memory that a native long cannot reach, so the limit is the smaller of
  // both: it must not change when segments come and go.
  const bool native_long = out->inner[0].am_long != fallbacks.emulated->am_long;
  out->limits.medium = std::min<size_t>(out->attr.am_medium_max, kMediumMax);
  out->limits.long_max =
      native_long ? std::min<size_t>(out->attr.am_long_max, kEmulatedLongMax) : kEmulatedLongMax;
  return out;
}

void raise_conduit_ep(ConduitEp& cep) {
  const cwy_status status = cep.conduit->module().ep_threads(cep.ep, 1);
  if (status != CWY_OK) {
    throw Error(status, "conduit {} cannot serve several threads: {}", cep.conduit->name(),
                status_name(status));
  }
  lock_serial_tables(cep);  // in place: connections point to them
}

}  // namespace causeway
