#include "gpu.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "../../common/known_part.h"

namespace causeway {

const cwy_services* gpu_services = nullptr;

namespace {

// The process in which the driver was started. 0: none yet.
std::mutex g_start_mutex;
std::atomic<pid_t> g_started{0};  // release when start() has ended, acquire by readers
std::string g_problem;            // of start(); under the mutex until g_started is set

}  // namespace

bool driver_is_usable() {
  return g_started.load(std::memory_order_acquire) == ::getpid() && g_problem.empty();
}

Driver* started_driver(cwy_err* err) {
  if (driver_is_usable()) return &driver();
  const std::lock_guard lock(g_start_mutex);
  const pid_t started = g_started.load(std::memory_order_acquire);
  if (started == 0) {
    g_problem = driver().start();
    g_started.store(::getpid(), std::memory_order_release);
  } else if (started != ::getpid() && g_problem.empty()) {
    report(err, CWY_ERR_UNSUPPORTED,
           "the driver was started in process %d and does not survive fork; create memory kinds "
           "after the fork",
           static_cast<int>(started));
    return nullptr;
  }
  if (g_problem.empty()) return &driver();
  report(err, CWY_ERR_UNSUPPORTED, "%s", g_problem.c_str());
  return nullptr;
}

void tell_device(cwym_device_fn fn, void* arg, int32_t index, const char* description,
                 const char* path) {
  cwym_device device{CWY_HEAD(cwym_device), description, path, index, -1};
  std::ifstream file(std::string("/sys/bus/pci/devices/") + path + "/numa_node");
  if (!(file >> device.numa_node)) device.numa_node = -1;
  fn(arg, &device);
}

namespace {

cwy_status list_devices(cwym_device_fn fn, void* arg, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    Driver* const d = started_driver(err);
    return d != nullptr ? d->list(fn, arg, err) : CWY_ERR_UNSUPPORTED;
  });
}

cwy_status create(const cwy_options*, int32_t device, const void* native, uint64_t native_length,
                  cwym_kind** out, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    Driver* const d = started_driver(err);
    if (d == nullptr) return CWY_ERR_UNSUPPORTED;
    return d->open(device, native, native_length, out, err);
  });
}

void destroy(cwym_kind* kind) {
  // After a fork the driver's objects are the parent's.
  if (driver_is_usable()) delete kind;
}

cwy_status query(cwym_kind* kind, cwym_attr* attr) {
  cwym_attr all{};
  all.caps = CWYM_CAP_PEER_COPY;
  all.kind_class = driver().kind_class();
  all.device = kind->ordinal();
  all.export_forms = CWY_FORM_DEVICE_VA | CWY_FORM_IPC;
  all.import_forms = CWY_FORM_IPC;
  kind->describe(all);
  give_known_part(all, attr);
  return CWY_OK;
}

cwy_status who_owns(const void* addr, uint64_t length, int32_t* device) {
  const auto at = reinterpret_cast<uint64_t>(addr);
  Allocation found;
  if (at == 0 || at + length < at || !driver_is_usable() || !driver().find(at, &found))
    return CWY_ERR_INVALID;
  if (at < found.base || length > found.length || at - found.base > found.length - length)
    return CWY_ERR_INVALID;
  *device = found.device;
  return CWY_OK;
}

cwy_status alloc(cwym_kind* kind, uint64_t length, void** out, cwy_err* err) {
  if (!driver_is_usable() || kind->lost())
    return report(err, CWY_ERR_DEVICE_FAILED, "the device is lost");
  // A length of 0 still names a place of its own.
  return kind->noted(kind->alloc(std::max<uint64_t>(length, 1), out, err));
}

cwy_status release(cwym_kind* kind, void* addr) {
  if (addr == nullptr) return CWY_OK;
  return driver_is_usable() ? kind->noted(kind->release(addr)) : CWY_OK;
}

