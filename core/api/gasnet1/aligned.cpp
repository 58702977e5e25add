#include "api/gasnet1/aligned.h"

#include <sys/mman.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <string>

#include "collective/exchange.h"
#include "object/team.h"

namespace causeway {
namespace {

// Places that programs leave alone: well above heap and executable, below libraries and stacks.
// Some tools that instrument programs claim the middle of the address space, hence the last two.
constexpr std::array<uint64_t, 10> kPlaces = {
    0x100000000000, 0x180000000000, 0x200000000000, 0x280000000000, 0x300000000000,
    0x380000000000, 0x400000000000, 0x500000000000, 0x7e8800000000, 0x7e9000000000};
using Free = std::bitset<kPlaces.size()>;

bool is_free(uint64_t place, size_t size) {
  void* wish = reinterpret_cast<void*>(place);
  void* got = ::mmap(wish, size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return false;
  ::munmap(got, size);
  return got == wish;
}

}  // namespace

void* common_free_address(Team& team, size_t size) {
  Free own;
  for (size_t i = 0; i < kPlaces.size(); ++i) own[i] = size == 0 || is_free(kPlaces[i], size);
  Free common;
  common.set();
  for (const std::string& word : causeway::exchange(team, own.to_string())) common &= Free(word);
  for (size_t i = 0; i < kPlaces.size(); ++i) {
    if (common[i]) return reinterpret_cast<void*>(kPlaces[i]);
  }
  return nullptr;
}

bool segments_aligned(const Team& team) {
  uint64_t base = 0;
  for (const Peer* peer : team.members()) {
    if (peer->segment.size.load(std::memory_order_acquire) == 0) continue;
    if (base == 0) base = peer->segment.base;
    if (peer->segment.base != base) return false;
  }
  return true;
}

}  // namespace causeway
