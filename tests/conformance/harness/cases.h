// Cases: the list of what is checked. A case names what it needs, so that it can be skipped with
// that reason, and a function that uses EXPECT_* and ASSERT_* (expect.h).
#pragma once

#include <causeway/conduit.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace causeway::conformance {

// What a case needs beyond a peer: bits of this list, or'ed.
enum Need : uint32_t {
  kNothing = 0,
  kShort = 1u << 0,
  kMedium = 1u << 1,
  kLong = 1u << 2,
  kPrepare = 1u << 3,
  kPut = 1u << 4,
  kGet = 1u << 5,
  kNoProgress = 1u << 6,
  kOrder = 1u << 7,  // messages stay behind puts
  kPutv = 1u << 8,
  kGetv = 1u << 9,
  kAtomic = 1u << 10,
  kDirect = 1u << 13,
  kAlloc = 1u << 14,
  kRegister = 1u << 15,
  kMemory = 1u << 16,  // mem_alloc or mem_reg
  kWaitFd = 1u << 17,
  kNap = 1u << 18,
  kMulti = 1u << 19,
  kPeerFailure = 1u << 20,
  kProcess = 1u << 21,  // a peer in another process
  kNoPeer = 1u << 22,   // runs even when no peer can be reached
  kLossy = 1u << 25,    // an option inject_loss
  kFailing = 1u << 28,  // an option fail_after
  kWiring = 1u << 26,
  kSharedKeys = 1u << 27,
  kRevoked = 1u << 29,  // nothing reaches released memory
  kDomain = 1u << 24    // with kNoPeer: needs an open domain all the same
};

struct Case {
  const char* group;
  const char* name;
  uint32_t needs;
  void (*body)();
};

// A file's cases; defined at namespace scope, they register themselves.
struct Cases {
  Cases(std::initializer_list<Case> cases);
};

const std::vector<Case>& all_cases();
// The one that finds limits below what the others build on.
inline constexpr const char* limits_case = "Module.attribute_minima";
std::string full_name(const Case& c);
// Those that match one of the globs before a dash and none behind it:
// "Am.*:Flow.*-*flood*:*storm*".
std::vector<Case> matching(const std::vector<Case>& cases, const std::string& filter);
// The first missing capability in words, or "".
std::string missing(uint32_t needs);
std::string needs_text(uint32_t needs);

}  // namespace causeway::conformance
