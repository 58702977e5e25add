// StreamDevice: a device of a driver that has streams and events, as CUDA and HIP do. `V` gives the
// driver's calls one name each:
//   Where, Current        what is made current for the thread around a call, as long as it lives
//   IpcHandle             64 bytes
//   alloc ... export_range  the calls below; each returns the driver's int, 0 for success
//   kAlloc ... kExportRange, kCount, kResult  their names and that of their results, for messages
//   words(int)            the driver's text for a result, or NULL
//   count(int*), device_name(text, room, ordinal), device_path(...)  its devices
//   Undisturbed           what lives around calls that are made where nothing is current
//   kClass, kName         the kind's
//   kAlreadyLocked, kNotLocked  what lock() and unlock() of host memory answer
//   kRefused              what copy() answers where it may not (below)
//   locked_bytes(p)       from there to the end of the page-locked range that holds it; SIZE_MAX
//                         where the driver does not say
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "gpu.h"
#include "results.h"

namespace causeway {

inline cwy_status status_of(Result result) {
  switch (result) {
    case kSuccess:
      return CWY_OK;
    case kNotReady:
      return CWY_INPROGRESS;
    case kInvalidValue:
    case kInvalidDevice:
      return CWY_ERR_INVALID;
    case kOutOfMemory:
      return CWY_ERR_NOMEM;
    case kNotInitialized:
    case kDeinitialized:
    case kDeviceUnavailable:
    case kEccUncorrectable:
    case kNvlinkUncorrectable:
    case kIllegalAddress:
    case kLaunchTimeout:
    case kContextIsDestroyed:
    case kAssert:
    case kHardwareStackError:
    case kIllegalInstruction:
    case kMisalignedAddress:
    case kInvalidAddressSpace:
    case kInvalidPc:
    case kLaunchFailed:
    case kUnknown:
      // Final for the context: a sticky error, a reset, a device that fell off its bus.
      return CWY_ERR_DEVICE_FAILED;
    default:
      return CWY_ERR_UNSUPPORTED;
  }
}

template <class V>
std::string text_of(Result result) {
  const char* const words = V::words(result);
  return std::string(words != nullptr ? words : "unknown") + " (" + V::kResult + " " +
         std::to_string(result) + ")";
}
template <class V>
cwy_status fail(cwy_err* err, const char* call, Result result) {
  return report(err, status_of(result), "%s: %s", call, text_of<V>(result).c_str());
}

template <class V>
class StreamDevice : public cwym_kind {
 public:
  using cwym_kind::cwym_kind;

  cwy_status alloc(uint64_t length, void** out, cwy_err* err) override {
    const typename V::Current current(where_);
    const int result = V::alloc(out, length);
    return result == 0 ? CWY_OK : fail<V>(err, V::kAlloc, result);
  }
  cwy_status release(void* addr) override {
    const typename V::Current current(where_);
    return status_of(V::release(addr));
  }

  cwy_status export_ipc(uint64_t base, cwy_memref* out, cwy_err* err) override {
    const typename V::Current current(where_);
    typename V::IpcHandle handle{};
    const int result = V::get_ipc(&handle, reinterpret_cast<void*>(base));
    if (result != 0) return fail<V>(err, V::kGetIpc, result);
    std::memcpy(out->ipc, handle.bytes, sizeof handle.bytes);
    out->ipc_len = sizeof handle.bytes;
    return CWY_OK;
  }
  cwy_status open_ipc(const cwy_memref& ref, void** base, cwy_err* err) override {
    typename V::IpcHandle handle{};
    if (ref.ipc_len != sizeof handle.bytes) {
      return report(err, CWY_ERR_INVALID, "a handle has %zu bytes, not %u", sizeof handle.bytes,
                    ref.ipc_len);
    }
    std::memcpy(handle.bytes, ref.ipc, sizeof handle.bytes);
    const typename V::Current current(where_);
    const int result = V::open_ipc(base, handle);
    return result == 0 ? CWY_OK : fail<V>(err, V::kOpenIpc, result);
  }
  void close_ipc(void* base) override {
    const typename V::Current current(where_);
    V::close_ipc(base);
  }

  // Drivers take whole pages.
  cwy_status export_dmabuf(uint64_t addr, uint64_t length, cwy_memref* out, cwy_err* err) override {
    if (!exports_dmabufs())
      return report(err, CWY_ERR_UNSUPPORTED, "this driver or device exports no dma-buf");
    const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    const uint64_t start = addr / page * page;
    const uint64_t bytes = (addr + length - start + page - 1) / page * page;
    const typename V::Current current(where_);
    const int result = V::export_range(&out->fd, reinterpret_cast<void*>(start), bytes);
    if (result != 0) return fail<V>(err, V::kExportRange, result);
    out->offset = addr - start;
    return CWY_OK;
  }

