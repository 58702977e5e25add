#include "kinds/device_facts.h"

#include <cstring>

#include "base/error.h"

namespace causeway {
namespace {

// The numbers as they are: ranks of one job run one version of the library.
struct Wire {
  cwym_attr attr;
  cwy_memref ipc;
  uint8_t stageable, has_ipc;
};

}  // namespace

std::string DeviceFacts::pack() const {
  Wire wire;
  std::memset(&wire, 0, sizeof wire);  // padding too: equal facts are equal bytes
  wire.attr = attr;
  wire.ipc = ipc;
  wire.stageable = stageable;
  wire.has_ipc = has_ipc;
  return std::string(reinterpret_cast<const char*>(&wire), sizeof wire) + plugin;
}

DeviceFacts DeviceFacts::unpack(const std::string& packed) {
  Wire wire;
  if (packed.size() <= sizeof wire)
    throw Error(CWY_ERR_INVALID, "a published segment of device memory is garbled");
  std::memcpy(&wire, packed.data(), sizeof wire);
  DeviceFacts facts;
  facts.plugin = packed.substr(sizeof wire);
  facts.attr = wire.attr;
  facts.ipc = wire.ipc;
  facts.stageable = wire.stageable != 0;
  facts.has_ipc = wire.has_ipc != 0;
  return facts;
}

}  // namespace causeway
