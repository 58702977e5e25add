#include "kinds/device.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/context.h"
#include "base/error.h"
#include "base/fatal.h"
#include "base/log.h"
#include "loader/one_line.h"
#include "loader/plugin_call.h"
#include "loader/signal_keeper.h"
#include "thread/op.h"

namespace causeway {

constinit DeviceHooks device_hooks;

namespace {

// Devices in use. The list owns none of them: a device leaves it with its last owner.
std::mutex g_device_mutex;
std::vector<std::weak_ptr<Device>> g_devices;

void copied(cwym_op* op, cwy_status status, const cwy_detail* detail) {
  auto& copy = *reinterpret_cast<PendingCopy*>(op);
  if (status != CWY_OK) copy.device->copy_failed(status, detail, copy.dst, copy.src, copy.length);
  copy.device->pending.fetch_sub(1, std::memory_order_relaxed);
  device_copies.fetch_sub(1, std::memory_order_relaxed);
  copy.fn(copy);
}

MemkindPlugin& plugin_named(const std::string& name) {
  const std::vector<std::string>& listed = context().config().memkind_plugins;
  if (std::ranges::find(listed, name) == listed.end()) {
    throw Error(CWY_ERR_UNSUPPORTED, "memory kind '{}' is not among plugins.memkinds; add it",
                name);
  }
  const SignalKeeper keeper;  // drivers' libraries install handlers
  MemkindPlugin* plugin = context().loader().memkind(name);
  if (plugin != nullptr) return *plugin;
  for (const LoadFailure& failure : context().loader().failures()) {
    if (failure.path.find("memkind_" + name + ".so") == std::string::npos) continue;
    throw Error(CWY_ERR_UNSUPPORTED, "memory kind '{}' cannot be loaded: {}", name, failure.reason);
  }
  throw Error(CWY_ERR_UNSUPPORTED, "memory kind '{}' is not found in the search path", name);
}

std::shared_ptr<const OptionValues> options_of(const MemkindPlugin& plugin) {
  const KindOptions written = kind_options(context().config(), plugin.manifest.name);
  return make_options(plugin.manifest, written.values, written.origins);
}

// As messages name it.
PluginName named(const MemkindPlugin& plugin) {
  return {"memory kind", plugin.manifest.name};
}

struct Listed {
  int32_t index;
  std::string path;
};

std::vector<Listed> devices_of(const MemkindPlugin& plugin) {
  std::vector<Listed> out;
  const auto note = [](void* arg, const cwym_device* d) {
    if (d == nullptr) return;
    static_cast<std::vector<Listed>*>(arg)->push_back({d->index, given(d->path, "")});
  };
  const cwy_status status = plugin_call(named(plugin), "list_devices", [&] {
    return plugin.module.list_devices(note, &out, nullptr);
  });
  if (status != CWY_OK) out.clear();
  return out;
}

std::shared_ptr<Device> opened_locked(const MemkindPlugin& plugin, int32_t ordinal,
                                      const std::string& native) {
  std::erase_if(g_devices, [](const auto& weak) { return weak.expired(); });
  for (const auto& weak : g_devices) {
    const std::shared_ptr<Device> device = weak.lock();
    if (device != nullptr && &device->module() == &plugin.module &&
        (device->attr().device == ordinal || !native.empty()) && device->native() == native)
      return device;
  }
  return nullptr;
}

std::shared_ptr<Device> open_locked(MemkindPlugin& plugin, int32_t ordinal,
                                    const std::string& native) {
  if (auto device = opened_locked(plugin, ordinal, native)) return device;
  const SignalKeeper keeper;
  std::shared_ptr<const OptionValues> options = options_of(plugin);
  const KindPolicy policy = kind_policy(context().config(), plugin.manifest.name);
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  cwym_kind* kind = nullptr;
  const auto create = [&] {
    return plugin.module.create(as_c(options.get()), ordinal,
                                native.empty() ? nullptr : native.data(), native.size(), &kind,
                                &err);
  };
  cwy_status status = plugin_object(named(plugin), "create", kind, err, create);
  if (status != CWY_OK) throw Error(status, "{}: {}", named(plugin).text(), reason(err, status));
  cwym_attr attr{};
  attr.head = CWY_HEAD(cwym_attr);
  status = plugin.module.query(kind, &attr);
  if (status != CWY_OK) {
    plugin.module.destroy(kind);
    throw Error(status, "{}: query answered {}", named(plugin).text(), reason({}, status));
  }
  if (attr.alignment != 0 && !std::has_single_bit(attr.alignment)) {
    plugin.module.destroy(kind);
    throw Error(CWY_ERR_INVALID, "{}: query answers an alignment of {}, which is no power of two",
                named(plugin).text(), attr.alignment);
  }
  auto device = std::make_shared<Device>(&plugin, std::move(options), policy, kind, attr, native);
  g_devices.push_back(device);
  device_hooks.library_came();
  log_debug("memory kinds: {} is open: {} bytes, staging in {} buffers of {} bytes per direction",
            device->name(), attr.total_bytes, policy.depth, policy.chunk);
  return device;
}

}  // namespace

KindPolicy kind_policy(const Config& config, const std::string& plugin) {
  KindPolicy policy;
  const std::string prefix = "memkinds." + plugin + ".";
  const auto text = [&](const char* key) -> const std::string* {
    const auto found = config.values.find(prefix + key);
    return found == config.values.end() ? nullptr : &found->second;
  };
  using Staging = KindPolicy::Staging;
  if (const std::string* s = text("staging")) {
    policy.staging = *s == "forbid"   ? Staging::forbid
                     : *s == "always" ? Staging::always
                                      : Staging::allow;
  }
  if (const std::string* s = text("pin")) policy.pin = parse_size(*s);
  if (const std::string* s = text("chunk")) policy.chunk = parse_size(*s);
  if (const std::string* s = text("depth")) policy.depth = static_cast<uint32_t>(std::stoul(*s));
  if (const std::string* s = text("ipc")) policy.ipc = *s != "never";
  if (const std::string* s = text("native")) policy.native = *s != "never";
  return policy;
}

KindOptions kind_options(const Config& config, const std::string& plugin) {
  const std::string prefix = "memkinds." + plugin + ".options.";
  KindOptions out;
  for (auto at = config.values.lower_bound(prefix);
       at != config.values.end() && at->first.compare(0, prefix.size(), prefix) == 0; ++at) {
    const std::string key = at->first.substr(prefix.size());
    out.values[key] = at->second;
    const auto origin = config.origins.find(at->first);
    if (origin != config.origins.end()) out.origins[key] = origin->second;
  }
  return out;
}

Device::Device(MemkindPlugin* plugin, std::shared_ptr<const OptionValues> options,
               KindPolicy policy, cwym_kind* kind, const cwym_attr& attr, std::string native)
    : plugin_(plugin),
      options_(std::move(options)),
      policy_(policy),
      kind_(kind),
      attr_(attr),
      native_(std::move(native)),
      name_(fmt::format("{}:{}", plugin->manifest.name, attr.device)) {
  for (Listed& listed : devices_of(*plugin))
    if (listed.index == attr.device) path_ = std::move(listed.path);
  for (auto& pool : bounces_) pool = device_hooks.make_pool(*this, false);
  for (auto& pool : peer_bounces_) pool = device_hooks.make_pool(*this, true);
}

Device::~Device() {
  // Only copies for a peer that was lost can be left. Acquire: what they wrote is there.
  while (pending.load(std::memory_order_acquire) != 0)
    if (progress() == 0) ::sched_yield();
  device_hooks.goes(*this);
  module().destroy(kind_);
}

cwy_status Device::copy(void* dst, const void* src, size_t length, cwym_op* op) {
  const cwy_status status = module().copy(kind_, dst, src, length, op);
  if (is_error(status) && status != CWY_RETRY) copy_failed(status, nullptr, dst, src, length);
  return status;
}

uint32_t Device::progress() {
  return module().progress(kind_, 64);
}

namespace {

struct BlockingCopy : PendingCopy {
  // Release by whoever runs the report, acquire by the waiter: the bytes are there.
  std::atomic<bool> done{false};
};

}  // namespace

void Device::copy_now(void* dst, const void* src, size_t length) {
  if (length == 0) return;
  BlockingCopy copy;
  copy.fn = [](PendingCopy& self) {
    static_cast<BlockingCopy&>(self).done.store(true, std::memory_order_release);
  };
  cwy_status status = start_copy(*this, dst, src, length, copy);
  while (status == CWY_RETRY) {
    if (progress() == 0) ::sched_yield();
    status = start_copy(*this, dst, src, length, copy);
  }
  if (status == CWY_OK) return;
  while (!copy.done.load(std::memory_order_acquire))
    if (progress() == 0) ::sched_yield();
}

void Device::copy_failed(cwy_status status, const cwy_detail* detail, const void* dst,
                         const void* src, size_t length) {
  const char* advice = "";
  if (status == CWY_ERR_DEVICE_FAILED) {
    advice = ": the device is lost; look into the kernel's log";
  } else if (status == CWY_ERR_INVALID) {
    advice =
        ": one of them is not allocated (any more); memory of the client's must stay until "
        "gex_Segment_Destroy()";
  }
  std::string driver;
  if (detail != nullptr && detail->text != nullptr)
    driver = fmt::format(" ({})", given(detail->text, ""));
  fatal("memory kind", "{}: a copy of {} bytes from {} to {} failed with {}{}{}", name_, length,
        src, dst, reason({}, status), driver, advice);
}

cwy_status start_copy(Device& device, void* dst, const void* src, size_t length,
                      PendingCopy& copy) {
  copy.op.fn = copied;
  copy.device = &device;
  copy.dst = dst;
  copy.src = src;
  copy.length = length;
  // Counted before the copy may finish.
  device.pending.fetch_add(1, std::memory_order_relaxed);
  device_copies.fetch_add(1, std::memory_order_relaxed);
  const cwy_status status = device.copy(dst, src, length, &copy.op);
  if (status != CWY_INPROGRESS) {
    device.pending.fetch_sub(1, std::memory_order_relaxed);
    device_copies.fetch_sub(1, std::memory_order_relaxed);
  }
  return status;
}

std::shared_ptr<Device> open_device(const std::string& plugin, int32_t ordinal,
                                    const std::string& native) {
  MemkindPlugin& loaded = plugin_named(plugin);
  const std::lock_guard lock(g_device_mutex);
  return open_locked(loaded, ordinal, native);
}

std::shared_ptr<Device> find_device(const std::string& plugin, int32_t ordinal,
                                    const std::string& path) {
  MemkindPlugin& loaded = plugin_named(plugin);
  const std::lock_guard lock(g_device_mutex);
  std::vector<Listed> there = devices_of(loaded);
  std::erase_if(there, [&](const Listed& listed) { return listed.path != path; });
  if (there.empty()) return nullptr;
  const auto same = std::ranges::find(there, ordinal, &Listed::index);
  // Where devices are not told apart by their path, the number has to do it.
  if (same == there.end() && (path.empty() || there.size() > 1)) return nullptr;
  const int32_t index = same != there.end() ? ordinal : there.front().index;
  for (const auto& weak : g_devices) {
    std::shared_ptr<Device> device = weak.lock();
    if (device != nullptr && &device->module() == &loaded.module && device->attr().device == index)
      return device;
  }
  return open_locked(loaded, index, {});
}

uint32_t progress_devices() {
  std::vector<std::shared_ptr<Device>> busy;
  {
    const std::unique_lock lock(g_device_mutex, std::try_to_lock);
    if (!lock.owns_lock()) return 0;
    for (const auto& weak : g_devices) {
      std::shared_ptr<Device> device = weak.lock();
      if (device != nullptr && device->pending.load(std::memory_order_relaxed) != 0)
        busy.push_back(std::move(device));
    }
  }
  uint32_t events = 0;
  for (const auto& device : busy) events += device->progress();
  return events;
}

void copy_between(void* dst, Device* dst_device, const void* src, Device* src_device,
                  size_t length) {
  if (dst_device == nullptr && src_device == nullptr) {
    std::memcpy(dst, src, length);
    return;
  }
  if (dst_device == nullptr) return src_device->copy_now(dst, src, length);
  if (src_device == nullptr || dst_device->copies_with(*src_device))
    return dst_device->copy_now(dst, src, length);
  std::vector<char> buffer(std::min<size_t>(length, dst_device->policy().chunk));
  for (size_t at = 0; at < length; at += buffer.size()) {
    const size_t n = std::min(buffer.size(), length - at);
    src_device->copy_now(buffer.data(), static_cast<const char*>(src) + at, n);
    dst_device->copy_now(static_cast<char*>(dst) + at, buffer.data(), n);
  }
}

}  // namespace causeway
