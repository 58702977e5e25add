// Flags that the core adds to CWYC_*; they are among the hints, which conduits ignore.
#pragma once

#include <cstdint>

namespace causeway {

// The remote range may lie outside every segment (GEX_FLAG_PEER_SEG_UNKNOWN).
inline constexpr uint32_t kAnywhere = 1u << 31;
// The address was named without a segment (GEX_FLAG_PEER_SEG_SOME or _UNKNOWN), so it may mean
// memory that lies now where a segment was that was published once (object/local.h).
inline constexpr uint32_t kUnbound = 1u << 30;
// GEX_FLAG_IMMEDIATE: the answer is RETRY where the operation would have to wait for room.
inline constexpr uint32_t kImmediate = 1u << 29;

}  // namespace causeway
