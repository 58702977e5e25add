// Device: one device of a memory kind, opened for the process. Every gex_MK_t of the same device
// and native handles shares one, and so does memory that other processes of the host export.
//
// Ownership: kinds and opened memory of other processes own the device, and nothing else keeps the
// driver busy. A copy needs no share of it: both its sides belong to somebody who waits for it. A
// transfer that may outlive the kind (staging/bounce.h) owns the buffers that it has, and asks each
// time whether the device is still there where it may come to copy late
// (staging/staging_service.h).
#pragma once

#include <causeway/memkind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "config/config.h"
#include "loader/loader.h"

namespace causeway {

// `memkinds.<name>` of the configuration.
struct KindPolicy {
  enum class Staging { allow, forbid, always };
  Staging staging = Staging::allow;
  bool ipc = true;                   // other processes' memory is opened where the kind can
  bool native = true;                // conduits that know the kind's memory get it
  uint64_t pin = uint64_t{4} << 30;  // bytes of host segments that are page-locked
  size_t chunk = 1 << 20;
  uint32_t depth = 4;  // buffers of each direction
};
KindPolicy kind_policy(const Config& config, const std::string& plugin);
// `memkinds.<name>.options`.
struct KindOptions {
  std::map<std::string, std::string> values;
  std::map<std::string, Origin> origins;
};
KindOptions kind_options(const Config& config, const std::string& plugin);

class BouncePool;
class Device;

// A device's calls of the room that moves its memory. Set by wiring.cpp, constant afterwards.
struct DeviceHooks {
  // The driver's library has come.
  void (*library_came)() = nullptr;
  // Buffers of the device for copies of this process, or for those that it makes for peers.
  std::shared_ptr<BouncePool> (*make_pool)(Device& device, bool for_peers) = nullptr;
  // The device goes, and the copies that it made are over.
  void (*goes)(Device& device) = nullptr;
};
extern DeviceHooks device_hooks;

class Device : public std::enable_shared_from_this<Device> {
 public:
  Device(MemkindPlugin* plugin, std::shared_ptr<const OptionValues> options, KindPolicy policy,
         cwym_kind* kind, const cwym_attr& attr, std::string native);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const cwym_module& module() const { return plugin_->module; }
  cwym_kind* kind() const { return kind_; }
  const cwym_attr& attr() const { return attr_; }
  // As list_devices tells it.
  const std::string& path() const { return path_; }
  const KindPolicy& policy() const { return policy_; }
  const std::string& plugin_name() const { return plugin_->manifest.name; }
  const std::string& native() const { return native_; }
  // "cuda:0"
  const std::string& name() const { return name_; }
  // Host buffers that copies go through: [0] to a peer, [1] from one.
  const std::shared_ptr<BouncePool>& bounces(bool get) const { return bounces_[get]; }
  // Host buffers that peers reach, when this process copies for them (staging/staging_service.h):
  // [0] of their puts, [1] of their gets.
  const std::shared_ptr<BouncePool>& peer_bounces(bool get) const { return peer_bounces_[get]; }
  // Can one copy of this device's move bytes between its memory and that of `other`?
  bool copies_with(const Device& other) const {
    return &other == this || (other.plugin_ == plugin_ && (attr_.caps & CWYM_CAP_PEER_COPY) != 0);
  }

  // Moves bytes; both sides in reach of the kind. The answer is the kind's: CWY_OK, CWY_INPROGRESS
  // (`op` is reported by a later progress_devices() of any thread) or CWY_RETRY. Ends the job with
  // one line on a failure.
  cwy_status copy(void* dst, const void* src, size_t length, cwym_op* op);
  // The same, complete on return. Any context: waits for the device only.
  void copy_now(void* dst, const void* src, size_t length);
  uint32_t progress();

  // Ends the job: a copy was refused or failed.
  [[noreturn]] void copy_failed(cwy_status status, const cwy_detail* detail, const void* dst,
                                const void* src, size_t length);

  // Copies under way. Relaxed: a hint whether to ask the kind.
  std::atomic<uint32_t> pending{0};

 private:
  MemkindPlugin* plugin_;
  std::shared_ptr<const OptionValues> options_;
  KindPolicy policy_;
  cwym_kind* kind_;
  cwym_attr attr_;
  std::string path_, native_, name_;
  std::shared_ptr<BouncePool> bounces_[2], peer_bounces_[2];
};

// A pending copy that counts in Device::pending. `fn` is called when it is done, inside progress of
// any thread, so it only notes that. A copy that fails ends the job.
struct PendingCopy {
  cwym_op op{};  // first: the kind's report finds the object by its address
  Device* device = nullptr;
  void (*fn)(PendingCopy& self) = nullptr;
  void* dst = nullptr;
  const void* src = nullptr;
  size_t length = 0;
};
cwy_status start_copy(Device& device, void* dst, const void* src, size_t length, PendingCopy& copy);

// Opens a device, or finds it opened. `native`: the client's handles in the form that
// causeway-memkind(7) names, or empty. Throws Error: UNSUPPORTED when the plugin is missing, or the
// driver, or is too old; INVALID when there is no such device.
std::shared_ptr<Device> open_device(const std::string& plugin, int32_t ordinal,
                                    const std::string& native);
// A device of the plugin that sits at `path`; opens it if need be. NULL when there is none. Where
// several do, as of a driver that tells no paths, the owner's number decides.
std::shared_ptr<Device> find_device(const std::string& plugin, int32_t ordinal,
                                    const std::string& path);

// Moves copies of every device forward. Returns how many finished.
uint32_t progress_devices();
// Copies under way on any device. Relaxed: a hint.
[[gnu::visibility("hidden")]] inline std::atomic<uint32_t> device_copies{0};

// Between two places, each host memory (device NULL) or of a device. Complete on return.
void copy_between(void* dst, Device* dst_device, const void* src, Device* src_device,
                  size_t length);

}  // namespace causeway
