// Rights that are none: keys that are damaged, that are for other memory than what is addressed,
// and that outlive what they were for.
#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

constexpr size_t kPart = 16u << 10;
constexpr uint8_t kUntouched = 0x5c;

// The owner's. The part in the middle of `bytes` is what peers may reach, or, where nothing of the
// client's can be registered, an allocation elsewhere.
std::vector<uint8_t> g_bytes;

bool can_register() {
  const cwyc_ep_attr& a = world().attr;
  return (a.caps & CWYC_CAP_MEM_REG) != 0 && (a.mem_forms & CWY_FORM_HOST_VA) != 0;
}

Card lend_a_part(Side& side, const Nothing&) {
  if (g_bytes.empty()) g_bytes.resize(3 * kPart);
  std::fill(g_bytes.begin(), g_bytes.end(), kUntouched);
  side.memory.reset();
  side.memory = can_register()
                    ? std::make_unique<Memory>(*side.domain, g_bytes.data() + kPart, kPart)
                    : std::make_unique<Memory>(*side.domain, kPart, Memory::Source::alloc);
  side.memory->pack(side.card);
  return side.card;
}

// Bytes of part `part` that were written to.
uint32_t touched(Side&, const uint32_t& part) {
  const auto from = g_bytes.begin() + static_cast<ptrdiff_t>(part * kPart);
  return static_cast<uint32_t>(
      std::count_if(from, from + kPart, [](uint8_t byte) { return byte != kUntouched; }));
}

// Posts what needs a right, and answers what became of it.
template <typename Call>
cwy_status attempt(Session& s, Op& op, const char* what, Call&& call) {
  cwy_status status =
      s.ep().retry([&] { return op.post([&](cwyc_op* raw) { return call(raw); }); }, what);
  if (status == CWY_INPROGRESS) {
    s.ep().finish(op, what);
    status = op.status();
  }
  if (status == CWY_ERR_PEER_FAILED) s.conn().purge();  // the connection was given up over it
  return status;
}
cwy_status put_at(Session& s, cwyc_rkey* rkey, uint64_t raddr, uint64_t value) {
  return attempt(s, s.pool().put("a put without a right"), "a put without a right",
                 [&](cwyc_op* raw) {
                   return s.ops().put(s.raw(), &value, nullptr, raddr, rkey, sizeof value,
                                      CWYC_SRC_VOLATILE, raw);
                 });
}
cwy_status get_at(Session& s, cwyc_rkey* rkey, uint64_t raddr, uint64_t& value) {
  return attempt(s, s.pool().fetch("a get without a right"), "a get without a right",
                 [&](cwyc_op* raw) {
                   return s.ops().get(s.raw(), &value, nullptr, raddr, rkey, sizeof value, 0, raw);
                 });
}
bool can_add() {
  constexpr uint64_t u64 = 3;  // the bit of CWY_DT_U64
  return world().ops.atomic != nullptr && (world().attr.atomic_ops[u64] & CWY_OP_FADD) != 0;
}
cwy_status add_at(Session& s, cwyc_rkey* rkey, uint64_t raddr) {
  uint64_t before = 0;
  cwyc_atomic a{};
  a.head = CWY_HEAD(cwyc_atomic);
  a.raddr = raddr;
  a.operand1 = 1;
  a.result = &before;
  a.dt = CWY_DT_U64;
  a.opcode = CWY_OP_FADD;
  return attempt(s, s.pool().fetch("an atomic without a right"), "an atomic without a right",
                 [&](cwyc_op* raw) { return s.ops().atomic(s.raw(), &a, rkey, 0, raw); });
}

// ---- damaged ----------------------------------------------------------------------------------

// Opens what may be no key, uses the right where there is one, and answers whether the connection
// still stands.
bool try_key(Session& s, const Card& card, uint64_t length, bool use) {
  const cwyc_peer_desc owner = describe(card, s.loopback());
  cwyc_rkey* rkey = nullptr;
  ErrorText err;
  const std::vector<uint8_t> exactly(card.rkey, card.rkey + length);
  const cwy_status status = err.after(
      "rkey_open of damaged bytes",
      s.ep().module().rkey_open(s.ep().get(), &owner, exactly.data(), length, &rkey, err));
  EXPECT_TRUE(status == CWY_OK || (status < 0 && status != CWY_RETRY)) << status_name(status);
  EXPECT_TRUE(status != CWY_OK || length >= card.rkey_len)
      << "opened by " << length << " of " << card.rkey_len << " bytes";
  if (status != CWY_OK) return use;
  const uint64_t begin = card.base - kPart;
  for (const uint64_t raddr : {card.base + kPart, begin, begin + 2 * kPart + 4096, card.base})
    if (use && put_at(s, rkey, raddr, 1) == CWY_ERR_PEER_FAILED) use = false;
  s.ep().module().rkey_close(s.ep().get(), rkey);
  return use;
}

