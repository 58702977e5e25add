// Memory that processes of one host share: a memfd, or POSIX shared memory where other processes
// cannot open this one's descriptors. And how a peer finds and maps it.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "options.h"

namespace causeway::shm {

// A mapping of this process, undone on destruction.
class Mapping {
 public:
  Mapping() = default;
  Mapping(void* base, size_t length) : base_(base), length_(length) {}
  Mapping(Mapping&& other) noexcept { swap(other); }
  Mapping& operator=(Mapping&& other) noexcept {
    Mapping(static_cast<Mapping&&>(other)).swap(*this);
    return *this;
  }
  ~Mapping();
  void* base() const { return base_; }
  size_t length() const { return length_; }

 private:
  void swap(Mapping& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(length_, other.length_);
  }
  void* base_ = nullptr;
  size_t length_ = 0;
};

// The data by which a peer finds an object; travels inside addresses and rkeys.
struct ObjectAddress {
  uint32_t pid;
  int32_t fd;  // of that process; -1: POSIX, by name
  uint64_t inode;
  uint64_t device;
  uint64_t length;
  char name[128];
};

struct ObjectRequest {
  size_t length = 0;
  bool posix = false;
  HugePages huge_pages = HugePages::never;
  Reserve reserve = Reserve::automatic;
  const char* job_id = "";
  const char* purpose = "";  // for messages
};

// An object this process owns. Destruction closes it and removes its name.
class Object {
 public:
  Object() = default;
  Object(Object&& other) noexcept { *this = static_cast<Object&&>(other); }
  Object& operator=(Object&& other) noexcept;
  ~Object();

  // May enlarge the length to whole huge pages. `huge_missing` is set when huge pages were tried
  // in vain.
  static cwy_status create(const ObjectRequest& request, Object& out, bool& huge_missing,
                           cwy_err* err);
  // `wish` NULL: anywhere; otherwise there when nothing else is there, else anywhere.
  cwy_status map(void* wish, Mapping& out, cwy_err* err) const;
  const ObjectAddress& address() const { return address_; }
  size_t length() const { return address_.length; }
  bool huge() const { return huge_; }
  // POSIX: peers that have not mapped it by now cannot any more.
  void unlink_name();

 private:
  cwy_status open_descriptor(const ObjectRequest& request, bool huge, cwy_err* err);
  cwy_status give_length(const ObjectRequest& request, cwy_err* err);
  void close();

  int fd_ = -1;
  bool huge_ = false;
  bool named_ = false;
  ObjectAddress address_{};
};

// Maps a peer's object, having checked that it is the one the address was made for.
cwy_status map_peer_object(const ObjectAddress& address, Mapping& out, cwy_err* err);

// Are there memfds, and can peers open this process's descriptors through /proc? False where it is
// not dumpable.
bool memfds_serve();

inline constexpr const char* posix_directory = "/dev/shm";

// Removes POSIX objects of processes that are gone, of any job of this user.
void sweep_stale_objects();

// A thread of that process that has not ended, as a process's first may long before the others; the
// kernel shows descriptors and memory of such only. 0: there is none.
uint32_t living_thread(uint32_t pid);

// Start time of a process in clock ticks since boot, 0 when there is no such process or /proc is
// another pid namespace's; nullopt when this process cannot look, for want of descriptors or
// memory.
std::optional<uint64_t> process_start_time(uint32_t pid);

}  // namespace causeway::shm
