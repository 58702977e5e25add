// Stand-in for libze_loader.so.1: the entry points that plugins/memkind/ze uses, over simulated
// devices. Structures and numbers as in the public specification of Level Zero.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>

#include "simulated.h"

using standin::Outcome;

#define ENTRY extern "C" __attribute__((visibility("default"))) uint32_t

namespace {

// Handles are small numbers in disguise.
void* device_handle(int device) {
  return reinterpret_cast<void*>(uintptr_t{0x2000} + static_cast<uintptr_t>(device));
}
int device_of(const void* handle) {
  const auto number = reinterpret_cast<uintptr_t>(handle) - 0x2000;
  return number < static_cast<uintptr_t>(standin::device_count()) ? static_cast<int>(number) : -1;
}
void* const kDriver = reinterpret_cast<void*>(uintptr_t{0x1000});
uintptr_t g_contexts = 0;

// Memory whose maker knows when it goes: it asked for memory that can be exported. Handles of other
// memory end with it.
std::mutex g_mutex;
std::set<void*> g_exportable;

constexpr uint32_t kInvalid = 0x78000004;
constexpr uint32_t kLinks = 2;  // the last group of engines

// The driver or the program fetches the descriptor of an IPC handle.
standin::Finds finds() {
  return standin::opaque_handles() ? standin::Finds::driver : standin::Finds::program;
}

uint32_t code(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return 0;
    case Outcome::not_ready:
      return 1;
    case Outcome::invalid:
      return kInvalid;
    case Outcome::no_memory:
      return 0x70000003;
    case Outcome::no_device:
    case Outcome::forked:
      return 0x78000001;
    case Outcome::unsupported:
      return 0x78000003;
    case Outcome::lost:
      break;
  }
  return 0x70000001;
}

struct Header {
  uint32_t stype;
  void* next;
};
struct Properties : Header {
  uint32_t numbers[6];
  uint64_t max_alloc;
  uint32_t more[7];
  uint64_t timer;
  uint32_t bits[2];
  uint8_t uuid[16];
  char name[256];
};
struct Memory : Header {
  uint32_t flags, clock, width;
  uint64_t bytes;
  char name[256];
};
struct Group : Header {
  uint32_t flags;
  size_t pattern;
  uint32_t queues;
};
struct QueueDesc : Header {
  uint32_t ordinal, index, flags, mode, priority;
};
struct AllocDesc : Header {
  uint32_t flags, ordinal;
};
struct Allocation : Header {
  uint32_t type;
  uint64_t id, page;
};
struct ExportFd : Header {
  uint32_t flags;
  int fd;
};
struct Pci : Header {
  uint32_t domain, bus, device, function;
};
struct IpcHandle {
  char bytes[64];
};

struct List {
  standin::Queue* queue;
  bool synchronous;
};
struct Event {
  standin::Queue* queue = nullptr;
  uint64_t place = 0;
  bool armed = false;
};

}  // namespace

