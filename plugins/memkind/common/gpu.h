// Shared by the kinds of device memory in this tree: the table of the plugin, copies under way,
// fork, lost devices. A kind implements Driver and a device (cwym_kind) over its driver's entry
// points.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/memkind.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../../common/guard.h"
#include "../../common/plugin_error.h"

// An opened device. Calls come from any thread, several at once.
struct cwym_kind {
 public:
  explicit cwym_kind(int32_t ordinal) : ordinal_(ordinal) {}
  virtual ~cwym_kind() = default;
  cwym_kind(const cwym_kind&) = delete;
  cwym_kind& operator=(const cwym_kind&) = delete;

  int32_t ordinal() const { return ordinal_; }

  // ---- what the driver does ----
  virtual void describe(cwym_attr& attr) = 0;  // caps, class and device are filled in already
  virtual cwy_status alloc(uint64_t length, void** out, cwy_err* err) = 0;
  virtual cwy_status release(void* addr) = 0;
  virtual cwy_status export_ipc(uint64_t base, cwy_memref* out, cwy_err* err) = 0;
  virtual cwy_status export_dmabuf(uint64_t addr, uint64_t length, cwy_memref* out,
                                   cwy_err* err) = 0;
  // Where the memory that a handle names begins here.
  virtual cwy_status open_ipc(const cwy_memref& ref, void** base, cwy_err* err) = 0;
  virtual void close_ipc(void* base) = 0;
  virtual cwy_status pin(void* addr, uint64_t length, cwy_err* err) = 0;
  virtual cwy_status unpin(void* addr) = 0;
  virtual cwy_status push() { return CWY_OK; }
  virtual cwy_status pop() { return CWY_OK; }
  virtual cwy_status flush() { return CWY_OK; }
  // The memory that holds `addr` is a segment's: copies of the kind's and networks reach it, which
  // the program's own work on the device is not ordered with.
  virtual void meet_segment(uint64_t) {}

  // Something that a copy records and that can be asked whether it has happened.
  virtual void* make_event(cwy_status* status) = 0;
  virtual void free_event(void* event) = 0;
  enum Direction { to_device, from_device, within };
  static constexpr int kDirections = 3;
  // Enqueues a copy and the event behind it. Each direction has a queue of its own.
  virtual cwy_status enqueue(Direction direction, void* dst, const void* src, uint64_t length,
                             void* event) = 0;
  // CWY_OK: it has happened; CWY_INPROGRESS; else the copy has failed, and `result` is the driver's
  // number for it.
  virtual cwy_status poll(void* event, int32_t* result) = 0;
  virtual std::string words(int32_t result) const = 0;  // the driver's, for a result

  // ---- what is the same for all ----
  cwy_status copy(void* dst, const void* src, uint64_t length, cwym_op* op);
  uint32_t progress(uint32_t budget);
  // Reports the end of a copy.
  void tell(cwym_op* op, cwy_status status, int32_t result) const;
  // Notes a device that is gone; returns `status`.
  cwy_status noted(cwy_status status) {
    if (status == CWY_ERR_DEVICE_FAILED) lost_.store(true, std::memory_order_relaxed);
    return status;
  }
  bool lost() const { return lost_.load(std::memory_order_relaxed); }

 protected:
  // For destructors of devices: ends every copy and frees the events.
  void end_copies();

 private:
  struct Pending {
    void* event;
    cwym_op* op;
  };
  // Copies under way at most in a direction: more answer RETRY.
  static constexpr size_t kMost = 512;

  cwy_status take_event(void** out);

  const int32_t ordinal_;
  std::atomic<bool> lost_{false};  // relaxed: late readers ask the driver, which says the same
  std::mutex mutex_;               // of the members below; not held while a report runs
  std::deque<Pending> pending_[kDirections];  // each in the order of its queue
  std::vector<void*> events_;                 // free ones
};

namespace causeway {

// The memory that an address belongs to.
struct Allocation {
  uint64_t base = 0, length = 0;
  int32_t device = 0;
};

class Driver {
 public:
  virtual ~Driver() = default;
  // The first call in a process initialises the driver. Empty text: it can be used.
  virtual std::string start() = 0;
  virtual cwy_status list(cwym_device_fn fn, void* arg, cwy_err* err) = 0;
  virtual cwy_status open(int32_t device, const void* native, uint64_t native_length,
                          cwym_kind** out, cwy_err* err) = 0;
  // Is the byte at `addr` device memory of this driver's? Must not fault.
  virtual bool find(uint64_t addr, Allocation* out) = 0;

  virtual uint32_t kind_class() const = 0;
  virtual const char* name() const = 0;  // "memory kind 'cuda'"
};

// Each plugin's own.
Driver& driver();
extern const cwy_services* gpu_services;

// The driver, started in this process; or NULL with the reason in `err`. A process that was forked
// from one where the driver had started gets the reason too: no driver survives that.
Driver* started_driver(cwy_err* err);
bool driver_is_usable();

// Calls `fn` for one device. The kernel knows the NUMA node of a PCI address.
void tell_device(cwym_device_fn fn, void* arg, int32_t index, const char* description,
                 const char* path);

// Opens a device with what its open() asks for, and hands it over where that went well.
template <class Device, class... What>
cwy_status open_device(std::unique_ptr<Device> device, cwym_kind** out, const What&... what) {
  const cwy_status status = device->open(what...);
  if (status == CWY_OK) *out = device.release();
  return status;
}

}  // namespace causeway