cwy_status export_mem(cwym_kind* kind, void* addr, uint64_t length, uint32_t form, cwy_memref* out,
                      cwy_err* err) {
  const auto at = reinterpret_cast<uint64_t>(addr);
  Allocation memory;
  if (!driver_is_usable() || !driver().find(at, &memory) || memory.device != kind->ordinal())
    return report(err, CWY_ERR_INVALID, "%p is not memory of device %d", addr, kind->ordinal());
  cwy_memref ref{};
  ref.form = form;
  ref.kind_class = driver().kind_class();
  ref.addr = at;
  ref.length = length;
  ref.device = kind->ordinal();
  ref.fd = -1;
  cwy_status status = CWY_OK;
  if (form == CWY_FORM_IPC) {
    ref.offset = at - memory.base;
    ref.pid = static_cast<uint32_t>(::getpid());
    status = kind->export_ipc(memory.base, &ref, err);
  } else if (form == CWY_FORM_DMABUF) {
    status = kind->export_dmabuf(at, length, &ref, err);
  } else if (form != CWY_FORM_DEVICE_VA) {
    return report(err, CWY_ERR_UNSUPPORTED, "form %u is not one of device memory", form);
  }
  if (status == CWY_OK) kind->meet_segment(at);
  if (status == CWY_OK) give_known_part(ref, out);
  return kind->noted(status);
}

cwy_status import_mem(cwym_kind* kind, const cwy_memref* ref, cwym_import** out, void** addr,
                      cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    if (ref->form != CWY_FORM_IPC || ref->kind_class != driver().kind_class() ||
        ref->ipc_len == 0 || ref->ipc_len > sizeof ref->ipc)
      return report(err, CWY_ERR_INVALID, "this is not an IPC handle of %s", driver().name());
    if (!driver_is_usable()) return report(err, CWY_ERR_DEVICE_FAILED, "the device is lost");
    void* base = nullptr;  // of the memory, and the core's name for it
    const cwy_status status = kind->open_ipc(*ref, &base, err);
    if (status != CWY_OK) return kind->noted(status);
    Allocation memory;
    // The sender's word, checked before anything is copied there.
    if (driver().find(reinterpret_cast<uint64_t>(base), &memory) &&
        (ref->length > memory.length || ref->offset > memory.length - ref->length)) {
      kind->close_ipc(base);
      return report(err, CWY_ERR_INVALID,
                    "the handle's memory is shorter than what its owner says");
    }
    *addr = static_cast<char*>(base) + ref->offset;
    *out = static_cast<cwym_import*>(base);
    return CWY_OK;
  });
}

void import_close(cwym_kind* kind, cwym_import* opened) {
  if (driver_is_usable()) kind->close_ipc(opened);
}

cwy_status copy(cwym_kind* kind, void* dst, const void* src, uint64_t length, cwym_op* op) {
  return guarded(nullptr, [&] { return kind->noted(kind->copy(dst, src, length, op)); });
}

uint32_t progress(cwym_kind* kind, uint32_t budget) {
  return kind->progress(budget);
}

cwy_status push(cwym_kind* kind) {
  return driver_is_usable() ? kind->noted(kind->push()) : CWY_ERR_DEVICE_FAILED;
}
cwy_status pop(cwym_kind* kind) {
  return driver_is_usable() ? kind->noted(kind->pop()) : CWY_ERR_DEVICE_FAILED;
}
cwy_status flush(cwym_kind* kind, const void*, uint64_t) {
  return driver_is_usable() ? kind->noted(kind->flush()) : CWY_ERR_DEVICE_FAILED;
}
cwy_status pin_host(cwym_kind* kind, void* addr, uint64_t length, cwy_err* err) {
  if (!driver_is_usable()) return report(err, CWY_ERR_DEVICE_FAILED, "the device is lost");
  return kind->noted(kind->pin(addr, length, err));
}
cwy_status unpin_host(cwym_kind* kind, void* addr) {
  return driver_is_usable() ? kind->noted(kind->unpin(addr)) : CWY_OK;
}

