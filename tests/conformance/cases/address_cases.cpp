// Addresses and keys that are not one for all: what a peer alone is told (CAP_WIRING), and rights
// that serve several peers (CAP_SHARED_KEYS).
#include <cstring>
#include <memory>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

// Catches a wiring that the next question changes, which may be the one that the peer has got.
void wiring_stays() {
  Session s({.memory = 0});
  const Card& told = s.side().card;
  for (const cwy_peer reader : {told.peer, s.side().peer.peer, told.peer, s.side().peer.peer}) {
    Card again = told;
    s.ep().wire(again, reader);
    EXPECT_LE(again.wiring_len, s.ep().attr().ep_address_max);
    if (reader.rank != s.side().peer.peer.rank) continue;
    ASSERT_EQ(again.wiring_len, told.wiring_len);
    EXPECT_EQ(std::memcmp(again.wiring, told.wiring, told.wiring_len), 0)
        << "another wiring for the same process";
  }
}

// Catches a connect that believes whatever it gets.
void wiring_is_checked() {
  Session s({.memory = 0, .connect = 0});
  Card unwired = s.side().peer;
  unwired.wiring_len = 1;
  try {
    const Connection conn(s.ep(), unwired, s.loopback());
    ADD_FAILURE() << "connected by a wiring of one byte";
  } catch (const Error& e) {
    EXPECT_LT(e.status(), 0);
  }
}

// ---- keys -----------------------------------------------------------------------------------

constexpr uint64_t kWish = 77;
constexpr size_t kShared = 4096;

// Stays until the process ends: the side, which is closed before, registered it.
uint8_t g_shared[kShared];

Card register_as_wished(Side& side, const uint64_t& wish) {
  side.memory.reset();
  std::memset(g_shared, 0, sizeof g_shared);
  side.memory = std::make_unique<Memory>(*side.domain, g_shared, kShared, wish);
  side.memory->pack(side.card);
  return side.card;
}

uint64_t first_wrong(Side&, const uint64_t& key) {
  return first_difference(g_shared, 1000, key);
}

// Catches keys that differ though the wish is the same, and rights that remember for whom they were
// opened.
void one_key_for_every_peer() {
  Session s;
  s.side().remote.reset();
  const Card theirs = s.call(register_as_wished, kWish);
  Card own = register_as_wished(s.side(), kWish);
  ASSERT_EQ(own.rkey_len, theirs.rkey_len);
  ASSERT_EQ(std::memcmp(own.rkey, theirs.rkey, own.rkey_len), 0)
      << "the same wish, and keys that differ";
  const RemoteMemory right(s.ep(), own, true);
  std::vector<uint8_t> source(1000), back(1000);
  fill_pattern(source.data(), source.size(), 5);
  s.conn().put(source.data(), theirs.base, right, source.size());
  EXPECT_EQ(s.call(first_wrong, uint64_t{5}), 1000u) << "the peer's memory has not got the put";
  EXPECT_EQ(first_difference(g_shared, 1000, 5), 0u) << "this process's memory has";
  s.conn().get_data(back.data(), theirs.base, right, back.size());
  EXPECT_EQ(first_difference(back.data(), back.size(), 5), back.size());
}

const Cases cases{
    {"Address", "wiring_stays", kWiring, wiring_stays},
    {"Address", "wiring_is_checked", kWiring, wiring_is_checked},
    {"Address", "one_key_for_every_peer", kSharedKeys | kRegister | kPut | kGet | kProcess,
     one_key_for_every_peer},
};

}  // namespace
}  // namespace causeway::conformance
