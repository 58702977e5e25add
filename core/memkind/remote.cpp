#include "memkind/remote.h"

#include <cstring>

#include "diag/error.h"
#include "diag/log.h"
#include "memkind/device.h"
#include "object/runtime.h"

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
  if (packed.size() <= sizeof wire) {
    throw Error(CWY_ERR_INVALID, "a published segment of device memory is garbled");
  }
  std::memcpy(&wire, packed.data(), sizeof wire);
  DeviceFacts facts;
  facts.plugin = packed.substr(sizeof wire);
  facts.attr = wire.attr;
  facts.ipc = wire.ipc;
  facts.stageable = wire.stageable != 0;
  facts.has_ipc = wire.has_ipc != 0;
  return facts;
}

std::string RemoteDevice::name() const {
  return fmt::format("{}:{} of rank {}", facts_.plugin, facts_.attr.device, rank_);
}

void RemoteDevice::open() {
  const KindPolicy policy = kind_policy(runtime().config(), facts_.plugin);
  if (!same_host_) {
    obstacle_ = "it is on another host";
  } else if (policy.staging == KindPolicy::Staging::always) {
    obstacle_ = fmt::format("memkinds.{}.staging is always", facts_.plugin);
  } else if (!policy.ipc) {
    obstacle_ = fmt::format("memkinds.{}.ipc is never", facts_.plugin);
  } else if (!facts_.has_ipc) {
    obstacle_ = "its owner cannot export it to other processes";
  } else {
    try {
      device_ = find_device(facts_.plugin, facts_.attr);
      if (device_ == nullptr) {
        obstacle_ = "this process does not see that device";
        return;
      }
      cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
      const cwy_status status =
          device_->module().import_mem(device_->kind(), &facts_.ipc, &import_, &address_, &err);
      if (status != CWY_OK) {
        obstacle_ = err.text[0] ? err.text : status_name(status);
        device_.reset();
      }
    } catch (const Error& e) {
      obstacle_ = e.text();
      device_.reset();
    }
  }
  if (device_ == nullptr) log_info("{} is not mapped here: {}", name(), obstacle_);
}

Device* RemoteDevice::mapped(intptr_t* delta) {
  const std::lock_guard lock(mutex_);
  if (!tried_) {
    tried_ = true;
    open();
  }
  if (device_ == nullptr) return nullptr;
  *delta = reinterpret_cast<intptr_t>(address_) - static_cast<intptr_t>(facts_.ipc.addr);
  return device_.get();
}

std::string RemoteDevice::obstacle() const {
  const std::lock_guard lock(mutex_);
  return obstacle_;
}

RemoteDevice::~RemoteDevice() {
  if (import_ != nullptr) device_->module().import_close(device_->kind(), import_);
}

}  // namespace causeway