// Catches bytes of another process that are believed: a damaged key is refused, or a right that
// fails in use, and reaches at most what it was for.
void damaged_keys() {
  Session s;
  s.side().remote.reset();
  const Card card = s.call(lend_a_part, Nothing{});
  std::vector<size_t> bits(card.rkey_len * 8);
  std::iota(bits.begin(), bits.end(), size_t{0});
  for (size_t i = bits.size(); i > 1; --i) std::swap(bits[i - 1], bits[s.random.below(i)]);
  bits.resize(std::min<size_t>(bits.size(), 500));
  bool use = s.ops().put != nullptr && can_register();
  for (const size_t bit : bits) {
    Card damaged = card;
    damaged.rkey[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    use = try_key(s, damaged, card.rkey_len, use);
    if (has_failure()) break;
  }
  for (uint64_t length = 0; length < card.rkey_len && !has_failure(); ++length)
    try_key(s, card, length, false);
  if (card.rkey_len + 8 <= sizeof card.rkey) try_key(s, card, card.rkey_len + 8, false);
  for (const uint32_t part : {0u, 2u})
    EXPECT_EQ(s.call(touched, part), 0u) << "bytes were written beside the memory of a damaged key";
}

// ---- for other memory -------------------------------------------------------------------------

std::unique_ptr<Memory> g_other;

Card lend_the_last_part(Side& side, const Nothing&) {
  g_other = std::make_unique<Memory>(*side.domain, g_bytes.data() + 2 * kPart, kPart);
  Card card = side.card;
  g_other->pack(card);
  return card;
}
Nothing release_the_last_part(Side&, const Nothing&) {
  g_other.reset();
  return {};
}

// None of them may have an effect. A put may be dropped in silence, what asks for an answer fails.
void use_without_right(Session& s, const RemoteMemory& right, uint64_t raddr, bool silence) {
  uint64_t value = 1;
  const cwy_status put = put_at(s, right.get(), raddr, value);
  EXPECT_TRUE(put < 0 || (silence && put == CWY_OK)) << "a put: " << status_name(put);
  EXPECT_TRUE(s.ops().get == nullptr || get_at(s, right.get(), raddr, value) < 0)
      << "a get was answered";
  EXPECT_TRUE(!can_add() || add_at(s, right.get(), raddr) < 0) << "an atomic was answered";
  for (int i = 0; i < 100; ++i) s.ep().step();
}

// Catches a right that is not looked at: other memory of the peer's is addressed with it.
void key_of_other_memory() {
  if (!can_register()) throw Skip{"memory that must be registered"};
  Session s;
  s.side().remote.reset();
  const Card card = s.call(lend_a_part, Nothing{}), other = s.call(lend_the_last_part, Nothing{});
  {
    const RemoteMemory right(s.ep(), card, s.loopback()), its(s.ep(), other, s.loopback());
    uint64_t value = 0;
    if (s.ops().get != nullptr) s.conn().get_data(&value, other.base, its, sizeof value);
    if (s.ops().get != nullptr) s.conn().get_data(&value, card.base, right, sizeof value);
    use_without_right(s, right, other.base, false);
  }
  EXPECT_EQ(s.call(touched, 2u), 0u) << "bytes were written by the key of other memory";
  s.call(release_the_last_part, Nothing{});
}

// ---- for memory that was released -------------------------------------------------------------

// Catches a key that is not looked at where the memory is in reach again, under another one.
void released_registration_is_another() {
  if (!can_register()) throw Skip{"memory that must be registered"};
  Session s;
  s.side().remote.reset();
  const Card card = s.call(lend_a_part, Nothing{});
  {
    const RemoteMemory old(s.ep(), card, s.loopback());
    uint64_t value = 0;
    if (s.ops().get != nullptr) s.conn().get_data(&value, card.base, old, sizeof value);
    ASSERT_EQ(s.call(lend_a_part, Nothing{}).base, card.base);
    use_without_right(s, old, card.base, true);
  }
  EXPECT_EQ(s.call(touched, 1u), 0u) << "bytes were written by the key of what has been released";
}

const Cases cases{
    {"Rma", "damaged_keys", kMemory, damaged_keys},
    {"Rma", "key_of_other_memory", kPut | kRegister, key_of_other_memory},
    {"Rma", "released_registration_is_another", kPut | kRegister | kRevoked,
     released_registration_is_another},
};

}  // namespace
}  // namespace causeway::conformance
