#include "staging/remote.h"

#include <sched.h>

#include "base/context.h"
#include "base/error.h"
#include "base/log.h"
#include "config/config.h"
#include "kinds/device.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "object/publication.h"
#include "staging/pins.h"

namespace causeway {
std::string RemoteDevice::name() const {
  return fmt::format("{}:{} of rank {}", facts_.plugin, facts_.ordinal, rank_);
}

RemoteDevice::RemoteDevice(DeviceFacts facts, uint32_t rank, uint64_t segment, bool same_host)
    : facts_(std::move(facts)), rank_(rank), segment_(segment), same_host_(same_host) {
  enter_imports(*this);
}

void RemoteDevice::open() {
  const KindPolicy policy = kind_policy(context().config(), facts_.plugin);
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
      std::shared_ptr<Device> device = find_device(facts_.plugin, facts_.ordinal, facts_.path);
      if (device == nullptr)
        obstacle_ = "this process does not see that device";
      else
        import_ = std::make_shared<Import>(rank_, segment_, std::move(device), facts_.ipc);
    } catch (const Error& e) {
      obstacle_ = e.text();
    }
  }
  if (import_ == nullptr) log_info("{} is not mapped here: {}", name(), obstacle_);
}

std::shared_ptr<Import> RemoteDevice::mapped() {
  std::shared_ptr<Import> import;
  bool opened = false;
  {
    const std::lock_guard lock(mutex_);
    if (!tried_) {
      tried_ = true;
      open();
      opened = import_ != nullptr;
    }
    import = import_;
  }
  if (opened) import->tell_owner();
  return import;
}

std::shared_ptr<Import> RemoteDevice::let_go() {
  const std::lock_guard lock(mutex_);
  tried_ = true;
  obstacle_ = "its owner has destroyed the segment";
  return std::move(import_);
}

std::string RemoteDevice::obstacle() const {
  const std::lock_guard lock(mutex_);
  return obstacle_;
}

uint32_t RemoteDevice::known_arena(bool put) const {
  const std::lock_guard lock(mutex_);
  return arenas_[put].empty() ? 0 : arenas_[put].back()->number();
}

FarArena& RemoteDevice::arena(bool put, uint32_t number, const std::string& packed,
                              const Peer& peer) {
  const std::lock_guard lock(mutex_);
  for (const auto& arena : arenas_[put])
    if (arena->number() == number) return *arena;
  arenas_[put].push_back(std::make_unique<FarArena>(number, packed, peer));
  return *arenas_[put].back();
}

FarArena::FarArena(uint32_t number, const std::string& packed, const Peer& peer)
    : number_(number), rank_(peer.rank), known_(std::make_unique<Publication>()) {
  known_->facts = PackedSegment::unpack(packed);
  if (context().direct_allowed()) map_directly(base_peer(peer), *known_);
}

FarArena::~FarArena() {
  known_->close();  // page locks go with the mapping
}

char* FarArena::here(uint64_t addr) const {
  return known_->direct ? reinterpret_cast<char*>(addr) + known_->delta : nullptr;
}

void FarArena::pin(Device& device) const {
  pin_buffers(device, here(known_->facts.base), known_->facts.size);
}

cwyc_rkey* FarArena::right(const Connection& c) {
  const std::lock_guard lock(base_peer(*c.peer).ep->connect_mutex());
  return known_->right(*c.cep, rank_);
}

RemoteDevice::~RemoteDevice() {
  leave_imports(*this);
  if (import_ == nullptr) return;
  // Acquire: the copies' reports came before. Only those to a process that was lost are left here.
  while (import_->copies.load(std::memory_order_acquire) != 0)
    if (import_->device().progress() == 0) ::sched_yield();
}

}  // namespace causeway
