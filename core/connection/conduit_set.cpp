#include "connection/conduit_set.h"

#include <causeway/operations.h>

#include <algorithm>
#include <cstdlib>

#include "base/log.h"
#include "config/load_config.h"
#include "connection/fallbacks.h"
#include "connection/op_tables.h"
#include "connection/prepare.h"
#include "loader/check_options.h"
#include "loader/one_line.h"
#include "loader/plugin_call.h"
#include "loader/signal_keeper.h"
#include "spawn/job_words.h"

namespace causeway {
namespace {

// Far above what any transport needs: what is more was written by mistake, and is not allocated.
constexpr uint64_t kLargestObject = 1 << 20;

// A capability that the configuration forbids does not count.
void forbid(const Conduit& conduit, uint64_t& caps) {
  for_each_operation([&](const auto& operation) {
    if (operation.native != nullptr && !conduit.allows(operation.native))
      caps &= ~operation.capability;
  });
  if (!conduit.allows("direct")) caps &= ~uint64_t{CWYC_CAP_DIRECT};
}

// Of the connections of that table. `told`: what ep_query answered.
cwyc_class_attr class_of_table(const ConduitEp& cep, const cwyc_ep_attr& told, uint32_t table) {
  cwyc_class_attr out{};
  out.head = CWY_HEAD(cwyc_class_attr);
  if (const auto query = cep.conduit->module().class_query; query != nullptr) {
    const cwy_status status = query(cep.ep, table, &out);
    if (status != CWY_OK)
      throw Error(status, "conduit {}: class_query of table {} answered {}", cep.conduit->name(),
                  table, reason({}, status));
  } else {
    out.caps = told.caps;
    out.rma_max = told.rma_max;
    out.am_medium_max = told.am_medium_max;
    out.am_long_max = told.am_long_max;
    out.iov_max = told.iov_max;
    std::copy(std::begin(told.atomic_ops), std::end(told.atomic_ops), out.atomic_ops);
    out.speed = told.speed;
  }
  out.caps &= ~uint64_t{CWYC_CAPS_OF_EP};
  // A promise about an entry that is not there is none.
  uint64_t of_entries = 0, offered = 0;
  for_each_operation([&]<typename Each>(const Each& operation) {
    of_entries |= operation.capability;
    if (cep.conduit->plugin().ops[table].*Each::member != nullptr) offered |= operation.capability;
  });
  out.caps &= offered | ~of_entries;
  // A right that serves several peers is not the memory of one.
  if (cep.conduit->plugin().lacks_direct || (told.caps & CWYC_CAP_SHARED_KEYS) != 0)
    out.caps &= ~uint64_t{CWYC_CAP_DIRECT};
  // 0 is no limit; the paths that compare lengths with it need not know.
  if (out.rma_max == 0) out.rma_max = UINT64_MAX;
  return out;
}

// The least that clients are promised, and that the core's own messages need.
void require_limits(const ConduitEp& cep, const cwyc_class_attr& one) {
  constexpr uint64_t kLeast = 512;
  if (one.am_medium_max >= kLeast && (one.am_long_max == 0 || one.am_long_max >= kLeast)) return;
  throw Error(CWY_ERR_INVALID,
              "conduit {}: am_medium_max is {} and am_long_max {}, where {} is the least",
              cep.conduit->name(), one.am_medium_max, one.am_long_max, kLeast);
}

// Asks for the classes. What the endpoint can is from then on what all of them can: the one place
// where that is formed.
void read_classes(ConduitEp& cep) {
  const cwyc_ep_attr told = cep.attr;
  cwyc_ep_attr& all = cep.attr;
  all.rma_max = all.am_medium_max = all.am_long_max = all.iov_max = UINT64_MAX;
  std::fill(std::begin(all.atomic_ops), std::end(all.atomic_ops), UINT64_MAX);
  uint64_t every = UINT64_MAX, mapped = 0;
  const size_t tables = cep.conduit->plugin().ops.size();
  if (told.ops_tables == 0 || told.ops_tables > tables)
    throw Error(CWY_ERR_INVALID, "conduit {}: ops_tables is {}, and the module has {} tables",
                cep.conduit->name(), told.ops_tables, tables);
  for (uint32_t table = 0; table < told.ops_tables; ++table) {
    cwyc_class_attr one = class_of_table(cep, told, table);
    require_limits(cep, one);
    every &= one.caps;
    mapped |= one.caps & CWYC_CAP_DIRECT;
    all.rma_max = std::min(all.rma_max, one.rma_max);
    all.am_medium_max = std::min(all.am_medium_max, one.am_medium_max);
    all.am_long_max = std::min(all.am_long_max, one.am_long_max);
    all.iov_max = std::min(all.iov_max, one.iov_max);
    for (size_t t = 0; t < std::size(one.atomic_ops); ++t) all.atomic_ops[t] &= one.atomic_ops[t];
    forbid(*cep.conduit, one.caps);
    cep.classes.push_back(one);
  }
  all.caps = (told.caps & CWYC_CAPS_OF_EP) | every | mapped;
}

// Enough for every purpose of a medium, and it fits the 32 bits in which limits are kept.
constexpr size_t kMediumMax = size_t{1} << 30;

const char* exported(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Conduit::Conduit(uint32_t index, const ConduitSpec& spec, ConfiguredConduit configured,
                 const std::string& job_key)
    : index_(index),
      spec_(spec),
      name_(spec.lane == 0 ? spec.name : fmt::format("{}.{}", spec.name, spec.lane)),
      configured_(std::move(configured)) {
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  cwyc_domain_params params{
      CWY_HEAD(cwyc_domain_params), device().name.c_str(),         {},
      exported("SLINGSHOT_VNIS"),   exported("SLINGSHOT_SVC_IDS"), exported("SLINGSHOT_DEVICES")};
  job_key.copy(reinterpret_cast<char*>(params.job_key), sizeof params.job_key);
  const SignalKeeper keeper;
  const auto open = [&] {
    return module().domain_open(as_c(configured_.options.get()), &params, &domain_, &err);
  };
  const cwy_status status = plugin_object({"conduit", name_}, "domain_open", domain_, err, open);
  if (status == CWY_OK) return;
  for (const auto& [key, where] : configured_.option_origins)
    if (status == CWY_ERR_INVALID && text_of(err).starts_with(fmt::format("option '{}'", key)))
      throw OptionRefused(where, fmt::format("conduit {}: {}", name_, text_of(err)));
  throw Error(status, "conduit {} ({}): {}", name_, spec_.where.str(), reason(err, status));
}

Conduit::~Conduit() {
  if (domain_ != nullptr) module().domain_close(domain_);
}

bool Conduit::allows(const char* operation) const {
  return !spec_.native || std::ranges::find(*spec_.native, operation) != spec_.native->end();
}

bool Conduit::has_atomics() const {
  return std::ranges::any_of(plugin().ops, [](const cwyc_ops& ops) { return ops.atomic; });
}

namespace {

// Room for what a call of the conduit's writes: `bytes`, `length` and `err` are its arguments.
struct Writing {
  explicit Writing(uint64_t most) : bytes(most, '\0'), length(most) {}

  // Makes the call, and answers what it has written.
  std::string by(const ConduitEp& cep, const char* name, CallRef call) {
    const cwy_status status = plugin_call({"conduit", cep.conduit->name()}, name, call);
    if (status != CWY_OK)
      throw Error(status, "conduit {}: {}", cep.conduit->name(), reason(err, status));
    if (length > bytes.size())
      throw Error(CWY_ERR_INVALID, "conduit {}: {} wrote {} bytes, of at most {}",
                  cep.conduit->name(), name, length, bytes.size());
    bytes.resize(length);
    return std::move(bytes);
  }

  std::string bytes;
  uint64_t length;
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
};

}  // namespace

std::string ConduitEp::address() const {
  Writing out(attr.ep_address_max);
  return out.by(*this, "ep_address", [&] {
    return conduit->module().ep_address(ep, out.bytes.data(), &out.length, &out.err);
  });
}

std::string ConduitEp::wiring(cwy_peer peer) const {
  Writing out(attr.ep_address_max);
  return out.by(*this, "wiring", [&] {
    return conduit->module().wiring(ep, peer, out.bytes.data(), &out.length, &out.err);
  });
}

std::optional<std::string> ConduitEp::packed_right(cwyc_mem* mem) const {
  Writing out(attr.rkey_max);
  bool none = false;
  std::string right = out.by(*this, "rkey_pack", [&] {
    const cwy_status status =
        conduit->module().rkey_pack(mem, out.bytes.data(), &out.length, &out.err);
    none = status == CWY_ERR_UNSUPPORTED;
    return none ? CWY_OK : status;
  });
  return none ? std::nullopt : std::optional(std::move(right));
}

uint32_t ConduitEp::progress(uint32_t budget, uint32_t lane) {
  if (__builtin_expect(takes_over, 0)) return progress_and_run(*this, budget, lane);
  return conduit->module().progress(ep, budget, lane);
}

ConduitEp::~ConduitEp() {
  if (ep == nullptr) return;
  taken.drop(*this);
  conduit->module().ep_close(ep);
}

Conduit* ConduitSet::find(const std::string& name) const {
  for (const auto& conduit : conduits)
    if (conduit->name() == name) return conduit.get();
  return nullptr;
}

Conduit* ConduitSet::lane_of(const std::string& name, uint32_t pair) const {
  const Conduit* const first = find(name);
  if (first == nullptr) return nullptr;
  return conduits[first->index() + pair % first->spec().lanes].get();
}

Conduit* ConduitSet::first_lane(const Conduit* conduit) const {
  return conduits[conduit->index() - conduit->spec().lane].get();
}

void ConduitSet::open(ConduitSpec spec, const ConfiguredConduit& configured,
                      const std::string& job_key) {
  std::vector<std::unique_ptr<Conduit>> lanes;
  for (; spec.lane < spec.lanes; ++spec.lane) {
    const auto index = static_cast<uint32_t>(conduits.size() + lanes.size());
    lanes.push_back(std::make_unique<Conduit>(index, spec, configured, job_key));
  }
  std::ranges::move(lanes, std::back_inserter(conduits));
}

ConduitSet open_conduits(Config config, Loader& loader, WhichConduits which,
                         const OwnPlace& place) {
  if (which == WhichConduits::used_on_one_host)
    std::erase_if(config.peers, [](const PeerRule& r) { return r.locality == Locality::remote; });
  ConduitSet set;
  Problems problems;
  std::vector<PreparedConduit> prepared =
      prepare_conduits(config, loader, which, set.failures, problems, &place);
  // A wrong option is the user's mistake and ends the program; a device that cannot be opened is a
  // property of this machine and obeys on_load_error.
  for (const PreparedConduit& one : prepared) {
    const ConduitSpec& spec = *one.spec;
    const bool asked_for = spec.where.source != kBuiltInSource;
    try {
      set.open(spec, one.configured, place.job_key);
    } catch (const OptionRefused& e) {
      problems.add(e.where, e.text());
    } catch (const Error& e) {
      if (asked_for && config.on_load_error == LoadErrorPolicy::fail) throw;
      const bool warn = asked_for && config.on_load_error == LoadErrorPolicy::warn;
      log(warn && speaks_for_host(e.text()) ? LogLevel::warn : LogLevel::info, "{}", e.text());
      set.failures.push_back({spec.name, e.text()});
    }
  }
  if (!problems.empty()) throw Error(CWY_ERR_INVALID, "{}", problems.text(kMostProblemsSaid));
  return set;
}

std::unique_ptr<ConduitEp> open_conduit_ep(Conduit& conduit, Endpoint* owner, uint32_t index,
                                           uint32_t multithreaded, uint32_t max_peers,
                                           cwyc_deliver_fn deliver, cwyc_place_fn place) {
  auto out = std::make_unique<ConduitEp>();
  out->conduit = &conduit;
  out->owner = owner;
  out->deliver = deliver;
  if (conduit.plugin().ops[0].concurrency != CWYC_MULTI) deliver = deliver_or_take;
  const cwyc_ep_params params{
      CWY_HEAD(cwyc_ep_params), out.get(), deliver, index, multithreaded, max_peers, 0, place, {}};
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  const SignalKeeper keeper;
  const PluginName whose{"conduit", conduit.name()};
  const auto open = [&] {
    return conduit.module().ep_open(conduit.domain(), &params, &out->ep, &err);
  };
  cwy_status status = plugin_object(whose, "ep_open", out->ep, err, open);
  if (status != CWY_OK) {
    out->ep = nullptr;
    throw Error(status, "conduit {} ({}): {}", conduit.name(), conduit.spec().where.str(),
                reason(err, status));
  }
  out->attr.head = CWY_HEAD(cwyc_ep_attr);
  status = plugin_call(whose, "ep_query",
                       [&] { return conduit.module().ep_query(out->ep, &out->attr); });
  if (status != CWY_OK)
    throw Error(status, "conduit {}: ep_query answered {}", conduit.name(), reason({}, status));
  for (const auto& [what, size] : {std::pair{"ep_address_max", out->attr.ep_address_max},
                                   {"rkey_max", out->attr.rkey_max},
                                   {"conn_size", out->attr.conn_size}}) {
    if (size > kLargestObject)
      throw Error(CWY_ERR_INVALID,
                  "conduit {}: ep_query answers a {} of {}, at most {} are possible",
                  conduit.name(), what, size, kLargestObject);
  }
  read_classes(*out);
  out->caps = out->attr.caps;
  forbid(conduit, out->caps);
  make_tables(*out);
  if (multithreaded != 0) admit_threads(*out);
  // Emulated longs serve memory that a native long cannot reach, so the limit is the smaller of
  // both: it must not change when segments come and go.
  out->limits = {std::min<size_t>(out->attr.am_medium_max, kMediumMax), kEmulatedLongMax};
  for (size_t i = 0; i < out->classes.size(); ++i)
    if (is_native<&cwyc_ops::am_long>(out->inner[i]))
      out->limits.long_max = std::min<size_t>(out->limits.long_max, out->classes[i].am_long_max);
  return out;
}

void raise_conduit_ep(ConduitEp& cep) {
  const cwy_status status = cep.conduit->module().ep_threads(cep.ep, 1);
  if (status != CWY_OK)
    throw Error(status, "conduit {} cannot serve several threads: {}", cep.conduit->name(),
                reason({}, status));
  admit_threads(cep);
}

}  // namespace causeway