cwy_status start(const cwy_services* services, const cwym_module** module, cwy_err* err) {
  if (services->head.major != CWY_PLUGIN_MAJOR)
    return report(err, CWY_ERR_UNSUPPORTED, "%s needs plugin interface 1", driver().name());
  gpu_services = services;
  static cwym_module table{};
  table.head = CWY_HEAD(cwym_module);
  table.min_core_minor = 0;
  table.list_devices = list_devices;
  table.create = create;
  table.destroy = destroy;
  table.query = query;
  table.who_owns = who_owns;
  table.alloc = alloc;
  table.release = release;
  table.export_mem = export_mem;
  table.import_mem = import_mem;
  table.import_close = import_close;
  table.copy = copy;
  table.progress = progress;
  table.push = push;
  table.pop = pop;
  table.flush = flush;
  table.pin_host = pin_host;
  table.unpin_host = unpin_host;
  *module = &table;
  return CWY_OK;
}

}  // namespace

}  // namespace causeway

// ---- copies under way ----

cwy_status cwym_kind::copy(void* dst, const void* src, uint64_t length, cwym_op* op) {
  if (length == 0) return CWY_OK;
  if (!causeway::driver_is_usable() || lost()) return CWY_ERR_DEVICE_FAILED;
  causeway::Allocation memory;
  const bool to = causeway::driver().find(reinterpret_cast<uint64_t>(dst), &memory);
  const bool from = causeway::driver().find(reinterpret_cast<uint64_t>(src), &memory);
  // Neither: memory of the kind that is not there any more.
  if (!to && !from) return CWY_ERR_INVALID;
  const Direction direction = to && from ? within : to ? to_device : from_device;
  const std::lock_guard lock(mutex_);
  if (pending_[direction].size() == kMost) return CWY_RETRY;
  void* event = nullptr;
  cwy_status status = take_event(&event);
  if (status != CWY_OK) return status;
  status = enqueue(direction, dst, src, length, event);
  if (status != CWY_OK) {
    events_.push_back(event);
    return status;
  }
  pending_[direction].push_back({event, op});
  return CWY_INPROGRESS;
}

cwy_status cwym_kind::take_event(void** out) {
  if (!events_.empty()) {
    *out = events_.back();
    events_.pop_back();
    return CWY_OK;
  }
  cwy_status status = CWY_OK;
  *out = make_event(&status);
  return status;
}

// A direction's copies end in order, so the first that is under way is the last to be asked: a
// question takes the driver a microsecond.
uint32_t cwym_kind::progress(uint32_t budget) {
  struct Finished {
    cwym_op* op;
    cwy_status status;
    int32_t result;
  };
  constexpr uint32_t kAtOnce = 64;
  Finished finished[kAtOnce];
  uint32_t count = 0;
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return 0;  // another thread is at it
    const uint32_t most = std::min(budget, kAtOnce);
    const bool gone = lost() || !causeway::driver_is_usable();
    for (auto& queue : pending_) {
      while (!queue.empty() && count < most) {
        const Pending p = queue.front();
        int32_t result = 0;
        const cwy_status status = gone ? CWY_ERR_DEVICE_FAILED : noted(poll(p.event, &result));
        if (status == CWY_INPROGRESS) break;
        queue.pop_front();
        events_.push_back(p.event);
        finished[count++] = {p.op, status, result};
      }
    }
  }
  for (uint32_t i = 0; i < count; ++i) tell(finished[i].op, finished[i].status, finished[i].result);
  return count;
}

void cwym_kind::tell(cwym_op* op, cwy_status status, int32_t result) const {
  if (status == CWY_OK) return op->fn(op, status, nullptr);
  const std::string text = result != 0 ? words(result) : "the device was lost before";
  const cwy_detail detail{CWY_HEAD(cwy_detail), result, 0, text.c_str()};
  op->fn(op, status, &detail);
}

void cwym_kind::end_copies() {
  for (auto& queue : pending_) {
    for (const Pending& p : queue) events_.push_back(p.event);
    queue.clear();
  }
  for (void* event : events_) free_event(event);
  events_.clear();
}

// ---- the plugin's door, the same for every kind ----

extern "C" CWY_EXPORT cwy_status CWY_MEMKIND_INIT(const cwy_services* services,
                                                  const cwym_module** module, cwy_err* err) {
  return causeway::guarded(err, [&] { return causeway::start(services, module, err); });
}
