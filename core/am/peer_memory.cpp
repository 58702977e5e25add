#include "am/peer_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/context.h"
#include "base/fatal.h"
#include "connection/peer.h"
#include "kinds/places.h"
#include "object/endpoint.h"
#include "object/segment.h"
#include "thread/tsan_annotations.h"

namespace causeway {
namespace {

// Memory that is in no segment is copied by the kernel, which answers where a store would end the
// process.
template <typename Call>
void copy_by_kernel(Call call, const Peer& from, void* here, uint64_t there, size_t length,
                    const char* what) {
  const iovec local{here, length};
  const iovec remote{reinterpret_cast<void*>(there), length};
  if (call(::getpid(), &local, 1ul, &remote, 1ul, 0ul) == static_cast<ssize_t>(length)) return;
  fatal(what, "rank {} named [{:#x}, {:#x}), which this rank cannot access: {}", from.rank, there,
        there + length, errno == 0 ? "not all of it is mapped" : strerror(errno));
}

}  // namespace

void require_in_segment(const Peer& from, uint64_t addr, uint64_t length, const char* what) {
  const Segment* segment = from.ep->segment();
  if (segment != nullptr && segment->contains(addr, length)) return;
  // GEX_FLAG_PEER_SEG_SOME: the memory of any segment may be named.
  if (in_any_segment(addr, length)) return;
  if (segment != nullptr) {
    const auto base = reinterpret_cast<uint64_t>(segment->addr());
    fatal(what, "rank {} named [{:#x}, {:#x}), which is outside this rank's segment [{:#x}, {:#x})",
          from.rank, addr, addr + length, base, base + segment->size());
  }
  fatal(what, "rank {} named address {:#x}, but no segment is bound here", from.rank, addr);
}

bool is_doubtful(uint64_t addr, size_t length, bool anywhere) {
  if (__builtin_expect(context().everything(), 0)) return context().checks() && length != 0;
  return anywhere && !in_any_segment(addr, length);
}

namespace {

template <typename Word>
void store_word(uint64_t addr, const void* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  std::atomic_ref<Word>(*reinterpret_cast<Word*>(addr)).store(word, std::memory_order_release);
}

// A payload that fits a word is stored at once, as by a peer that maps the memory, and after what
// was stored before: release, for clients that look for it. False: it is no word of host memory.
bool stored_as_word(const char* call, uint64_t addr, const void* from, size_t length) {
  const bool is_word = (length == 8 || length == 4) && addr % length == 0;
  if (!is_word || device_at(call, addr, length) != nullptr) return false;
  if (length == 8)
    store_word<uint64_t>(addr, from);
  else
    store_word<uint32_t>(addr, from);
  return true;
}

}  // namespace

void store_for_peer(const Peer& from, uint64_t addr, const void* payload, size_t length,
                    bool anywhere, const char* what) {
  const AnnotatePeerAccess access;
  if (is_doubtful(addr, length, anywhere)) {
    copy_by_kernel(process_vm_writev, from, const_cast<void*>(payload), addr, length, what);
    return;
  }
  require_in_segment(from, addr, length, what);
  if (stored_as_word(what, addr, payload, length)) return;
  copy_bytes(what, reinterpret_cast<void*>(addr), payload, length);
}

void load_for_peer(const Peer& from, uint64_t addr, void* to, size_t length, bool anywhere,
                   const char* what) {
  const AnnotatePeerAccess access;
  if (is_doubtful(addr, length, anywhere)) {
    copy_by_kernel(process_vm_readv, from, to, addr, length, what);
    return;
  }
  require_in_segment(from, addr, length, what);
  copy_bytes(what, to, reinterpret_cast<const void*>(addr), length);
}

}  // namespace causeway
