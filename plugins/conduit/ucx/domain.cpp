// Opening a UCX context with the options of the configuration.
#include "domain.h"
#include "endpoint.h"

#include <sys/stat.h>
#include <ucs/debug/debug.h>
#include <uct/api/uct.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../common/adapter_facts.h"
#include "../common/main_interface.h"
#include "../common/open_files.h"
#include "guard.h"
#include "services.h"

cwyc_domain::~cwyc_domain() {
  if (context != nullptr && !worker_left) ucp_cleanup(context);
}

namespace causeway::ucx {
namespace {

std::mutex g_environment;

// A device that UCX's transports find on this host.
struct Device {
  std::string transports;  // "tcp", "rc_verbs, ud_verbs"
  bool network = false;
};

void add_resources(uct_md_h md, std::map<std::string, Device>& out) {
  uct_tl_resource_desc_t* resources = nullptr;
  unsigned count = 0;
  if (uct_md_query_tl_resources(md, &resources, &count) != UCS_OK) return;
  for (unsigned i = 0; i < count; ++i) {
    const uct_tl_resource_desc_t& r = resources[i];
    if (r.dev_type != UCT_DEVICE_TYPE_NET && r.dev_type != UCT_DEVICE_TYPE_SHM) continue;
    Device& device = out[r.dev_name];
    device.network = r.dev_type == UCT_DEVICE_TYPE_NET;
    if (!device.transports.empty()) device.transports += ", ";
    device.transports += r.tl_name;
  }
  uct_release_tl_resource_list(resources);
}

void add_component(uct_component_h component, std::map<std::string, Device>& out) {
  uct_component_attr_t attr{};
  attr.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
  if (uct_component_query(component, &attr) != UCS_OK || attr.md_resource_count == 0) return;
  std::vector<uct_md_resource_desc_t> resources(attr.md_resource_count);
  attr.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
  attr.md_resources = resources.data();
  if (uct_component_query(component, &attr) != UCS_OK) return;
  for (const uct_md_resource_desc_t& resource : resources) {
    uct_md_config_t* config = nullptr;
    if (uct_md_config_read(component, nullptr, nullptr, &config) != UCS_OK) continue;
    uct_md_h md = nullptr;
    if (uct_md_open(component, resource.md_name, config, &md) == UCS_OK) {
      add_resources(md, out);
      uct_md_close(md);
    }
    uct_config_release(config);
  }
}

std::map<std::string, Device> look() {
  std::map<std::string, Device> out;
  uct_component_h* components = nullptr;
  unsigned count = 0;
  if (uct_query_components(&components, &count) != UCS_OK) return out;
  for (unsigned i = 0; i < count; ++i) add_component(components[i], out);
  uct_release_component_list(components);
  return out;
}

// By UCX's name of the device: "eth0", "mlx5_0:1", and "memory" for this host's shared memory.
// Looked for once: UCX opens each of them for that.
const std::map<std::string, Device>& find_devices() {
  static const std::map<std::string, Device> found = look();
  return found;
}

struct ReleaseConfig {
  void operator()(ucp_config_t* config) const { ucp_config_release(config); }
};
using Config = std::unique_ptr<ucp_config_t, ReleaseConfig>;

// A value of UCX_NAME as the context will see it; none: the name is not the context's.
std::optional<std::string> find_value(const ucp_config_t* config, const std::string& name) {
  char* text = nullptr;
  size_t length = 0;
  std::FILE* memory = open_memstream(&text, &length);
  if (memory == nullptr) return {};
  ucp_config_print(config, memory, nullptr, UCS_CONFIG_PRINT_CONFIG);
  std::fclose(memory);
  const std::string all(text, length);
  std::free(text);
  const std::string key = "UCX_" + name + "=";
  size_t at = all.find(key);
  if (at != 0 && at != std::string::npos) at = all.find("\n" + key);
  if (at == std::string::npos) return {};
  at = all.find('=', at) + 1;
  return all.substr(at, all.find('\n', at) - at);
}
std::string value_of(const ucp_config_t* config, const std::string& name) {
  return find_value(config, name).value_or("");
}

// `blamed`: "option 'tls': ", where that is what the value was written in.
cwy_status modify(ucp_config_t* config, const std::string& name, const std::string& value,
                  cwy_err* err, const char* blamed = "") {
  forget_complaint();
  const ucs_status_t status = ucp_config_modify(config, name.c_str(), value.c_str());
  if (status == UCS_OK) return CWY_OK;
  return report(err, CWY_ERR_INVALID, "%sUCX does not take %s=%s: %s; see 'ucx_info -cf'", blamed,
                name.c_str(), value.c_str(), explain(status).c_str());
}

// Sets how long a peer may be silent in the parts of UCX that can notice it. A kernel's probes
// begin after half of the time, so that all of them are over when it has passed.
cwy_status modify_keepalive(ucp_config_t* config, TransportSettings& transports,
                            uint64_t timeout_ns, cwy_err* err) {
  const uint64_t timeout_s = std::max<uint64_t>(timeout_ns / 1'000'000'000, 3);
  const std::string idle = std::to_string(std::max<uint64_t>(timeout_s / 2, 1)) + "s";
  const std::string interval = std::to_string(std::max<uint64_t>(timeout_s / 6, 1)) + "s";
  transports.emplace_back("TCP_KEEPIDLE", idle);
  transports.emplace_back("TCP_KEEPINTVL", interval);
  transports.emplace_back("TCP_KEEPCNT", "3");
  return modify(config, "KEEPALIVE_INTERVAL", interval, err);
}

// Has the user said something about UCX_NAME? What stands in the environment while another thread
// opens a domain (InEnvironment) is not the user's.
bool is_set(const Options& options, const std::string& name) {
  const std::lock_guard alone(g_environment);
  return std::getenv(("UCX_" + name).c_str()) != nullptr ||
         std::any_of(options.settings.begin(), options.settings.end(),
                     [&](const auto& setting) { return setting.first == name; });
}

// A segment of UCX's TCP holds this much: 130 KiB and headers. Its own default, 8 KiB, makes eight
// system calls at either end of what is one message here. What the user says comes first.
constexpr const char* kSegment = "132k";
constexpr size_t kSegmentRoom = 130 << 10;
constexpr const char* kSegments[] = {"TCP_TX_SEG_SIZE", "TCP_RX_SEG_SIZE"};

bool is_widened(const Options& options) {
  return std::none_of(std::begin(kSegments), std::end(kSegments),
                      [&](const char* name) { return is_set(options, name); });
}

void widen_tcp(TransportSettings& transports, const Options& options) {
  for (const char* name : kSegments)
    if (!is_set(options, name)) transports.emplace_back(name, kSegment);
}

// Is TCP what reaches other processes, by `tls` or because there is nothing else?
bool network_is_tcp(const std::string& tls) {
  if (only_tcp(tls)) return true;
  const auto& devices = find_devices();
  return std::none_of(devices.begin(), devices.end(), [](const auto& entry) {
    return entry.second.network && entry.second.transports != "tcp";
  });
}

bool within_one_host() {
  return services->job->local_count == services->job->size;
}

// UCX fetches long payloads over two interfaces at once if it finds two. Within one host both are
// the same memory, and the second connection only costs: sums of 8 MiB took a tenth longer.
cwy_status narrow_rails(ucp_config_t* config, const Options& options, cwy_err* err) {
  constexpr const char* kRails = "MAX_RNDV_RAILS";
  const bool over_tcp = options.tls.compare(0, 3, "tcp") == 0;
  if (!over_tcp || !within_one_host() || is_set(options, kRails)) return CWY_OK;
  return modify(config, kRails, "1", err);
}

// Applies what the user has set: of the context, or of a transport.
cwy_status apply(ucp_config_t* config, const std::string& name, const std::string& value,
                 TransportSettings& transports, cwy_err* err) {
  if (find_value(config, name)) return modify(config, name, value, err, "option 'settings': ");
  transports.emplace_back(name, value);
  return CWY_OK;
}

// System V's segments can be read by the user's group, and stay when a process is killed.
cwy_status leave_system_v(ucp_config_t* config, const Options& options, cwy_err* err) {
  if (!options.tls.empty()) return modify(config, "TLS", options.tls, err, "option 'tls': ");
  const bool chosen = is_set(options, "TLS") || value_of(config, "TLS") != "all";
  return chosen ? CWY_OK : modify(config, "TLS", "^sysv", err);
}

// Where UCX's objects have names, if only for a moment: a directory that our launcher removes, with
// what processes that were killed have left there. Empty: nobody would.
std::string posix_directory() {
  const std::string session = services->job->session_dir;
  if (session.empty()) return {};
  const std::string path = "/dev/shm" + session.substr(session.rfind('/')) + ".ucx";
  struct stat info {};
  const bool there = mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
  const bool own = there && lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
                   info.st_uid == geteuid() && (info.st_mode & 077) == 0;
  return own ? path : std::string();
}

cwy_status modify_all(ucp_config_t* config, const Options& options, TransportSettings& transports,
                      cwy_err* err) {
  // Memory from here must be zero. UCX's last resort, the heap, does not promise that; and POSIX
  // objects leave nothing behind when a process is killed.
  cwy_status status = modify(config, "ALLOC_PRIO", "md:posix,thp,md:*,mmap", err);
  if (status == CWY_OK && options.peer_timeout_ns != 0)
    status = modify_keepalive(config, transports, options.peer_timeout_ns, err);
  if (status == CWY_OK) status = leave_system_v(config, options, err);
  constexpr const char* kDirectory = "POSIX_DIR";
  if (!only_tcp(options.tls) && !is_set(options, kDirectory)) {
    if (std::string path = posix_directory(); !path.empty())
      transports.emplace_back(kDirectory, std::move(path));
  }
  // UCX's newer protocols, its default since 1.16, end a process whose first operation over a TCP
  // connection is a get or an atomic (tcp_ep.c:1041 in 1.18), and hang over 65,535 atomics at once.
  constexpr const char* kNewer = "PROTO_ENABLE";
  if (status == CWY_OK && !is_set(options, kNewer) && value_of(config, kNewer) == "y")
    status = modify(config, kNewer, "n", err);
  widen_tcp(transports, options);
  if (status == CWY_OK) status = narrow_rails(config, options, err);
  for (const auto& [name, value] : options.settings)
    if (status == CWY_OK) status = apply(config, name, value, transports, err);
  return status;
}

// Nothing but plain Ethernet is here, and nobody has named any of UCX's ways.
bool leaves_all(const Options& options, const char* device) {
  return options.leaves_ethernet && *device == '\0' && options.tls.empty() &&
         !is_set(options, "TLS") && !is_set(options, "NET_DEVICES") && network_is_tcp("");
}

cwy_status choose_device(ucp_config_t* config, const char* device, const Options& options,
                         cwy_err* err) {
  const auto& devices = find_devices();
  const auto found = devices.find(device);
  if (found == devices.end()) {
    std::string known;
    for (const auto& [name, unused] : devices) known += (known.empty() ? "" : ", ") + name;
    return report(err, CWY_ERR_INVALID, "device '%s' does not exist; UCX finds: %s", device,
                  known.empty() ? "none" : known.c_str());
  }
  if (found->second.network) return modify(config, "NET_DEVICES", device, err);
  return options.tls.empty() ? modify(config, "TLS", "posix,cma,self", err) : CWY_OK;
}

// Among several Ethernet interfaces UCX takes one by its speed, and may take one that leads nowhere
// (docker0 has the same address on every host). Where nobody has named any, only that of the
// default route remains, besides all that are more than Ethernet.
cwy_status narrow_ethernet(ucp_config_t* config, const Options& options, cwy_err* err) {
  constexpr const char* kDevices = "NET_DEVICES";
  // Within one host every address leads to everybody.
  if (is_set(options, kDevices) || within_one_host()) return CWY_OK;
  const std::string main = main_interface();
  std::string use;
  bool found = false, others = false;
  for (const auto& [name, device] : find_devices()) {
    if (!device.network) continue;
    const bool ethernet = device.transports == "tcp";
    found |= name == main;
    others |= ethernet && name != main;
    if (!ethernet || name == main) use += (use.empty() ? "" : ",") + name;
  }
  if (!found || !others) return CWY_OK;
  log(CWY_LOG_INFO, "Ethernet over %s, which the default route names; `device:` names another one",
      main.c_str());
  return modify(config, kDevices, use, err);
}

// No more than what is used here is asked of transports: each feature narrows UCX's choice.
ucs_status_t create_context(cwyc_domain& domain, const ucp_config_t* config) {
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME |
                      UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
  // A thread registers memory while another is inside the worker, which registers too.
  params.mt_workers_shared = 1;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
  if (domain.options.wakeup) params.features |= UCP_FEATURE_WAKEUP;
  params.name = "causeway";
  params.estimated_num_eps = services->job->size;
  const InEnvironment settings(domain.transports);
  return ucp_init(&params, config, &domain.context);
}

// Keys of one context are all of a size class: as many parts as it has memory domains.
cwy_status measure_keys(cwyc_domain& domain, cwy_err* err) {
  cwyc_mem* probe = nullptr;
  void* at = nullptr;
  const cwy_status status = Conduit::mem_alloc(&domain, 4096, &at, &probe, err);
  if (status != CWY_OK) return status;
  void* key = nullptr;
  size_t length = 0;
  const ucs_status_t packed = ucp_rkey_pack(domain.context, probe->handle, &key, &length);
  if (packed == UCS_OK) ucp_rkey_buffer_release(key);
  Conduit::mem_release(&domain, probe);
  if (packed != UCS_OK)
    return report(err, CWY_ERR_DEVICE_FAILED, "UCX cannot pack a memory key: %s",
                  explain(packed).c_str());
  domain.rkey_max = 2 * length + 128;
  return CWY_OK;
}

// UCX takes several devices at once, by its own measures, so none is offered to the core's choice:
// network stays 0.
AdapterFacts facts_of(const std::string& name, const Device& device) {
  AdapterFacts facts;
  const size_t colon = name.rfind(':');
  if (!device.network) {
    facts.state = CWYC_DEVICE_UP;
  } else if (colon == std::string::npos) {
    facts = interface_facts(name);
  } else {
    facts = rdma_facts(name.substr(0, colon),
                       static_cast<uint32_t>(std::strtoul(name.c_str() + colon + 1, nullptr, 10)));
    facts.network = 0;
  }
  return facts;
}

// UCX takes over the signals of crashes to print a trace. The launcher reports how a process died,
// and a handler in between would make that something else.
void leave_signals_alone() {
  static const bool done = [] {
    for (const int signal : {SIGILL, SIGSEGV, SIGBUS, SIGFPE}) ucs_debug_disable_signal(signal);
    return true;
  }();
  (void)done;
}

}  // namespace

InEnvironment::InEnvironment(const TransportSettings& settings) : alone_(g_environment) {
  for (const auto& [name, value] : settings) {
    const std::string variable = "UCX_" + name;
    const char* const old = std::getenv(variable.c_str());
    before_.emplace_back(variable, old != nullptr ? std::optional<std::string>(old) : std::nullopt);
    setenv(variable.c_str(), value.c_str(), 1);
  }
}

InEnvironment::~InEnvironment() {
  // Backwards: the first of two settings of one name has seen what was there.
  for (auto at = before_.rbegin(); at != before_.rend(); ++at)
    if (at->second)
      setenv(at->first.c_str(), at->second->c_str(), 1);
    else
      unsetenv(at->first.c_str());
}

cwy_status Conduit::list_devices(const cwy_options*, cwyc_device_fn fn, void* arg, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    for (const auto& [name, device] : find_devices())
      tell_device(fn, arg, name, device.transports, facts_of(name, device));
    return CWY_OK;
  });
}

