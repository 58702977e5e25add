#include "info_devices.h"

#include <hwloc.h>

#include <memory>
#include <optional>
#include <set>

#include "base/error.h"
#include "connection/adapters.h"
#include "connection/wrapping.h"
#include "loader/loader.h"
#include "probe_services.h"
#include "spawn/limits.h"
#include "text.h"

namespace causeway::command {
namespace {

struct FreeBitmap {
  void operator()(hwloc_bitmap_t set) const { hwloc_bitmap_free(set); }
};
using NodeSet = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

// This machine, as far as its memory's nodes lie apart.
class Machine {
 public:
  Machine() {
    if (!affinity_is_known() || hwloc_topology_init(&topology_) != 0) return;
    hwloc_topology_set_io_types_filter(topology_, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(topology_) != 0) return;
    const NodeSet cpus(hwloc_bitmap_alloc());
    if (hwloc_get_cpubind(topology_, cpus.get(), HWLOC_CPUBIND_PROCESS) != 0)
      hwloc_bitmap_copy(cpus.get(), hwloc_topology_get_topology_cpuset(topology_));
    hwloc_cpuset_to_nodeset(topology_, cpus.get(), own_.get());
    unsigned count = 1;
    if (hwloc_distances_get_by_type(topology_, HWLOC_OBJ_NUMANODE, &count, &matrix_,
                                    HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
        count == 0)
      matrix_ = nullptr;
  }
  ~Machine() {
    if (matrix_ != nullptr) hwloc_distances_release(topology_, matrix_);
    if (topology_ != nullptr) hwloc_topology_destroy(topology_);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // From this process's processors to where the device is plugged in; 10 is no distance.
  std::optional<uint64_t> distance(const Adapter& device) const {
    const NodeSet there = nodes_of(device);
    if (there == nullptr || hwloc_bitmap_iszero(there.get())) return {};
    if (hwloc_bitmap_intersects(there.get(), own_.get())) return 10;
    std::optional<uint64_t> least;
    for (unsigned from = 0; matrix_ != nullptr && from < matrix_->nbobjs; ++from) {
      for (unsigned to = 0; to < matrix_->nbobjs; ++to) {
        if (!hwloc_bitmap_isset(own_.get(), matrix_->objs[from]->os_index) ||
            !hwloc_bitmap_isset(there.get(), matrix_->objs[to]->os_index))
          continue;
        const uint64_t value = matrix_->values[from * matrix_->nbobjs + to];
        if (!least || value < *least) least = value;
      }
    }
    return least;
  }

 private:
  NodeSet nodes_of(const Adapter& device) const {
    NodeSet set(hwloc_bitmap_alloc());
    hwloc_obj_t pci = device.path.empty()
                          ? nullptr
                          : hwloc_get_pcidev_by_busidstring(topology_, device.path.c_str());
    if (pci != nullptr)
      hwloc_bitmap_copy(set.get(), hwloc_get_non_io_ancestor_obj(topology_, pci)->nodeset);
    else if (device.numa_node >= 0)
      hwloc_bitmap_only(set.get(), static_cast<unsigned>(device.numa_node));
    return set;
  }

  hwloc_topology_t topology_ = nullptr;
  NodeSet own_{hwloc_bitmap_alloc()};
  hwloc_distances_s* matrix_ = nullptr;
};

// What one conduit answers.
struct Found {
  std::string conduit, problem;
  std::vector<Adapter> devices;
};

Found look(const Config& config, Loader& loader, const ConduitSpec& spec) {
  Found found{spec.name, "", {}};
  const ConduitPlugin* plugin = loader.conduit(spec.plugin);
  if (plugin == nullptr) {
    found.problem = why_not_loaded(loader, spec.plugin);
    return found;
  }
  try {
    ConduitConfigurer configurer(config, loader, [](ConduitSpec&, const Manifest&) {});
    const ConfiguredConduit conduit = configurer.configure(spec, *plugin);
    found.devices =
        list_adapters({"conduit", spec.name}, conduit.plugin->module, as_c(conduit.options.get()));
  } catch (const Error& error) {
    found.problem = error.text();
  }
  return found;
}

std::vector<Found> look_at_all(Config config) {
  config.on_load_error = LoadErrorPolicy::ignore;  // what fails is said beside what does not
  Loader loader(config, probe_services(1, config.timeouts.start_ns));
  std::vector<ConduitSpec> specs = config.conduits;
  std::set<std::string> seen;
  for (const ConduitSpec& spec : specs) seen.insert(spec.plugin);
  for (const Manifest& plugin : loader.list()) {
    if (plugin.kind != PluginKind::conduit || !seen.insert(plugin.name).second) continue;
    ConduitSpec spec;
    spec.name = spec.plugin = plugin.name;
    specs.push_back(spec);
  }
  std::vector<Found> out;
  out.reserve(specs.size());
  for (const ConduitSpec& spec : specs) out.push_back(look(config, loader, spec));
  return out;
}

const char* state_word(uint32_t state) {
  return state == CWYC_DEVICE_UP ? "up" : state == CWYC_DEVICE_DOWN ? "down" : "unknown";
}

std::string port_text(const Adapter& d) {
  if (d.port == 0) return d.ports == 0 ? "-" : fmt::format("{} ports", d.ports);
  return d.ports == 0 ? std::to_string(d.port) : fmt::format("{} of {}", d.port, d.ports);
}

void print_people(const std::vector<Found>& all, const Machine& machine) {
  std::vector<std::vector<std::string>> rows{
      {"conduit", "device", "state", "speed", "port", "node", "distance", "path", "description"}};
  for (const Found& found : all) {
    for (const Adapter& d : found.devices) {
      const std::optional<uint64_t> distance = machine.distance(d);
      rows.push_back({found.conduit, d.name, state_word(d.state),
                      d.speed == 0 ? "-" : fmt::format("{:g} Gb/s", double(d.speed) * 8e-9),
                      port_text(d), d.numa_node < 0 ? "-" : std::to_string(d.numa_node),
                      distance ? std::to_string(*distance) : "-", d.path.empty() ? "-" : d.path,
                      d.description});
    }
  }
  print_columns(rows);
  for (const Found& found : all)
    if (!found.problem.empty()) print_folded(fmt::format("{}: {}", found.conduit, found.problem));
}

void print_json(const std::vector<Found>& all, const Machine& machine) {
  const auto device_json = [&](const Adapter& d) {
    const std::optional<uint64_t> distance = machine.distance(d);
    return fmt::format(
        R"({{"name":{},"state":"{}","speed":{},"ports":{},"port":{},"numa_node":{},"distance":{},)"
        R"("path":{},"network":"{:x}","description":{}}})",
        json_text(d.name), state_word(d.state), d.speed, d.ports, d.port, d.numa_node,
        distance ? std::to_string(*distance) : "null", json_text(d.path), d.network,
        json_text(d.description));
  };
  fmt::print("{}\n", json_each(all, [&](const Found& found) {
               return fmt::format(R"({{"conduit":{},"problem":{},"devices":{}}})",
                                  json_text(found.conduit),
                                  found.problem.empty() ? "null" : json_text(found.problem),
                                  json_each(found.devices, device_json));
             }));
}

}  // namespace

int info_devices(const Config& config, bool json) {
  const std::vector<Found> all = look_at_all(config);
  const Machine machine;
  json ? print_json(all, machine) : print_people(all, machine);
  return kOk;
}

}  // namespace causeway::command
