// StreamDevice: a device of a driver that has streams and events, as CUDA and HIP do. `V` gives the
// driver's calls one name each:
//   Where, Current        what is made current for the thread around a call, as long as it lives
//   IpcHandle             64 bytes
//   alloc ... export_range  the calls below; each returns the driver's int, 0 for success
//   kAlloc ... kExportRange their names, for messages
//   kAlreadyLocked, kNotLocked  what lock() and unlock() of host memory answer
//   kRefused              what copy() answers where it may not (below)
//   locked_bytes(p)       from there to the end of the page-locked range that holds it; SIZE_MAX
//                         where the driver does not say
//   status_of(int), fail(err, name, int)
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

#include "gpu.h"

namespace causeway {

template <class V>
class StreamDevice : public cwym_kind {
 public:
  using cwym_kind::cwym_kind;

  cwy_status alloc(uint64_t length, void** out, cwy_err* err) override {
    const typename V::Current current(where_);
    const int result = V::alloc(out, length);
    return result == 0 ? CWY_OK : V::fail(err, V::kAlloc, result);
  }
  cwy_status release(void* addr) override {
    const typename V::Current current(where_);
    return V::status_of(V::release(addr));
  }

  cwy_status export_ipc(uint64_t base, cwy_memref* out, cwy_err* err) override {
    const typename V::Current current(where_);
    typename V::IpcHandle handle{};
    const int result = V::get_ipc(&handle, reinterpret_cast<void*>(base));
    if (result != 0) return V::fail(err, V::kGetIpc, result);
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
    return result == 0 ? CWY_OK : V::fail(err, V::kOpenIpc, result);
  }
  void close_ipc(void* base) override {
    const typename V::Current current(where_);
    V::close_ipc(base);
  }

  // Drivers take whole pages.
  cwy_status export_dmabuf(uint64_t addr, uint64_t length, cwy_memref* out, cwy_err* err) override {
    if (!exports_dmabufs()) {
      return report(err, CWY_ERR_UNSUPPORTED, "this driver or device exports no dma-buf");
    }
    const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    const uint64_t start = addr / page * page;
    const uint64_t bytes = (addr + length - start + page - 1) / page * page;
    const typename V::Current current(where_);
    const int result = V::export_range(&out->fd, reinterpret_cast<void*>(start), bytes);
    if (result != 0) return V::fail(err, V::kExportRange, result);
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
    if (result != 0 && result != V::kAlreadyLocked) return V::fail(err, V::kLock, result);
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
    return result == V::kNotLocked ? CWY_ERR_INVALID : V::status_of(result);
  }

  void* make_event(cwy_status* status) override {
    const typename V::Current current(where_);
    void* event = nullptr;
    *status = V::status_of(V::make_event(&event));
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
    return V::status_of(result);
  }
  cwy_status poll(void* event) override {
    const typename V::Current current(where_);
    return V::status_of(V::query(event));
  }

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
    if (current.result() != 0) return V::fail(err, V::kMakeCurrent, current.result());
    for (void*& stream : streams_) {
      const int result = V::make_stream(&stream);
      if (result == 0) continue;
      stream = nullptr;
      return V::fail(err, V::kMakeStream, result);
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

// The beginning of both drivers' open(): is there a device with that number?
inline cwy_status check_ordinal(int32_t device, int count, uint64_t native_length, cwy_err* err) {
  if (native_length != 0) {
    return report(err, CWY_ERR_INVALID, "this kind takes no native handle");
  }
  if (count == 0) return report(err, CWY_ERR_UNSUPPORTED, "the driver sees no device");
  if (device >= 0 && device < count) return CWY_OK;
  return report(err, CWY_ERR_INVALID, "there is no device %d; devices are numbered 0 to %d", device,
                count - 1);
}

}  // namespace causeway