cwy_status Conduit::domain_open(const cwy_options* opts, const cwyc_domain_params* params,
                                cwyc_domain** out, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    auto domain = std::make_unique<cwyc_domain>();
    cwy_status status = read_options(opts, domain->options, err);
    if (status != CWY_OK) return status;
    if (leaves_all(domain->options, params->device))
      return report(err, CWY_ERR_UNREACHABLE,
                    "UCX finds no fabric; Ethernet is left to the conduit eth (ethernet: take says "
                    "otherwise)");
    forget_complaint();
    ucp_config_t* raw = nullptr;
    const ucs_status_t read = ucp_config_read(nullptr, nullptr, &raw);
    if (read != UCS_OK)
      return report(err, CWY_ERR_INVALID, "UCX cannot read its settings: %s",
                    explain(read).c_str());
    const Config config(raw);
    if (*params->device != '\0')
      status = choose_device(raw, params->device, domain->options, err);
    else
      status = narrow_ethernet(raw, domain->options, err);
    if (status == CWY_OK) status = modify_all(raw, domain->options, domain->transports, err);
    if (status != CWY_OK) return status;
    // For a context and a worker. Where a context lacks some, UCX 1.13 aborts.
    if (const std::string files = complaint_of_open_files(12); !files.empty())
      return report(err, CWY_ERR_NOMEM, "UCX opens twelve files, and may abort where it cannot: %s",
                    files.c_str());
    const ucs_status_t made = create_context(*domain, raw);
    if (made != UCS_OK)
      return report(err, CWY_ERR_DEVICE_FAILED, "UCX finds no usable transport: %s",
                    explain(made).c_str());
    const std::string tls = value_of(raw, "TLS");
    domain->shared_memory = admits_shared_memory(tls);
    if (status = demand_file_size(*domain, shared_bytes, err); status != CWY_OK) return status;
    domain->only_shared_memory = only_shared_memory(tls);
    domain->over_tcp = !domain->only_shared_memory && network_is_tcp(tls);
    if (domain->over_tcp && is_widened(domain->options)) domain->segment_room = kSegmentRoom;
    domain->pid_namespace = pid_namespace();
    std::memcpy(&domain->job, params->job_key, sizeof domain->job);
    leave_signals_alone();
    ucp_context_attr_t attr{};
    attr.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
    if (ucp_context_query(domain->context, &attr) == UCS_OK)
      domain->memory_types = attr.memory_types;
    status = measure_keys(*domain, err);
    if (status == CWY_OK) *out = domain.release();
    return status;
  });
}

}  // namespace causeway::ucx
