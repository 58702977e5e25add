// RemoteDevice: what a process publishes of a segment of device memory, and how a peer reaches it.
#pragma once

#include <causeway/memkind.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace causeway {

class Device;

// Travels in the segment's publication.
struct DeviceFacts {
  std::string plugin;
  cwym_attr attr{};       // of the owner's device: class, ordinal, PCI address
  bool stageable = true;  // its owner's configuration lets it copy for others
  bool has_ipc = false;
  cwy_memref ipc{};

  std::string pack() const;
  // Throws Error.
  static DeviceFacts unpack(const std::string& packed);
};

class RemoteDevice {
 public:
  RemoteDevice(DeviceFacts facts, uint32_t rank, bool same_host)
      : facts_(std::move(facts)), rank_(rank), same_host_(same_host) {}
  ~RemoteDevice();
  RemoteDevice(const RemoteDevice&) = delete;
  RemoteDevice& operator=(const RemoteDevice&) = delete;

  const DeviceFacts& facts() const { return facts_; }
  // "cuda:0 of rank 3"
  std::string name() const;
  // The device through which this process reaches the memory, opened at the first call, or NULL
  // when there is no such way. `*delta` is what to add to the owner's addresses.
  Device* mapped(intptr_t* delta);
  // Why mapped() answers NULL; for the error that says that staging is forbidden.
  std::string obstacle() const;

 private:
  void open();
  DeviceFacts facts_;
  uint32_t rank_;
  bool same_host_;
  mutable std::mutex mutex_;
  bool tried_ = false;
  std::string obstacle_;
  std::shared_ptr<Device> device_;
  cwym_import* import_ = nullptr;
  void* address_ = nullptr;
};

}  // namespace causeway
