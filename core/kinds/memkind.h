// MemKind: what a gex_MK_t other than GEX_MK_HOST points to.
#pragma once

#include <gasnet_mk.h>

#include <atomic>
#include <memory>

#include "kinds/device.h"

namespace causeway {

class Client;

class MemKind {
 public:
  MemKind(Client* client, std::shared_ptr<Device> device)
      : client_(client), device_(std::move(device)) {}

  Client* client() const { return client_; }
  Device& device() const { return *device_; }
  // Segments of the kind that exist.
  uint32_t segments() const { return segments_.load(std::memory_order_acquire); }
  void add_segment() { segments_.fetch_add(1, std::memory_order_acq_rel); }
  void remove_segment() { segments_.fetch_sub(1, std::memory_order_acq_rel); }

 private:
  Client* client_;
  std::shared_ptr<Device> device_;
  std::atomic<uint32_t> segments_{0};
};

inline MemKind* as(gex_MK_t kind) {
  return reinterpret_cast<MemKind*>(kind);
}
inline gex_MK_t as_c(MemKind* kind) {
  return reinterpret_cast<gex_MK_t>(kind);
}

}  // namespace causeway
