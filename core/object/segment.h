// Segment: memory of this process that peers may reach, registered in each conduit that wants it.
#pragma once

#include <gasnetex.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connection/conduit_set.h"
#include "connection/peer.h"

namespace causeway {

class Client;
class Device;
class MemKind;

// The entry of a pack() that says of device memory what a peer needs to know (staging/remote.h). No
// conduit can have that name.
inline constexpr const char* kDeviceEntry = "@device";

class Segment {
 public:
  // Library-allocated: from the first conduit that can map it into neighbors, else ordinary
  // memory. `wish`: where it is to lie, if that can be. Throws Error(CWY_ERR_NOMEM) with the sizes
  // in question.
  static Segment* allocate(Client* client, size_t size, void* wish = nullptr);
  // Client-allocated host memory.
  static Segment* describe(Client* client, void* addr, size_t size, gex_Flags_t flags);
  // GASNET_SEGMENT_EVERYTHING: every address of this process, as base 0 and the largest size.
  // Conduits that map or attach memory learn of it; others could only pin it.
  static Segment* everything(Client* client);
  bool is_everything() const { return size_ == UINT64_MAX; }
  // It is attached: the client may not destroy it (specification of gex_Segment_Destroy()).
  void set_lasting() { lasting_ = true; }
  bool is_lasting() const { return lasting_; }
  // Memory of a device: the kind allocates it (`addr` NULL) or the client did. Throws
  // Error(CWY_ERR_INVALID) when it is not memory of that device.
  static Segment* on_device(Client* client, MemKind& kind, void* addr, size_t size,
                            gex_Flags_t flags);
  // Host memory of the library's own, registered but not for peers to name.
  static Segment* scratch(Client* client, size_t size);
  // The same for peers that are told of it: mapped into neighbors where a conduit can.
  static Segment* scratch_for_peers(Client* client, size_t size);
  ~Segment();
  // Before it goes: peers that have its memory open let go of it. Polls meanwhile; not with a lock
  // that a handler may want. `call` is for diagnostics.
  void recall(const char* call) const;

  Client* client() const { return client_; }
  void* addr() const { return addr_; }
  size_t size() const { return size_; }
  // No other segment of this process has it, or had; not 0. See RemoteSegment.
  uint64_t number() const { return number_; }
  gex_Flags_t flags() const { return flags_; }
  // NULL: host memory.
  Device* device() const { return device_; }

  // The registration in a conduit, or NULL.
  cwyc_mem* registration(const Conduit* conduit) const;
  // The text by which peers reach the segment: a number that no other segment of this process had,
  // base, size, whether it lasts, and per conduit the packed right.
  std::string pack() const;
  bool contains(uint64_t addr, uint64_t length) const {
    const auto base = reinterpret_cast<uint64_t>(addr_);
    return addr >= base && addr - base <= size_ && length <= size_ - (addr - base);
  }

  const void* cdata = nullptr;

 private:
  Segment(Client* client, void* addr, size_t size, gex_Flags_t flags);
  enum class Conduits { all, mapping };
  // Memory of the first conduit that has some for neighbors, else of this process' own.
  static std::unique_ptr<Segment> from_conduit(Client* client, size_t size, void* wish);
  // Before anything is registered: whose memory it is, or NULL.
  const Conduit* allocator() const {
    return registrations_.empty() ? nullptr : registrations_.front().conduit;
  }
  void map_here();
  void register_everywhere(const Conduit* except, Conduits conduits = Conduits::all);
  void register_device();
  void register_in(ConduitEp& cep, const cwy_memref& ref);
  void enlist();

  struct Registration {
    Conduit* conduit;
    cwyc_mem* mem;
  };
  Client* client_;
  void* addr_;
  size_t size_;
  gex_Flags_t flags_;
  uint64_t number_;
  bool lasting_ = false;      // told to peers
  bool enlisted_ = false;     // in the process' list
  bool mapped_here_ = false;  // by mmap of ours
  MemKind* kind_ = nullptr;   // of device memory
  Device* device_ = nullptr;
  bool kind_allocated_ = false;
  std::vector<Registration> registrations_;
};

// A pack() as a peer reads it.
struct PackedSegment {
  uint64_t number = 0;  // Segment::number()
  uint64_t base = 0;
  uint64_t size = 0;
  bool lasting = false;  // Segment::set_lasting()
  std::string rights;
  static PackedSegment unpack(std::string_view packed);
  bool operator==(const PackedSegment&) const = default;
  // The packed right for one conduit name; empty if there is none.
  std::string right(std::string_view conduit_name) const;
};

// Adds to a rank's word for others what pack() says of the segment bound to its endpoint `index`;
// an empty text: none is.
void put_published(std::string& word, uint16_t index, std::string_view packed);
// Calls fn(index, packed) for each endpoint that a word tells of, behind its first letter. Throws
// Error: the word is another text.
void for_each_published(std::string_view word,
                        const std::function<void(uint16_t, std::string_view)>& fn);

// Does every byte of [addr, addr+length) lie in some segment of this process, of any client, bound
// or not? Any thread, any context.
bool in_any_segment(uint64_t addr, uint64_t length);

// A segment that holds all of the range, but for one of everything. Any thread, any context.
// `number`: Segment::number(), for who asks.
bool find_segment(uint64_t addr, uint64_t length, uint64_t* base, uint64_t* size,
                  uint64_t* number = nullptr);

// gasnet_getMaxLocalSegmentSize: configured or derived from memory free on this host, shared
// among its ranks. Measured once, when this rank writes its card, so that what a client was told
// is what it may ask for; the job's least is the least of the cards.
size_t max_segment_size();
size_t measure_max_segment();

inline Segment* as(gex_Segment_t s) {
  return reinterpret_cast<Segment*>(s);
}
inline gex_Segment_t as_c(Segment* s) {
  return reinterpret_cast<gex_Segment_t>(s);
}

}  // namespace causeway
