// Simulated devices: what the stand-ins for the drivers' libraries share. Memory of a device is a
// shared file mapped twice: at the device address, where the processor may not touch it, and at an
// alias that only this code knows. Whoever loads or stores through a device address faults.
//
// A copy happens when it is due (latency and bandwidth) and somebody asks, never in the call that
// enqueues it: who reads too early reads old bytes, and who reuses a source too early sends wrong
// ones.
//
// Environment, the same for all three libraries (STANDIN_<name>):
//   DEVICES       devices there are (2)
//   MEMORY        bytes of each (1 GiB)
//   LATENCY       nanoseconds of a copy (5000)
//   BANDWIDTH     bytes per nanosecond (16), also fractions
//   PAGEABLE      the part of it that copies of host memory have that is not page-locked (1)
//   VERSION       the driver's version, as it numbers them
//   IPC           "opaque": handles of Level Zero's newer form, which names the process
//   FAIL          what fails: "init", "alloc", "ipc", "no-uva", "mark" (see
//                 make_synchronous()), or "lost:N": from the Nth copy on
//                 every call says that the device is lost
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace standin {

enum class Outcome { ok, not_ready, invalid, no_memory, no_device, lost, unsupported, forked };

// ---- settings ----
int device_count();
uint64_t memory_bytes();
int setting(const char* name, int otherwise);
bool fails(const char* what);
bool opaque_handles();

// Marks the driver as started in this process.
void start();
// Outcome::forked when it was started in another process, from which this one was forked;
// Outcome::lost once a device is.
Outcome usable();

// ---- memory ----
Outcome allocate(int device, size_t length, void** out);
Outcome release(void* addr);

struct Block {
  uint64_t base = 0;
  size_t length = 0;
  int device = 0;
  bool imported = false;
  bool synchronous = false;  // see make_synchronous()
};
bool find(uint64_t addr, Block* out);
// Synchronous operations on the memory that holds the address are so for the host too, from now on.
bool make_synchronous(uint64_t addr);

// 64 bytes that another process turns into its own mapping of the memory.
struct Handle {
  char bytes[64];
};
// The descriptor that a handle holds is found by the driver, by the process that is named in it, or
// the program, which puts one of its own into the handle (Level Zero's older form).
enum class Finds { driver, program };
Outcome export_handle(void* addr, Handle* out, Finds finds);
Outcome import_handle(const Handle& handle, void** out, Finds finds);
Outcome close_import(void* addr);
// A descriptor of the memory, and where `addr` lies in it. The caller's to close, or the one that
// the driver itself has.
enum class Descriptor { callers, drivers };
Outcome export_descriptor(void* addr, int* fd, uint64_t* offset, Descriptor whose);
// Handles of the memory that are to be given back before it is released (Level Zero). Who breaks
// that rule ends.
void count_handle(void* addr);
Outcome give_back(const Handle& handle);

// ---- copies, in order within a queue ----
struct Queue;
Queue* make_queue();
void destroy_queue(Queue* queue);
// A driver demands of the host memory of a copy, where some is page-locked (README): nothing, that
// a copy stays in a page-locked range in which it begins, or that it also reaches into none.
enum class Ranges { any, keep_begun, keep_all };
Outcome copy(Queue* queue, void* dst, const void* src, size_t length, Ranges ranges = Ranges::any);
// Complete on return, and beside every queue: waits as long as the device takes.
Outcome copy_now(void* dst, const void* src, size_t length, Ranges ranges = Ranges::any);
// The place behind what is in the queue now.
uint64_t mark(Queue* queue);
Outcome reached(Queue* queue, uint64_t place);
void drain(Queue* queue);

// What the device copied between its memory and the host's in this process, for tests that look
// where the bytes came from: host addresses of all copies lie in [low, high).
struct Tally {
  uint64_t copies = 0, bytes = 0;
  uint64_t locked = 0;  // copies of page-locked memory
  uint64_t low = UINT64_MAX, high = 0;
};

// ---- page-locked host memory ----
// Outcome::invalid where a part of it is page-locked already.
Outcome pin(void* addr, size_t length);
Outcome unpin(void* addr);
// The range that holds the address.
bool find_pinned(uint64_t addr, uint64_t* base, size_t* length);

}  // namespace standin

// Writes what has been copied since the last call.
extern "C" __attribute__((visibility("default"))) void causeway_standin_tally(standin::Tally* out);
// Where the bytes of the range are that only the device reaches; the address itself when it is no
// device's, and NULL when the range leaves the device's memory: for tests' libraries that stand in
// for those that reach devices.
extern "C" __attribute__((visibility("default"))) void* causeway_standin_bytes(const void* addr,
                                                                               size_t length);
