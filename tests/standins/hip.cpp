// Stand-in for libamdhip64.so.5: the entry points that plugins/memkind/hip uses, over simulated
// devices. Signatures as in AMD's public reference.
#include <cstdio>
#include <cstring>

#include "streams.h"

using namespace standin;

namespace {

struct hipIpcMemHandle_t {
  char reserved[64];
};

thread_local int t_device = 0;
// The answer of the thread's last call that did not succeed.
thread_local int t_error = 0;
int noted(int answer) {
  if (answer != 0) t_error = answer;
  return answer;
}

int version() {
  return standin::setting("VERSION", 50221151);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const char* hipGetErrorString(int error) {
  return error == 0     ? "no error"
         : error == 1   ? "invalid argument"
         : error == 2   ? "out of memory"
         : error == 3   ? "initialization error"
         : error == 100 ? "no ROCm-capable device is detected"
         : error == 719 ? "unspecified launch failure"
                        : "another error";
}
ENTRY hipRuntimeGetVersion(int* out) {
  *out = version();
  return 0;
}
ENTRY hipGetDeviceCount(int* count) {
  if (standin::fails("init")) return noted(100);
  standin::start();
  const Outcome o = standin::usable();
  if (o != Outcome::ok) return noted(code(o));
  *count = standin::device_count();
  return noted(*count == 0 ? 100 : 0);
}
ENTRY hipDeviceGetName(char* name, int length, int device) {
  if (!valid(device)) return noted(101);
  std::snprintf(name, static_cast<size_t>(length), "Simulated HIP device %d", device);
  return 0;
}
ENTRY hipDeviceTotalMem(size_t* bytes, int device) {
  if (!valid(device)) return noted(101);
  *bytes = standin::memory_bytes();
  return 0;
}
ENTRY hipDeviceGetPCIBusId(char* text, int length, int device) {
  if (!valid(device)) return noted(101);
  std::snprintf(text, static_cast<size_t>(length), "0000:%02x:00.0", 0x80 + device);
  return 0;
}
ENTRY hipGetDevice(int* device) {
  *device = t_device;
  return 0;
}
ENTRY hipSetDevice(int device) {
  if (!valid(device)) return noted(101);
  t_device = device;
  return 0;
}
ENTRY hipMalloc(void** pointer, size_t bytes) {
  return noted(code(standin::allocate(t_device, bytes, pointer)));
}
ENTRY hipFree(void* pointer) {
  return pointer == nullptr ? 0 : noted(code(standin::release(pointer)));
}
ENTRY hipMemcpyAsync(void* dst, const void* src, size_t bytes, int kind, void* stream) {
  if (kind != 4) return noted(1);
  return noted(code(
      standin::copy(static_cast<standin::Queue*>(stream), dst, src, bytes, Ranges::keep_begun)));
}
ENTRY hipMemcpy(void* dst, const void* src, size_t bytes, int kind) {
  if (kind != 4) return noted(1);
  return noted(code(standin::copy_now(dst, src, bytes, Ranges::keep_begun)));
}
ENTRY hipPointerGetAttribute(void* data, int attribute, void* pointer) {
  standin::Block block;
  if (!standin::find(reinterpret_cast<uint64_t>(pointer), &block)) return noted(1);
  switch (attribute) {
    case 2:
      *static_cast<int*>(data) = version() >= 60000000 ? 2 : 1;
      return 0;
    case 9:
      *static_cast<int*>(data) = block.device;
      return 0;
    case 11:
      *static_cast<void**>(data) = reinterpret_cast<void*>(block.base);
      return 0;
    case 12:  // of 32 bits with some runtimes, and of 64 with others
      *static_cast<uint32_t*>(data) = static_cast<uint32_t>(block.length);
      return 0;
    default:
      return noted(1);
  }
}
// Also of page-locked host memory.
ENTRY hipMemGetAddressRange(void** base, size_t* bytes, void* pointer) {
  standin::Block block;
  const auto at = reinterpret_cast<uint64_t>(pointer);
  if (!standin::find(at, &block) && !standin::find_pinned(at, &block.base, &block.length)) {
    return noted(500);
  }
  *base = reinterpret_cast<void*>(block.base);
  *bytes = block.length;
  return 0;
}
// An error stays until it is asked for, whatever succeeds meanwhile.
ENTRY hipPeekAtLastError() {
  return t_error;
}
ENTRY hipGetLastError() {
  const int error = t_error;
  t_error = 0;
  return error;
}
ENTRY hipStreamCreateWithFlags(void** stream, unsigned) {
  *stream = standin::make_queue();
  return 0;
}
ENTRY hipStreamDestroy(void* stream) {
  standin::destroy_queue(static_cast<standin::Queue*>(stream));
  return 0;
}
// Copies that name no stream have ended when they return.
ENTRY hipStreamSynchronize(void* stream) {
  if (stream == nullptr) return 0;
  standin::drain(static_cast<standin::Queue*>(stream));
  return 0;
}
ENTRY hipEventCreateWithFlags(void** event, unsigned) {
  *event = new Event;
  return 0;
}
ENTRY hipEventDestroy(void* event) {
  delete static_cast<Event*>(event);
  return 0;
}
ENTRY hipEventRecord(void* event, void* stream) {
  return standin::record(event, stream);
}
ENTRY hipEventQuery(void* event) {
  return noted(standin::query(event));  // "not ready" too
}
ENTRY hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* pointer) {
  return noted(code(
      standin::export_handle(pointer, reinterpret_cast<standin::Handle*>(handle), Finds::driver)));
}
ENTRY hipIpcOpenMemHandle(void** pointer, hipIpcMemHandle_t handle, unsigned flags) {
  if (flags != (version() >= 60000000 ? 1 : 0)) return noted(1);
  standin::Handle h;
  std::memcpy(&h, &handle, sizeof h);
  return noted(code(standin::import_handle(h, pointer, Finds::driver)));
}
ENTRY hipIpcCloseMemHandle(void* pointer) {
  return noted(code(standin::close_import(pointer)));
}
ENTRY hipHostRegister(void* addr, size_t bytes, unsigned) {
  return noted(standin::lock(addr, bytes));
}
ENTRY hipHostUnregister(void* addr) {
  return noted(standin::unlock(addr));
}
