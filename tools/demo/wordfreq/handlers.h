// The handler indices of wordfreq, and how a table entry is made.
#pragma once

#include <gasnetex.h>

namespace wordfreq {

enum HandlerIndex : uint8_t {
  kCounts = GEX_AM_INDEX_BASE,  // many words with their counts
  kPiece,                       // a part of one word that does not fit a message
  kAnswer,                      // a message's counts are in the owner's table
  kStatus,                      // to rank 0: could this rank open the file?
  kVerdict,                     // from rank 0: do we go on?
  kRefill,                      // from rank 0: lay out your next results
  kRefilled                     // they are there
};

template <class Function>
gex_AM_Entry_t handler(HandlerIndex index, Function* function, gex_Flags_t flags,
                       unsigned arguments, const char* name) {
  return {index, reinterpret_cast<gex_AM_Fn_t>(function), flags, arguments, nullptr, name};
}

}  // namespace wordfreq