ENTRY zeInit(uint32_t) {
  if (standin::fails("init")) return 0x78000001;
  if (standin::setting("VERSION", 1) < 1) return 0x78000002;
  standin::start();
  return code(standin::usable());
}
ENTRY zeDriverGet(uint32_t* count, void** drivers) {
  if (drivers != nullptr && *count >= 1) drivers[0] = kDriver;
  *count = 1;
  return 0;
}
ENTRY zeDeviceGet(void* driver, uint32_t* count, void** devices) {
  if (driver != kDriver) return kInvalid;
  const auto all = static_cast<uint32_t>(standin::device_count());
  if (devices != nullptr) {
    for (uint32_t i = 0; i < *count && i < all; ++i)
      devices[i] = device_handle(static_cast<int>(i));
  }
  if (devices == nullptr || *count > all) *count = all;
  return 0;
}
ENTRY zeDeviceGetProperties(void* device, Properties* out) {
  if (device_of(device) < 0 || out->stype != 3) return kInvalid;
  std::snprintf(out->name, sizeof out->name, "Simulated Level Zero device %d", device_of(device));
  return 0;
}
ENTRY zeDeviceGetMemoryProperties(void* device, uint32_t* count, Memory* out) {
  if (device_of(device) < 0) return kInvalid;
  if (out != nullptr && *count >= 1) {
    if (out->stype != 7) return kInvalid;
    out->bytes = standin::memory_bytes();
  }
  *count = 1;
  return 0;
}
ENTRY zeDeviceGetCommandQueueGroupProperties(void* device, uint32_t* count, Group* out) {
  if (device_of(device) < 0) return kInvalid;
  for (uint32_t i = 0; out != nullptr && i < *count && i <= kLinks; ++i) {
    if (out[i].stype != 6) return kInvalid;
    out[i].flags = i == 0 ? 3 : 2;  // computes and copies; copies
    out[i].queues = i == kLinks ? 8 : 1;
  }
  *count = kLinks + 1;
  return 0;
}
ENTRY zeContextCreate(void* driver, const Header* desc, void** context) {
  if (driver != kDriver || desc->stype != 0xd) return kInvalid;
  *context = reinterpret_cast<void*>(uintptr_t{0x3000} + g_contexts++);
  return 0;
}
ENTRY zeContextDestroy(void* context) {
  return context != nullptr ? 0 : kInvalid;
}
ENTRY zeMemAllocDevice(void*, const AllocDesc* desc, size_t bytes, size_t, void* device,
                       void** pointer) {
  if (device_of(device) < 0 || desc->stype != 0x15 || desc->ordinal != 0) return kInvalid;
  const Outcome o = standin::allocate(device_of(device), bytes, pointer);
  const std::lock_guard lock(g_mutex);
  if (o == Outcome::ok && desc->next != nullptr) g_exportable.insert(*pointer);
  return code(o);
}
ENTRY zeMemFree(void*, void* pointer) {
  {
    const std::lock_guard lock(g_mutex);
    g_exportable.erase(pointer);
  }
  return code(standin::release(pointer));
}
ENTRY zeMemGetAllocProperties(void*, const void* pointer, Allocation* out, void** device) {
  if (out->stype != 0x17) return kInvalid;
  standin::Block block;
  const bool known = standin::find(reinterpret_cast<uint64_t>(pointer), &block);
  out->type = known ? 2 : 0;
  if (!known) return 0;
  if (device != nullptr) *device = device_handle(block.device);
  auto* const exported = static_cast<ExportFd*>(out->next);
  if (exported != nullptr && exported->stype == 0x1a) {
    uint64_t offset = 0;
    return code(standin::export_descriptor(const_cast<void*>(pointer), &exported->fd, &offset,
                                           standin::Descriptor::drivers));
  }
  return 0;
}
ENTRY zeMemGetAddressRange(void*, const void* pointer, void** base, size_t* bytes) {
  standin::Block block;
  if (!standin::find(reinterpret_cast<uint64_t>(pointer), &block)) return kInvalid;
  *base = reinterpret_cast<void*>(block.base);
  *bytes = block.length;
  return 0;
}
ENTRY zeMemGetIpcHandle(void*, const void* pointer, IpcHandle* handle) {
  const Outcome o = standin::export_handle(const_cast<void*>(pointer),
                                           reinterpret_cast<standin::Handle*>(handle), finds());
  const std::lock_guard lock(g_mutex);
  if (o == Outcome::ok && g_exportable.count(const_cast<void*>(pointer)) != 0) {
    standin::count_handle(const_cast<void*>(pointer));
  }
  return code(o);
}
ENTRY zeMemPutIpcHandle(void*, IpcHandle handle) {
  standin::Handle h;
  std::memcpy(&h, &handle, sizeof h);
  return code(standin::give_back(h));
}
ENTRY zeMemOpenIpcHandle(void*, void* device, IpcHandle handle, uint32_t, void** pointer) {
  if (device_of(device) < 0) return kInvalid;
  standin::Handle h;
  std::memcpy(&h, &handle, sizeof h);
  return code(standin::import_handle(h, pointer, finds()));
}
ENTRY zeMemCloseIpcHandle(void*, const void* pointer) {
  return code(standin::close_import(const_cast<void*>(pointer)));
}
ENTRY zeCommandListCreateImmediate(void*, void* device, const QueueDesc* desc, void** list) {
  // The engines of links are for copies between devices.
  if (desc->ordinal == kLinks) return 0x78000003;
  if (device_of(device) < 0 || desc->stype != 0xe || desc->ordinal > kLinks) return kInvalid;
  *list = new List{standin::make_queue(), desc->mode == 1};
  return 0;
}
ENTRY zeCommandListDestroy(void* list) {
  auto* const l = static_cast<List*>(list);
  standin::destroy_queue(l->queue);
  delete l;
  return 0;
}
ENTRY zeCommandListAppendMemoryCopy(void* list, void* dst, const void* src, size_t bytes,
                                    void* event, uint32_t, void**) {
  const List& l = *static_cast<List*>(list);
  const Outcome o = standin::copy(l.queue, dst, src, bytes);
  if (o != Outcome::ok) return code(o);
  if (event != nullptr) *static_cast<Event*>(event) = {l.queue, standin::mark(l.queue), true};
  if (l.synchronous) standin::drain(l.queue);
  return 0;
}
ENTRY zeEventPoolCreate(void*, const Header* desc, uint32_t, void**, void** pool) {
  if (desc->stype != 0x10) return kInvalid;
  *pool = new int(0);
  return 0;
}
ENTRY zeEventPoolDestroy(void* pool) {
  delete static_cast<int*>(pool);
  return 0;
}
ENTRY zeEventCreate(void* pool, const Header* desc, void** event) {
  if (pool == nullptr || desc->stype != 0x11) return kInvalid;
  *event = new Event;
  return 0;
}
ENTRY zeEventDestroy(void* event) {
  delete static_cast<Event*>(event);
  return 0;
}
ENTRY zeEventQueryStatus(void* event) {
  const Event& e = *static_cast<Event*>(event);
  return e.armed ? code(standin::reached(e.queue, e.place)) : 1;
}
ENTRY zeEventHostReset(void* event) {
  *static_cast<Event*>(event) = Event{};
  return code(standin::usable());
}
ENTRY zeEventHostSynchronize(void* event, uint64_t) {
  const Event& e = *static_cast<Event*>(event);
  if (e.armed) standin::drain(e.queue);
  return 0;
}
ENTRY zeDevicePciGetPropertiesExt(void* device, Pci* out) {
  if (device_of(device) < 0 || out->stype != 0x10008) return kInvalid;
  out->domain = out->device = out->function = 0;
  out->bus = 0xC0 + static_cast<uint32_t>(device_of(device));
  return 0;
}
