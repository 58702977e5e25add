// What a launcher on Slingshot allots to a job, as the provider cxi takes it.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace causeway::ofi {

// fi_cxi(7): struct cxi_auth_key, the form of fi_domain_attr.auth_key.
struct SlingshotKey {
  uint32_t service;
  uint16_t vni;
};

// The key for the domain `device`, of three lists with commas: the devices, the service of each,
// and the virtual networks, whose first one all use. None where one of them does not say.
inline std::optional<SlingshotKey> slingshot_key(const std::string& device,
                                                 const std::string& devices,
                                                 const std::string& services,
                                                 const std::string& vnis) {
  const auto words = [](const std::string& list) {
    std::vector<std::string> out;
    std::istringstream in(list);
    for (std::string word; std::getline(in, word, ',');) out.push_back(word);
    return out;
  };
  const std::vector<std::string> names = words(devices), ids = words(services);
  const unsigned long vni = std::strtoul(vnis.c_str(), nullptr, 10);
  if (vni == 0 || vni > UINT16_MAX) return {};
  for (size_t i = 0; i < names.size() && i < ids.size(); ++i) {
    if (names[i] != device) continue;
    return SlingshotKey{static_cast<uint32_t>(std::strtoul(ids[i].c_str(), nullptr, 10)),
                        static_cast<uint16_t>(vni)};
  }
  return {};
}

}  // namespace causeway::ofi