  // Counted, and what the program locked by itself stays locked.
  cwy_status pin(void* addr, uint64_t length, cwy_err* err) override {
    const std::lock_guard lock(pins_mutex_);
    if (const auto known = pins_.find(addr); known != pins_.end()) {
      ++known->second.count;
      return CWY_OK;
    }
    const typename V::Current current(where_);
    const int result = V::lock(addr, length);
    if (result != 0 && result != V::kAlreadyLocked) return fail<V>(err, V::kLock, result);
    pins_[addr] = {1, result == 0};
    return CWY_OK;
  }
  cwy_status unpin(void* addr) override {
    const std::lock_guard lock(pins_mutex_);
    const auto known = pins_.find(addr);
    if (known == pins_.end()) return CWY_ERR_INVALID;
    if (--known->second.count != 0) return CWY_OK;
    const bool ours = known->second.ours;
    pins_.erase(known);
    if (!ours) return CWY_OK;
    const typename V::Current current(where_);
    const int result = V::unlock(addr);
    return result == V::kNotLocked ? CWY_ERR_INVALID : status_of(result);
  }

  void* make_event(cwy_status* status) override {
    const typename V::Current current(where_);
    void* event = nullptr;
    *status = status_of(V::make_event(&event));
    return *status == CWY_OK ? event : nullptr;
  }
  void free_event(void* event) override { V::free_event(event); }
  cwy_status enqueue(Direction direction, void* dst, const void* src, uint64_t length,
                     void* event) override {
    const typename V::Current current(where_);
    int result = current.result();
    if (result == 0) result = V::copy(dst, src, length, streams_[direction]);
    if (result == V::kRefused && direction != within) {
      result =
          copy_in_pieces(direction, static_cast<char*>(dst), static_cast<const char*>(src), length);
    }
    if (result == 0) result = V::record(event, streams_[direction]);
    return status_of(result);
  }
  cwy_status poll(void* event, int32_t* result) override {
    const typename V::Current current(where_);
    return status_of(*result = V::query(event));
  }
  std::string words(int32_t result) const override { return text_of<V>(result); }

 protected:
  virtual bool exports_dmabufs() const = 0;

  // Drivers refuse a copy whose host memory lies partly in a page-locked range, and do nothing: the
  // range's end is the piece's. Where memory begins that is page-locked, by this kind or by the
  // program, nobody says, so a piece of ordinary memory that is refused is halved. The stream keeps
  // the pieces in order, and one event stands for all.
  int copy_in_pieces(Direction direction, char* dst, const char* src, uint64_t length) {
    while (length != 0) {
      uint64_t piece =
          std::min<uint64_t>(length, V::locked_bytes(direction == to_device ? src : dst));
      int result = V::copy(dst, src, piece, streams_[direction]);
      while (result == V::kRefused && piece > 1) {
        piece = (piece + 1) / 2;
        result = V::copy(dst, src, piece, streams_[direction]);
      }
      if (result != 0) return result;
      dst += piece;
      src += piece;
      length -= piece;
    }
    return 0;
  }

  cwy_status open_streams(cwy_err* err) {
    const typename V::Current current(where_);
    if (current.result() != 0) return fail<V>(err, V::kMakeCurrent, current.result());
    for (void*& stream : streams_) {
      const int result = V::make_stream(&stream);
      if (result == 0) continue;
      stream = nullptr;
      return fail<V>(err, V::kMakeStream, result);
    }
    return CWY_OK;
  }
  // For destructors.
  void close_streams() {
    const typename V::Current current(where_);
    for (void* stream : streams_) {
      if (stream == nullptr) continue;
      if (!lost()) V::wait_stream(stream);
      V::free_stream(stream);
    }
    end_copies();
  }

  typename V::Where where_{};

 private:
  struct Pinned {
    unsigned count;
    bool ours;
  };
  void* streams_[kDirections] = {};
  std::mutex pins_mutex_;
  std::map<void*, Pinned> pins_;
};

// The driver of such devices.
template <class V>
class StreamDriver : public Driver {
 public:
  uint32_t kind_class() const override { return V::kClass; }
  const char* name() const override { return V::kName; }

  cwy_status list(cwym_device_fn fn, void* arg, cwy_err* err) override {
    [[maybe_unused]] const typename V::Undisturbed kept{};
    int count = 0;
    const Result result = V::count(&count);
    if (result != 0) return fail<V>(err, V::kCount, result);
    if (count == 0) return report(err, CWY_ERR_UNSUPPORTED, "the driver sees no device");
    for (int i = 0; i < count; ++i) {
      char device_name[128] = "unnamed", path[64] = "";
      V::device_name(device_name, sizeof device_name, i);
      V::device_path(path, sizeof path, i);
      tell_device(fn, arg, i, device_name, path);
    }
    return CWY_OK;
  }

  cwy_status open(int32_t device, const void*, uint64_t native_length, cwym_kind** out,
                  cwy_err* err) override {
    [[maybe_unused]] const typename V::Undisturbed kept{};
    int count = 0;
    const Result result = V::count(&count);
    if (result != 0) return fail<V>(err, V::kCount, result);
    if (native_length != 0) return report(err, CWY_ERR_INVALID, "this kind takes no native handle");
    if (count == 0) return report(err, CWY_ERR_UNSUPPORTED, "the driver sees no device");
    if (device >= 0 && device < count) return make(device, out, err);
    return report(err, CWY_ERR_INVALID, "there is no device %d; devices are numbered 0 to %d",
                  device, count - 1);
  }

  // Opens one that is there.
  virtual cwy_status make(int32_t device, cwym_kind** out, cwy_err* err) = 0;
};

}  // namespace causeway
