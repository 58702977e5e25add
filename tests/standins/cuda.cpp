// Stand-in for libcuda.so.1: the entry points that plugins/memkind/cuda uses, over simulated
// devices. Signatures as in NVIDIA's public reference; written down here once more, so that a wrong
// fact in the plugin does not find its like.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "streams.h"

using namespace standin;

namespace {

typedef unsigned long long CUdeviceptr;
struct CUipcMemHandle {
  char reserved[64];
};

thread_local int t_contexts[64];
thread_local int t_depth = 0;
int g_retained[64] = {};
unsigned g_flags = 0;  // of contexts
constexpr unsigned kSyncMemops = 0x80;

// A context is its device's number and one, so that it is never NULL.
int current_device() {
  return t_depth > 0 ? t_contexts[t_depth - 1] : -1;
}

// Of calls that name no stream.
standin::Queue* default_queue() {
  static standin::Queue* const queue = standin::make_queue();
  return queue;
}

}  // namespace

ENTRY cuInit(unsigned flags) {
  if (standin::fails("init")) return 100;
  standin::start();
  if (standin::usable() == Outcome::forked) return 3;
  return flags == 0 ? 0 : 1;
}
ENTRY cuDriverGetVersion(int* version) {
  *version = standin::setting("VERSION", 12020);
  return 0;
}
ENTRY cuGetErrorString(int error, const char** text) {
  *text = error == 0     ? "no error"
          : error == 1   ? "invalid argument"
          : error == 2   ? "out of memory"
          : error == 3   ? "initialization error"
          : error == 100 ? "no CUDA-capable device is detected"
          : error == 101 ? "invalid device ordinal"
          : error == 201 ? "invalid device context"
          : error == 719 ? "unspecified launch failure"
          : error == 801 ? "operation not supported"
                         : "another error";
  return 0;
}
ENTRY cuDeviceGetCount(int* count) {
  const Outcome o = standin::usable();
  if (o != Outcome::ok) return code(o);
  *count = standin::device_count();
  return 0;
}
ENTRY cuDeviceGet(int* device, int ordinal) {
  if (!valid(ordinal)) return 101;
  *device = ordinal;
  return 0;
}
ENTRY cuDeviceGetName(char* name, int length, int device) {
  if (!valid(device)) return 101;
  std::snprintf(name, static_cast<size_t>(length), "Simulated CUDA device %d", device);
  return 0;
}
ENTRY cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (!valid(device)) return 101;
  switch (attribute) {
    case 33:  // PCI bus
      *value = 0x40 + device;
      return 0;
    case 34:  // PCI device
    case 50:  // PCI domain
      *value = 0;
      return 0;
    case 41:  // unified addressing
      *value = standin::fails("no-uva") ? 0 : 1;
      return 0;
    case 117:  // options of GPUDirect RDMA flushes: from the host
    case 124:  // dma-buf
      *value = 1;
      return 0;
    case 118:  // order of GPUDirect RDMA writes: none
      *value = 0;
      return 0;
    default:
      return 1;
  }
}
ENTRY cuDeviceTotalMem_v2(size_t* bytes, int device) {
  if (!valid(device)) return 101;
  *bytes = standin::memory_bytes();
  return 0;
}
ENTRY cuDevicePrimaryCtxRetain(void** context, int device) {
  const Outcome o = standin::usable();
  if (o != Outcome::ok) return code(o);
  if (!valid(device)) return 101;
  ++g_retained[device];
  *context = reinterpret_cast<void*>(static_cast<size_t>(device) + 1);
  return 0;
}
ENTRY cuDevicePrimaryCtxRelease_v2(int device) {
  if (!valid(device) || g_retained[device] == 0) return 201;
  --g_retained[device];
  return 0;
}
ENTRY cuCtxPushCurrent_v2(void* context) {
  const auto device = static_cast<int>(reinterpret_cast<size_t>(context)) - 1;
  if (!valid(device) || g_retained[device] == 0 || t_depth == 64) return 201;
  t_contexts[t_depth++] = device;
  return 0;
}
ENTRY cuCtxPopCurrent_v2(void** context) {
  if (t_depth == 0) return 201;
  *context = reinterpret_cast<void*>(static_cast<size_t>(t_contexts[--t_depth]) + 1);
  return 0;
}
ENTRY cuCtxSetCurrent(void* context) {
  if (t_depth > 0) --t_depth;
  return context == nullptr ? 0 : cuCtxPushCurrent_v2(context);
}
ENTRY cuCtxGetCurrent(void** context) {
  *context = reinterpret_cast<void*>(static_cast<size_t>(current_device() + 1));
  return 0;
}
ENTRY cuCtxGetFlags(unsigned* flags) {
  *flags = g_flags;
  return current_device() < 0 ? 201 : 0;
}
ENTRY cuCtxSetFlags(unsigned flags) {
  g_flags = flags;
  return current_device() < 0 ? 201 : 0;
}
ENTRY cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  if (current_device() < 0) return 201;
  if (bytes == 0) return 1;
  void* out = nullptr;
  const Outcome o = standin::allocate(current_device(), bytes, &out);
  if (o == Outcome::ok) *pointer = reinterpret_cast<CUdeviceptr>(out);
  return code(o);
}
ENTRY cuMemFree_v2(CUdeviceptr pointer) {
  if (current_device() < 0) return 201;
  return code(standin::release(reinterpret_cast<void*>(pointer)));
}
ENTRY cuPointerGetAttribute(void* data, int attribute, CUdeviceptr pointer) {
  standin::Block block;
  const bool of_device = standin::find(pointer, &block);
  // Page-locked host memory is known too, ordinary memory is not.
  if (!of_device && !standin::find_pinned(pointer, &block.base, &block.length)) return 1;
  switch (attribute) {
    case 2:
      *static_cast<unsigned*>(data) = of_device ? 2 : 1;
      return 0;
    case 9:
      *static_cast<int*>(data) = block.device;
      return 0;
    case 11:
      *static_cast<CUdeviceptr*>(data) = block.base;
      return 0;
    case 12:
      *static_cast<size_t*>(data) = block.length;
      return 0;
    default:
      return 1;
  }
}
// Answers for memory that it does not know too, with nothing.
ENTRY cuPointerGetAttributes(unsigned count, int* attributes, void** data, CUdeviceptr pointer) {
  for (unsigned i = 0; i < count; ++i) {
    if (cuPointerGetAttribute(data[i], attributes[i], pointer) == 0) continue;
    std::memset(data[i], 0, attributes[i] == 2 || attributes[i] == 9 ? 4 : 8);
  }
  return 0;
}
ENTRY cuPointerSetAttribute(const void* data, int attribute, CUdeviceptr pointer) {
  if (current_device() < 0) return 201;
  if (attribute != 6 || *static_cast<const unsigned*>(data) != 1) return 1;  // SYNC_MEMOPS
  if (standin::fails("mark")) return 801;  // as mapped memory does
  return standin::make_synchronous(pointer) ? 0 : 1;
}
ENTRY cuStreamCreate(void** stream, unsigned) {
  if (current_device() < 0) return 201;
  *stream = standin::make_queue();
  return 0;
}
ENTRY cuStreamDestroy_v2(void* stream) {
  if (current_device() < 0) return 201;
  standin::destroy_queue(static_cast<standin::Queue*>(stream));
  return 0;
}
ENTRY cuStreamSynchronize(void* stream) {
  if (current_device() < 0) return 201;
  standin::drain(stream != nullptr ? static_cast<standin::Queue*>(stream) : default_queue());
  return 0;
}
ENTRY cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, void* stream) {
  if (current_device() < 0) return 201;
  return code(standin::copy(static_cast<standin::Queue*>(stream), reinterpret_cast<void*>(dst),
                            reinterpret_cast<const void*>(src), bytes, Ranges::keep_all));
}
// In the default queue. Within the device the host is not waited for ("API synchronization
// behavior"), but for memory with SYNC_MEMOPS: who needs the bytes waits for the queue.
ENTRY cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes) {
  if (current_device() < 0) return 201;
  const Outcome o = standin::copy(default_queue(), reinterpret_cast<void*>(dst),
                                  reinterpret_cast<const void*>(src), bytes, Ranges::keep_all);
  standin::Block to, from;
  const bool within = standin::find(dst, &to) && standin::find(src, &from);
  if (o == Outcome::ok &&
      (!within || to.synchronous || from.synchronous || (g_flags & kSyncMemops) != 0)) {
    standin::drain(default_queue());
  }
  return code(o);
}
ENTRY cuMemcpyHtoD_v2(CUdeviceptr dst, const void* src, size_t bytes) {
  return cuMemcpy(dst, reinterpret_cast<CUdeviceptr>(src), bytes);
}
ENTRY cuMemcpyDtoH_v2(void* dst, CUdeviceptr src, size_t bytes) {
  return cuMemcpy(reinterpret_cast<CUdeviceptr>(dst), src, bytes);
}
ENTRY cuEventCreate(void** event, unsigned) {
  if (current_device() < 0) return 201;
  *event = new Event;
  return 0;
}
ENTRY cuEventDestroy_v2(void* event) {
  delete static_cast<Event*>(event);
  return 0;
}
ENTRY cuEventRecord(void* event, void* stream) {
  return standin::record(event, stream);
}
// Asked with no context current, drivers have answered both ways; this one takes the strict one.
ENTRY cuEventQuery(void* event) {
  if (current_device() < 0) return 201;
  return standin::query(event);
}
ENTRY cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer) {
  return code(standin::export_handle(reinterpret_cast<void*>(pointer),
                                     reinterpret_cast<standin::Handle*>(handle), Finds::driver));
}
ENTRY cuIpcOpenMemHandle_v2(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned flags) {
  if (current_device() < 0) return 201;
  if (flags != 1) return 1;
  standin::Handle h;
  std::memcpy(&h, &handle, sizeof h);
  void* out = nullptr;
  const Outcome o = standin::import_handle(h, &out, Finds::driver);
  if (o == Outcome::ok) *pointer = reinterpret_cast<CUdeviceptr>(out);
  return code(o);
}
ENTRY cuIpcCloseMemHandle(CUdeviceptr pointer) {
  if (current_device() < 0) return 201;
  return code(standin::close_import(reinterpret_cast<void*>(pointer)));
}
ENTRY cuMemHostRegister_v2(void* addr, size_t bytes, unsigned) {
  if (current_device() < 0) return 201;
  return standin::lock(addr, bytes);
}
// Lasts as long as the process.
ENTRY cuMemHostAlloc(void** addr, size_t bytes, unsigned flags) {
  *addr = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  return cuMemHostRegister_v2(*addr, bytes, flags);
}
ENTRY cuMemHostUnregister(void* addr) {
  if (current_device() < 0) return 201;
  return standin::unlock(addr);
}
ENTRY cuMemGetHandleForAddressRange(void* handle, CUdeviceptr pointer, size_t bytes, int type,
                                    unsigned long long) {
  if (type != 1 || pointer % 4096 != 0 || bytes % 4096 != 0) return 1;
  uint64_t offset = 0;
  return code(standin::export_descriptor(reinterpret_cast<void*>(pointer),
                                         static_cast<int*>(handle), &offset, Descriptor::callers));
}
ENTRY cuFlushGPUDirectRDMAWrites(int, int) {
  return current_device() < 0 ? 201 : 0;
}
