#include "objects.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include "../../common/plugin_error.h"
#include "../common/adapter_facts.h"
#include "../common/main_interface.h"
#include "../common/shared_room.h"

namespace causeway::ofi {
namespace {

// In order of preference; what is not listed is used only when named. Connected endpoints where
// the provider's own reliable datagrams are a software layer over them, which would cost a layer
// for nothing; reliable datagrams where they are the hardware's. `sockets` and `udp` are slower
// than `tcp` on the same wire and never better; `shm` reaches one host only, which a network
// conduit must not be surprised by.
struct Candidate {
  const char* provider;
  bool msg;
  const char* why;
};
constexpr Candidate candidates[] = {
    {"cxi", false, "Slingshot adapter"},
    {"efa", false, "EFA adapter"},
    {"opx", false, "Omni-Path adapter"},
    {"psm3", false, "adapter driven by PSM3"},
    {"psm2", false, "Omni-Path adapter"},
    {"verbs", true, "RDMA adapter; connected endpoints avoid a layer"},
    {"tcp", true, "no RDMA adapter found; connected endpoints avoid the ofi_rxm layer"},
};
// Connected endpoints for these when the provider is named and `endpoint` is auto.
bool prefers_msg(const std::string& provider) {
  return provider == "tcp" || provider == "verbs" || provider == "net";
}

constexpr uint64_t known_mr_modes = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
                                    FI_MR_PROV_KEY | FI_MR_ENDPOINT | FI_MR_RMA_EVENT;

bool is_loopback(const fi_info& info) {
  if (info.src_addr == nullptr) return false;
  if (info.addr_format == FI_SOCKADDR_IN) {
    const auto* in = static_cast<const sockaddr_in*>(info.src_addr);
    return (ntohl(in->sin_addr.s_addr) >> 24) == 127;
  }
  if (info.addr_format == FI_SOCKADDR_IN6)
    return IN6_IS_ADDR_LOOPBACK(&static_cast<const sockaddr_in6*>(info.src_addr)->sin6_addr);
  return false;
}

std::string address_text(const fi_info& info) {
  char text[INET6_ADDRSTRLEN] = {};
  if (info.src_addr == nullptr) return "";
  if (info.addr_format == FI_SOCKADDR_IN)
    inet_ntop(AF_INET, &static_cast<const sockaddr_in*>(info.src_addr)->sin_addr, text,
              sizeof text);
  if (info.addr_format == FI_SOCKADDR_IN6)
    inet_ntop(AF_INET6, &static_cast<const sockaddr_in6*>(info.src_addr)->sin6_addr, text,
              sizeof text);
  return text;
}

std::string name_of(const fi_info& info) {
  return info.domain_attr->name != nullptr ? info.domain_attr->name : "";
}
std::string provider_of(const fi_info& info) {
  return info.fabric_attr->prov_name != nullptr ? info.fabric_attr->prov_name : "";
}

// Global before link-local addresses: the latter need a scope that peers do not have.
bool is_link_local(const fi_info& info) {
  return info.addr_format == FI_SOCKADDR_IN6 && info.src_addr != nullptr &&
         IN6_IS_ADDR_LINKLOCAL(&static_cast<const sockaddr_in6*>(info.src_addr)->sin6_addr);
}

// `main`: the interface that leads away from this host.
int rank_of(const fi_info& info, const std::string& main) {
  return (is_loopback(info) ? 8 : 0) + (is_link_local(info) ? 4 : 0) +
         (info.addr_format == FI_SOCKADDR_IN6 ? 2 : 0) + (name_of(info) == main ? 0 : 1);
}

Info hints_for(const Options& options, const std::string& provider, bool msg, uint64_t caps) {
  Info hints(fi_allocinfo());
  if (!hints) return hints;
  hints->caps = caps;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = msg ? FI_EP_MSG : FI_EP_RDM;
  hints->domain_attr->mr_mode = static_cast<int>(known_mr_modes);
  if ((caps & FI_HMEM) != 0) hints->domain_attr->mr_mode |= FI_MR_HMEM;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;  // the plugin's own lock stands in front
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  // Asked for by name: left open, `sockets` starts a thread in every process that spins for 10 ms
  // at a time, and on a busy machine an operation takes 16 ms. Hardware that moves on by itself
  // satisfies MANUAL as well.
  hints->domain_attr->data_progress = hints->domain_attr->control_progress =
      options.progress == Progress::automatic ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
  hints->tx_attr->size = options.tx_size;
  hints->rx_attr->size = options.rx_size;
  hints->fabric_attr->prov_name = strdup(provider.c_str());
  return hints;
}

// The interfaces of one provider, the most useful first; empty when there are none. Extras are
// asked for first and given up one by one, in the order of their cost when missing.
struct Found {
  std::vector<fi_info*> infos;  // point into `list`
  Info list;
  uint64_t caps = 0;
};

Found look(const Options& options, const std::string& provider, bool msg) {
  constexpr uint64_t base = FI_MSG | FI_RMA;
  std::vector<uint64_t> extras;
  const uint64_t hmem = options.hmem ? FI_HMEM : 0;
  // libfabric 1.17's shm loses updates when two endpoints of one process update the same word
  // (Atomic.concurrent_through_the_conduit of the conformance suite): the core's are used instead.
  const bool broken = provider == "shm";
  const uint64_t atomic = options.atomics == Native::never || broken ? 0 : FI_ATOMIC;
  // shm takes longer to fill a buffer of many frames than to take one for each.
  const bool many = options.multi_receive == MultiReceive::always ||
                    (options.multi_receive == MultiReceive::automatic && provider != "shm");
  const uint64_t multi = many ? FI_MULTI_RECV : 0;
  for (const uint64_t set : {hmem | atomic | multi, hmem | atomic, hmem | multi, hmem,
                             atomic | multi, atomic, multi, uint64_t{0}})
    if (std::find(extras.begin(), extras.end(), set) == extras.end()) extras.push_back(set);
  Found found;
  for (const uint64_t extra : extras) {
    const Info hints = hints_for(options, provider, msg, base | extra);
    if (!hints) return found;
    fi_info* list = nullptr;
    if (fi_getinfo(FI_VERSION(1, 15), nullptr, nullptr, 0, hints.get(), &list) != 0) continue;
    found.list.reset(list);
    found.caps = base | extra;
    for (fi_info* i = list; i != nullptr; i = i->next) {
      // "tcp" also matches "tcp;ofi_rxm" and the like: a layer must be asked for.
      if (provider_of(*i) == provider) found.infos.push_back(i);
    }
    if (!found.infos.empty()) break;
  }
  const std::string main = main_interface();
  std::stable_sort(found.infos.begin(), found.infos.end(), [&](const fi_info* a, const fi_info* b) {
    return rank_of(*a, main) < rank_of(*b, main);
  });
  return found;
}

bool names(const fi_info& info, const std::string& device) {
  return name_of(info) == device || address_text(info) == device ||
         name_of(info) + "/" + address_text(info) == device;
}

std::string describe(const fi_info& info) {
  const std::string address = address_text(info);
  return address.empty() ? name_of(info) : name_of(info) + "/" + address;
}

// fi_endpoint(3), max_order_raw_size: a read behind a write "smaller than" that sees its data.
// Whole cache lines, so that the pieces of a longer put begin where it did.
uint64_t ordered_write(size_t below) {
  constexpr uint64_t line = 64;
  if (below == SIZE_MAX) return UINT64_MAX;
  return below > line ? (below - 1) / line * line : 0;
}

void fill(Path& out, const Found& found, const fi_info& info, bool msg) {
  out.info.reset(fi_dupinfo(&info));
  fi_info& own = *out.info;
  out.provider = provider_of(own);
  out.device = describe(own);
  out.msg = msg;
  out.multi_receive = (found.caps & own.caps & FI_MULTI_RECV) != 0;
  out.atomics = (found.caps & own.caps & FI_ATOMIC) != 0;
  out.loopback = is_loopback(own);
  out.host_only = out.provider == "shm";
  out.local_mr = (own.domain_attr->mr_mode & FI_MR_LOCAL) != 0;
  out.endpoint_mr = (own.domain_attr->mr_mode & FI_MR_ENDPOINT) != 0;
  out.shared_receive = msg && own.domain_attr->max_ep_srx_ctx > 0;
  const uint64_t order = own.tx_attr->msg_order & own.rx_attr->msg_order;
  out.order_send_after_write = (order & FI_ORDER_SAW) != 0;
  if ((order & (FI_ORDER_RAW | FI_ORDER_RMA_RAW)) != 0)
    out.ordered_write = ordered_write(own.ep_attr->max_order_raw_size);
}

// Providers without delivery-complete answer a request for it with nothing.
bool has_delivery_complete(const Options& options, const Path& path, uint64_t caps) {
  const Info hints = hints_for(options, path.provider, path.msg, caps);
  if (!hints) return false;
  hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
  hints->domain_attr->name = strdup(name_of(*path.info).c_str());
  fi_info* list = nullptr;
  if (fi_getinfo(FI_VERSION(1, 15), nullptr, nullptr, 0, hints.get(), &list) != 0) return false;
  const Info owner(list);
  for (const fi_info* i = list; i != nullptr; i = i->next)
    if (provider_of(*i) == path.provider) return true;
  return false;
}

// Some provider's interface `device`, or its best one. False: `reasons` says why not.
bool try_provider(const Options& options, const std::string& provider, bool msg,
                  const std::string& device, Path& out, std::string& reasons) {
  const auto refuse = [&](const std::string& why) {
    reasons += (reasons.empty() ? "" : "; ") + provider + (msg ? " (msg): " : " (rdm): ") + why;
    return false;
  };
  const Found found = look(options, provider, msg);
  if (found.infos.empty()) return refuse("libfabric offers no such endpoint here");
  std::string known;
  for (const fi_info* info : found.infos) {
    if (device.empty() || names(*info, device)) {
      if (msg && (info->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0)
        return refuse("registrations belong to single connections");
      fill(out, found, *info, msg);
      out.delivery_complete = has_delivery_complete(options, out, found.caps);
      return true;
    }
    known += (known.empty() ? "" : ", ") + describe(*info);
  }
  return refuse("no device '" + device + "'; it has " + known);
}

struct Attempt {
  std::string provider;
  bool msg;
  std::string why;
};

std::vector<Attempt> attempts(const Options& options) {
  std::vector<Attempt> list;
  const auto add = [&](const std::string& provider, bool msg, const std::string& why) {
    if (options.endpoint == EndpointKind::automatic ||
        (options.endpoint == EndpointKind::msg) == msg)
      list.push_back({provider, msg, why});
  };
  if (!options.provider.empty()) {
    const bool first = prefers_msg(options.provider);
    add(options.provider, first, "named in the configuration");
    add(options.provider, !first, "named in the configuration");
    return list;
  }
  for (const Candidate& c : candidates) add(c.provider, c.msg, c.why);
  if (options.endpoint == EndpointKind::rdm) {
    add("verbs;ofi_rxm", false, "RDMA adapter");
    add("tcp;ofi_rxm", false, "no RDMA adapter found");
  }
  return list;
}

// Where ofi_rxm over verbs closes a connection (an endpoint's end, or the peer's), libfabric 1.17
// first frees it and then handles what came over it and was not read, which posts a buffer to it
// again and ends the process (hosts.rdma.library_close). Buffers that all connections share have no
// such connection. And where verbs answers a second registration of the same memory, or of a part
// of it, from its cache, both have one key, and ofi_rxm refuses the second (FI_ENOKEY). libfabric
// looks at the variables in the first call that a process makes of it; what the user has set stays.
void avoid_faults_of_layers(const std::vector<Attempt>& list) {
  const bool layered = std::any_of(list.begin(), list.end(),
                                   [](const Attempt& a) { return a.provider == "verbs;ofi_rxm"; });
  if (!layered) return;
  setenv("FI_OFI_RXM_USE_SRX", "1", 0);
  setenv("FI_MR_CACHE_MAX_COUNT", "0", 0);
}

// What the kernel knows of the interface, and libfabric where the kernel does not.
AdapterFacts facts_of(const fi_info& info) {
  const std::string name = name_of(info), provider = provider_of(info);
  AdapterFacts facts = rdma_facts(name, 1);
  if (facts.ports == 0) facts = interface_facts(name);
  // A host's interfaces of another kind may lie in different networks: nobody knows.
  facts.network = provider == "cxi" || provider == "efa" ? 1 : 0;
  if (info.nic == nullptr) return facts;
  const fi_bus_attr* bus = info.nic->bus_attr;
  if (facts.path.empty() && bus != nullptr && bus->bus_type == FI_BUS_PCI) {
    const fi_pci_attr& at = bus->attr.pci;
    char path[64];
    std::snprintf(path, sizeof path, "/sys/bus/pci/devices/%04x:%02x:%02x.%x", at.domain_id,
                  at.bus_id, at.device_id, at.function_id);
    sysfs::find_place(path, facts);
  }
  const fi_link_attr* link = info.nic->link_attr;
  if (link == nullptr) return facts;
  if (facts.speed == 0) facts.speed = link->speed / 8;
  if (facts.state == CWYC_DEVICE_UNKNOWN && link->state != FI_LINK_UNKNOWN)
    facts.state = link->state == FI_LINK_UP ? CWYC_DEVICE_UP : CWYC_DEVICE_DOWN;
  return facts;
}

// Providers that do not keep what they promise, and why; NULL for all others.
const char* refusal_of(const std::string& provider) {
  if (provider == "sockets")
    return "libfabric has given it up, and connecting to a peer that has died never ends; `tcp` "
           "uses the same wire";
  if (provider.find("ofi_rxd") != std::string::npos)
    return "libfabric 1.17 crashes in it when atomics come; `tcp` uses the same wire";
  return nullptr;
}

// The drivers of fabrics list their devices there. A first call of libfabric's takes an eighth of a
// second of the processor: its provider verbs reads the kernel's symbols, twice.
bool host_has_fabric() {
  return ::access("/sys/class/infiniband", F_OK) == 0 || ::access("/sys/class/cxi", F_OK) == 0 ||
         ::access("/sys/class/cxi_user", F_OK) == 0;
}

// A provider that the environment names is wanted too.
bool leaves_ethernet(const Options& options) {
  return options.ethernet == Ethernet::leave && std::getenv("FI_PROVIDER") == nullptr;
}

}  // namespace

// libfabric offers `shm` only where each processor could have an endpoint of its.
std::string complaint_of_shared_memory(const std::string& provider) {
  constexpr uint64_t endpoint_bytes = 16 << 20;
  if (provider != "shm") return {};
  return complaint_of_dev_shm("shm", endpoint_bytes * static_cast<uint64_t>(get_nprocs()));
}

cwy_status choose_path(const Options& options, const char* device, Path& out, cwy_err* err) {
  if (const char* why = refusal_of(options.provider); why != nullptr && !options.allow_faulty)
    return report(
        err, CWY_ERR_UNSUPPORTED,
        "libfabric's provider %s is not used: %s (allow_faulty: true takes it all the same)",
        options.provider.c_str(), why);
  const std::string wanted = *device != '\0' ? device : options.domain;
  const bool named = !wanted.empty() || !options.provider.empty();
  if (!named && leaves_ethernet(options) && !host_has_fabric())
    return report(
        err, CWY_ERR_UNREACHABLE,
        "this host has no fabric (no /sys/class/infiniband, no /sys/class/cxi), and Ethernet "
        "is left to the conduit eth (ethernet: take says otherwise)");
  const std::vector<Attempt> list = attempts(options);
  avoid_faults_of_layers(list);
  std::string reasons;
  for (const Attempt& a : list) {
    if (a.provider == "tcp" && !named && leaves_ethernet(options)) {
      reasons += "; tcp: Ethernet is left to the conduit eth (ethernet: take says otherwise)";
      continue;
    }
    if (!try_provider(options, a.provider, a.msg, wanted, out, reasons)) continue;
    out.why = a.why;
    return CWY_OK;
  }
  reasons += complaint_of_shared_memory(options.provider);
  return report(err, named ? CWY_ERR_INVALID : CWY_ERR_UNREACHABLE,
                "no usable libfabric provider: %s", reasons.c_str());
}

// Tells of every interface of the providers that would be tried.
void Network::list_devices(const Options& options, cwyc_device_fn fn, void* arg) {
  const bool named = !options.domain.empty() || !options.provider.empty();
  if (!named && leaves_ethernet(options) && !host_has_fabric()) return;  // open says why
  std::set<std::string> listed;
  const std::vector<Attempt> list = attempts(options);
  avoid_faults_of_layers(list);
  for (const Attempt& a : list) {
    const Found found = look(options, a.provider, a.msg);
    for (const fi_info* info : found.infos) {
      const std::string device = ofi::describe(*info);
      if (!listed.insert(device).second) continue;
      tell_device(fn, arg, device,
                  a.provider + (a.msg ? ", connected endpoints" : ", reliable datagrams"),
                  facts_of(*info));
    }
    if (!found.infos.empty()) return;  // these are the ones that an open would choose from
  }
}

}  // namespace causeway::ofi
