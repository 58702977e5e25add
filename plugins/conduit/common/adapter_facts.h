// What the kernel tells of a network's device: where it is plugged in, how fast its port is, and
// whether that is up. Read from sysfs, which has the same of every driver.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace causeway {

struct AdapterFacts {
  std::string path;  // as cwyc_device has it
  uint64_t speed = 0;
  uint64_t network = 0;
  int32_t numa_node = -1;
  uint32_t state = CWYC_DEVICE_UNKNOWN;
  uint32_t ports = 0;
  uint32_t port = 0;
};

namespace sysfs {

inline std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "0000:3b:00.0"
inline bool is_pci_address(const std::string& text) {
  constexpr const char* form = "xxxx:xx:xx.x";
  return text.size() == 12 && std::equal(text.begin(), text.end(), form, [](char c, char f) {
           return f == 'x' ? std::isxdigit(static_cast<unsigned char>(c)) != 0 : c == f;
         });
}

// The place of `device`, a link into the tree of devices: of the nearest one above it that says so,
// since a port or a virtual function's queue is no PCI device itself.
inline void find_place(const std::string& device, AdapterFacts& out) {
  std::error_code error;
  std::filesystem::path at = std::filesystem::canonical(device, error);
  if (error || at.string().find("/devices/virtual/") != std::string::npos) return;
  out.path = at.string();
  for (bool pci = false, node = false; at.has_relative_path() && !(pci && node);
       at = at.parent_path()) {
    if (!pci && is_pci_address(at.filename().string())) {
      out.path = at.filename().string();
      pci = true;
    }
    const std::string text = node ? "" : line_of((at / "numa_node").string());
    if (text.empty()) continue;
    out.numa_node = static_cast<int32_t>(std::strtol(text.c_str(), nullptr, 10));
    node = true;
  }
}

}  // namespace sysfs

// The network interface `name`.
inline AdapterFacts interface_facts(const std::string& name, const std::string& root = "/sys") {
  AdapterFacts out;
  const std::string base = root + "/class/net/" + name;
  sysfs::find_place(base + "/device", out);
  const long long mbit = std::strtoll(sysfs::line_of(base + "/speed").c_str(), nullptr, 10);
  if (mbit > 0) out.speed = static_cast<uint64_t>(mbit) * 1'000'000 / 8;
  const std::string state = sysfs::line_of(base + "/operstate");
  if (state == "up")
    out.state = CWYC_DEVICE_UP;
  else if (!state.empty() && state != "unknown")
    out.state = CWYC_DEVICE_DOWN;
  return out;
}

// A port of the RDMA device `name`. Ports of InfiniBand with one subnet prefix are of one network.
// What is behind the ports of an Ethernet device, nobody here knows.
inline AdapterFacts rdma_facts(const std::string& name, uint32_t port,
                               const std::string& root = "/sys") {
  AdapterFacts out;
  const std::string base = root + "/class/infiniband/" + name;
  sysfs::find_place(base + "/device", out);
  std::error_code error;
  const std::filesystem::directory_iterator ports(base + "/ports", error);
  if (error) return out;
  out.ports = static_cast<uint32_t>(std::distance(begin(ports), end(ports)));
  out.port = port;
  const std::string own = base + "/ports/" + std::to_string(port);
  const double gbit = std::strtod(sysfs::line_of(own + "/rate").c_str(), nullptr);
  if (gbit > 0) out.speed = static_cast<uint64_t>(gbit * 1e9 / 8);
  const std::string state = sysfs::line_of(own + "/state");
  if (!state.empty())
    out.state = state.find("ACTIVE") != std::string::npos ? CWYC_DEVICE_UP : CWYC_DEVICE_DOWN;
  if (sysfs::line_of(own + "/link_layer") != "InfiniBand") return out;
  std::string prefix = sysfs::line_of(own + "/gids/0").substr(0, 19);  // fe80:0000:0000:0000
  std::erase(prefix, ':');
  out.network = std::strtoull(prefix.c_str(), nullptr, 16);
  return out;
}

// Tells the core of one device.
inline void tell_device(cwyc_device_fn fn, void* arg, const std::string& name,
                        const std::string& description, const AdapterFacts& facts = {}) {
  cwyc_device device{};
  device.head = CWY_HEAD(cwyc_device);
  device.name = name.c_str();
  device.description = description.c_str();
  device.path = facts.path.c_str();
  device.speed = facts.speed;
  device.network = facts.network;
  device.numa_node = facts.numa_node;
  device.state = facts.state;
  device.ports = facts.ports;
  device.port = facts.port;
  fn(arg, &device);
}

}  // namespace causeway
