#include "kinds/device_facts.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace causeway {

std::string DeviceFacts::pack() const {
  const DeviceNumbers& numbers = *this;
  return std::string(reinterpret_cast<const char*>(&numbers), sizeof numbers) + plugin + '\n' +
         path;
}

DeviceFacts DeviceFacts::unpack(const std::string& packed) {
  DeviceFacts facts;
  DeviceNumbers& numbers = facts;
  const size_t end = packed.find('\n', std::min(sizeof numbers, packed.size()));
  if (end == std::string::npos)
    throw Error(CWY_ERR_INVALID, "a published segment of device memory is garbled");
  std::memcpy(&numbers, packed.data(), sizeof numbers);
  facts.plugin = packed.substr(sizeof numbers, end - sizeof numbers);
  facts.path = packed.substr(end + 1);
  return facts;
}

}  // namespace causeway
