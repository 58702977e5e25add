#include "connection/adapters.h"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/regular_file.h"
#include "config/rank_set.h"
#include "loader/one_line.h"
#include "loader/signal_keeper.h"

namespace causeway {
namespace {

constexpr uint32_t kHere = 10, kMostNodes = 4096;

// "0-3,8", as the kernel lists processors and nodes.
std::vector<uint32_t> numbers_in(const std::string& list) {
  std::vector<uint32_t> out;
  if (list.empty()) return out;  // which would be every number
  const RankSet set = RankSet::parse(list);
  for (uint32_t n = 0; n < kMostNodes; ++n)
    if (set.contains(n)) out.push_back(n);
  return out;
}

// An adapter may be named without its port or address: "mlx5_0" is the first one of "mlx5_0:1".
bool goes_by(const Adapter& device, const std::string& name) {
  return device.name == name || device.name.starts_with(name + ":") ||
         device.name.starts_with(name + "/");
}

std::vector<Adapter> with_names(const std::vector<std::string>& names,
                                const std::vector<Adapter>& listed) {
  std::vector<Adapter> out;
  for (const std::string& name : names) {
    const auto known =
        std::ranges::find_if(listed, [&](const Adapter& d) { return goes_by(d, name); });
    out.push_back(known == listed.end() ? Adapter{} : *known);
    out.back().name = name;
  }
  return out;
}

std::vector<std::string> names_for(const ConduitSpec& spec, const OwnPlace& place) {
  for (const PeerRule& rule : spec.devices)
    if (rule.matches(Locality::self, place.host, place.job->rank)) return rule.use;
  std::vector<std::string> out;
  std::istringstream in(spec.device);
  for (std::string name; std::getline(in >> std::ws, name, ',');)
    out.push_back(name.substr(0, name.find_last_not_of(' ') + 1));
  return out;
}

}  // namespace

std::vector<Adapter> list_adapters(const PluginName& whose, const cwyc_module& module,
                                   const cwy_options* options) {
  std::vector<Adapter> out;
  const SignalKeeper keeper;
  const auto keep = [](void* list, const cwyc_device* d) {
    if (d == nullptr) return;  // `check-plugin` tells
    static_cast<std::vector<Adapter>*>(list)->push_back(
        {given(d->name, "(no name)"), given(d->description, ""), given(d->path, ""), d->speed,
         d->network, d->numa_node, d->state, d->ports, d->port});
  };
  const auto list = [&] { return module.list_devices(options, keep, &out, nullptr); };
  if (plugin_call(whose, "list_devices", list) != CWY_OK) out.clear();
  return out;
}

std::vector<uint32_t> node_distances(const std::string& root) {
  cpu_set_t own;
  CPU_ZERO(&own);
  if (::sched_getaffinity(0, sizeof own, &own) != 0) return {};
  const std::vector<uint32_t> nodes = numbers_in(first_line_of(root + "/online"));
  std::vector<uint32_t> out(nodes.empty() ? 0 : nodes.back() + 1, UINT32_MAX);
  for (const uint32_t from : nodes) {
    const std::string node = fmt::format("{}/node{}", root, from);
    const std::vector<uint32_t> cpus = numbers_in(first_line_of(node + "/cpulist"));
    if (std::ranges::none_of(cpus, [&](uint32_t cpu) { return CPU_ISSET(cpu, &own); })) continue;
    std::istringstream row(first_line_of(node + "/distance"));
    uint32_t distance = 0;
    for (const uint32_t to : nodes)
      if (row >> distance) out[to] = std::min(out[to], distance);
  }
  return out;
}

DeviceChoice nearest_device(const std::vector<std::string>& named,
                            const std::vector<Adapter>& listed, uint32_t local_index,
                            const std::vector<uint32_t>& distances) {
  if (named.size() == 1) return {named[0], "named in the configuration"};
  std::vector<Adapter> usable = named.empty() ? listed : with_names(named, listed);
  std::erase_if(usable, [](const Adapter& d) { return d.state == CWYC_DEVICE_DOWN; });
  if (named.empty() && !usable.empty()) {
    const uint64_t network = usable.front().network;
    std::erase_if(usable, [&](const Adapter& d) { return network == 0 || d.network != network; });
  }
  if (usable.size() < 2 && named.empty())
    return {"", listed.size() == 1 ? "its only one" : "the conduit's own choice"};
  if (usable.empty()) return {named[0], "no device that is named is up"};
  const auto distance = [&](const Adapter& d) {
    const auto node = static_cast<uint32_t>(d.numa_node);
    return node < distances.size() ? distances[node] : kHere;
  };
  const uint32_t least = distance(*std::ranges::min_element(usable, {}, distance));
  std::set<int32_t> nodes;
  std::vector<std::string> near;
  for (const Adapter& d : usable) {
    nodes.insert(d.numa_node);
    if (distance(d) == least) near.push_back(d.name);
  }
  // Launchers may deal ranks out to the nodes in turn: those of one node have every n-th index.
  const bool everywhere = near.size() == usable.size();
  const size_t turn = local_index / (everywhere ? 1 : nodes.size());
  return {near[turn % near.size()],
          everywhere ? fmt::format("one of {} equally near", near.size())
                     : fmt::format("one of the {} nearest of {}", near.size(), usable.size())};
}

DeviceChoice choose_device(const ConduitSpec& spec, const cwyc_module& module,
                           const cwy_options* options, const OwnPlace& place) {
  const std::vector<std::string> named = names_for(spec, place);
  const std::vector<Adapter> listed = named.size() == 1
                                          ? std::vector<Adapter>{}
                                          : list_adapters({"conduit", spec.name}, module, options);
  return nearest_device(named, listed, place.job->local_index,
                        listed.size() < 2 ? std::vector<uint32_t>{} : node_distances());
}

}  // namespace causeway
