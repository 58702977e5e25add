// One-sided operations: the bytes asked for, all of them, and no others.
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

constexpr uint8_t kGuard = 0xe7;
constexpr size_t kGuardBytes = 64;

// ---- what the target looks at ---------------------------------------------------------------

struct Area {
  uint64_t offset, length, key;
};
struct Verdict {
  uint64_t data_at;     // first wrong byte, or length
  uint64_t guards_hit;  // bytes changed around it
};

Nothing clear_area(Side& side, const Area& a) {
  std::memset(side.memory->data() + a.offset - kGuardBytes, kGuard, a.length + 2 * kGuardBytes);
  return {};
}

Nothing fill_area(Side& side, const Area& a) {
  fill_pattern(side.memory->data() + a.offset, a.length, a.key);
  return {};
}

Verdict judge_area(Side& side, const Area& a) {
  const uint8_t* data = side.memory->data() + a.offset;
  Verdict v{first_difference(data, a.length, a.key), 0};
  for (size_t i = 1; i <= kGuardBytes; ++i) {
    v.guards_hit += data[-static_cast<ptrdiff_t>(i)] != kGuard ? 1 : 0;
    v.guards_hit += data[a.length + i - 1] != kGuard ? 1 : 0;
  }
  return v;
}

void expect_area(Session& s, const Area& a) {
  const Verdict v = s.call(judge_area, a);
  EXPECT_EQ(v.data_at, a.length) << "first wrong byte of a put of " << a.length << " at offset "
                                 << a.offset;
  EXPECT_EQ(v.guards_hit, 0u) << "bytes around a put of " << a.length << " were changed";
}

std::vector<size_t> edge_sizes(size_t max) {
  std::vector<size_t> sizes;
  for (size_t n = 0; n <= 130; ++n) sizes.push_back(n);
  for (size_t p = 128; p <= 4096; p *= 2) {
    for (const size_t n : {p - 1, p, p + 1}) sizes.push_back(n);
  }
  std::erase_if(sizes, [&](size_t n) { return n > max; });
  return sizes;
}

// Cuts into pieces of at most rma_max, as the core does.
void put_cut(Session& s, const uint8_t* src, uint64_t offset, size_t length) {
  const size_t most = static_cast<size_t>(std::min<uint64_t>(s.ep().attr().rma_max, length));
  for (size_t at = 0; at < length; at += most) {
    s.conn().put(src + at, s.remote().base() + offset + at, s.remote(),
                 std::min(most, length - at));
  }
}

void get_cut(Session& s, uint8_t* dst, uint64_t offset, size_t length) {
  const size_t most = static_cast<size_t>(std::min<uint64_t>(s.ep().attr().rma_max, length));
  for (size_t at = 0; at < length; at += most) {
    s.conn().get_data(dst + at, s.remote().base() + offset + at, s.remote(),
                      std::min(most, length - at));
  }
}

// ---- cases ----------------------------------------------------------------------------------

// Catches wrong lengths at every edge, head and tail bytes, and REMOTE before visibility: the
// target looks as soon as the put is complete.
void put_edges() {
  Session s;
  std::vector<uint8_t> source(8192);
  uint64_t key = 1;
  for (const size_t size : edge_sizes(s.ep().attr().rma_max)) {
    const Area a{128 + key % 16, size, key};
    s.call(clear_area, a);
    const size_t shift = s.random.below(16);
    fill_pattern(source.data() + shift, size, key);
    s.conn().put(source.data() + shift, s.remote().base() + a.offset, s.remote(), size);
    expect_area(s, a);
    if (has_failure()) return;
    ++key;
  }
}

void get_edges() {
  Session s;
  std::vector<uint8_t> buffer(8192);
  uint64_t key = 1;
  for (const size_t size : edge_sizes(s.ep().attr().rma_max)) {
    const Area a{128 + key % 16, size, key};
    s.call(clear_area, a);
    s.call(fill_area, a);
    std::memset(buffer.data(), kGuard, buffer.size());
    uint8_t* to = buffer.data() + kGuardBytes + s.random.below(16);
    s.conn().get_data(to, s.remote().base() + a.offset, s.remote(), size);
    EXPECT_EQ(first_difference(to, size, key), size) << "a get of " << size;
    for (size_t i = 0; i < kGuardBytes; ++i) ASSERT_EQ(to[size + i], kGuard) << "get of " << size;
    ASSERT_EQ(to[-1], kGuard) << "a get of " << size << " wrote before its buffer";
    if (has_failure()) return;
    ++key;
  }
}

// Catches size switches (inline, buffered, zero-copy) that are wrong at odd addresses.
void random_large() {
  Session s({.memory = 9u << 20});
  constexpr size_t kMost = 4u << 20;
  std::vector<uint8_t> source(kMost + 64), back(kMost + 64);
  for (uint64_t key = 1; key <= 40; ++key) {
    const size_t bound = key % 8 == 0 ? kMost : size_t{1} << (10 + key % 10);
    const Area a{256 + s.random.below(1 << 20), 1 + s.random.below(bound), key};
    const size_t shift = s.random.below(64);
    s.call(clear_area, a);
    fill_pattern(source.data() + shift, a.length, key);
    put_cut(s, source.data() + shift, a.offset, a.length);
    expect_area(s, a);
    if (world().ops.get != nullptr) {
      get_cut(s, back.data() + 63 - shift, a.offset, a.length);
      EXPECT_EQ(first_difference(back.data() + 63 - shift, a.length, key), a.length);
    }
    if (has_failure()) return;
  }
}

// ---- many outstanding -----------------------------------------------------------------------

constexpr uint32_t kOutstanding = 65'535;

// Catches completion records that are limited below what clients are promised, recycled too
// early, or completed twice: each of 65535 has its own Op, none is waited for before the last.
void outstanding_puts() {
  Session s;
  std::vector<uint64_t> values(kOutstanding);
  std::vector<Op*> ops;
  for (uint32_t i = 0; i < kOutstanding; ++i) {
    values[i] = i * 0x9e3779b97f4a7c15u;
    Op& op = s.pool().put();
    const cwy_status status = s.ep().retry(
        [&] {
          return op.post([&](cwyc_op* raw) {
            return s.ops().put(s.raw(), &values[i], nullptr, s.remote().base() + i * 8,
                               s.remote().get(), 8, 0, raw);
          });
        },
        "put");
    ASSERT_GE(status, 0) << status_name(status) << " at put " << i;
    ops.push_back(&op);
  }
  s.ep().until([&] { return s.pool().unfinished() == 0; }, "completion of 65535 puts", 15.0);
  for (const Op* op : ops) ASSERT_EQ(op->status(), CWY_OK);
  const auto wrong = s.call(
      +[](Side& side, const uint32_t& n) -> uint32_t {
        uint32_t bad = 0;
        for (uint32_t i = 0; i < n; ++i) {
          uint64_t value;
          std::memcpy(&value, side.memory->data() + i * 8, 8);
          bad += value != i * 0x9e3779b97f4a7c15u ? 1 : 0;
        }
        return bad;
      },
      kOutstanding);
  EXPECT_EQ(wrong, 0u);
}

void outstanding_gets() {
  Session s;
  s.call(
      +[](Side& side, const uint32_t& n) -> Nothing {
        for (uint32_t i = 0; i < n; ++i) {
          const uint64_t value = i * 0x9e3779b97f4a7c15u;
          std::memcpy(side.memory->data() + i * 8, &value, 8);
        }
        return {};
      },
      kOutstanding);
  std::vector<uint64_t> values(kOutstanding);
  for (uint32_t i = 0; i < kOutstanding; ++i) {
    Op& op = s.pool().fetch();
    const cwy_status status = s.ep().retry(
        [&] {
          return op.post([&](cwyc_op* raw) {
            return s.ops().get(s.raw(), &values[i], nullptr, s.remote().base() + i * 8,
                               s.remote().get(), 8, 0, raw);
          });
        },
        "get");
    ASSERT_GE(status, 0) << status_name(status) << " at get " << i;
  }
  s.ep().until([&] { return s.pool().unfinished() == 0; }, "completion of 65535 gets", 15.0);
  for (uint32_t i = 0; i < kOutstanding; ++i) ASSERT_EQ(values[i], i * 0x9e3779b97f4a7c15u);
}

// ---- messages behind puts -------------------------------------------------------------------

struct OrderSeen {
  uint64_t messages, early;  // early: delivered before all of the data
};
OrderSeen g_order_seen;

// A message says where the put before it went, how much it was, and what.
Nothing compare_at_delivery(Side& side, const Nothing&) {
  g_order_seen = {};
  const uint8_t* const base = side.memory->data();
  side.ep->on_request = [base](const Message& m) {
    const auto length = static_cast<size_t>(m.args[1]);
    const auto key = static_cast<uint64_t>(m.args[2]);
    if (first_difference(base + m.args[0], length, key) != length) ++g_order_seen.early;
    ++g_order_seen.messages;
  };
  return {};
}

OrderSeen look_at_order(Side&, const Nothing&) {
  return g_order_seen;
}

// Ends the puts, and waits until the target has compared what all messages so far speak of.
OrderSeen end_round(Session& s, std::vector<Op*>& puts, uint64_t messages) {
  for (Op* const put : puts) s.ep().finish(*put, "put");
  puts.clear();
  const Deadline deadline("messages behind puts");
  for (;;) {
    const OrderSeen seen = s.call(look_at_order, Nothing{});
    if (seen.messages >= messages) return seen;
    deadline.check();
    s.ep().step();
  }
}

// Catches a message that is delivered before a put that was posted ahead of it is visible.
void messages_stay_behind_puts() {
  Session s;
  s.call(compare_at_delivery, Nothing{});
  constexpr size_t kPlaces = 8, kRoom = 12000;
  const uint32_t rounds = std::max(1u, 50 / kSlowdown);
  std::vector<uint8_t> source(kPlaces * kRoom);
  std::vector<Op*> puts;
  for (uint32_t round = 1; round <= rounds; ++round) {
    for (size_t place = 0; place < kPlaces; ++place) {
      const size_t at = kGuardBytes + place * kRoom, length = 1 + s.random.below(kRoom);
      uint8_t* const from = source.data() + place * kRoom;
      fill_pattern(from, length, round * kPlaces + place);
      puts.push_back(&s.pool().put());
      const cwy_status status = s.ep().retry(
          [&] {
            return puts.back()->post([&](cwyc_op* raw) {
              return s.ops().put(s.raw(), from, nullptr, s.remote().base() + at, s.remote().get(),
                                 length, 0, raw);
            });
          },
          "put");
      ASSERT_GE(status, 0) << status_name(status);
      const int32_t args[] = {static_cast<int32_t>(at), static_cast<int32_t>(length),
                              static_cast<int32_t>(round * kPlaces + place)};
      s.conn().send(1, args, 3);
    }
    const OrderSeen seen = end_round(s, puts, round * kPlaces);
    ASSERT_EQ(seen.early, 0u) << "of " << seen.messages << " messages came before their data";
  }
}

// ---- vectors --------------------------------------------------------------------------------

// Cuts `total` bytes into random pieces, empty ones included, laid out with gaps.
template <typename Piece, typename Address>
std::vector<Piece> cut(Random& random, size_t total, size_t most, Address at) {
  std::vector<Piece> pieces;
  size_t left = total, where = 0;
  while (left != 0 || pieces.empty()) {
    size_t n = pieces.size() + 1 >= most ? left : random.below(std::min<size_t>(left, 700) + 1);
    pieces.push_back({at(where), n});
    where += n + 64 + random.below(9);
    left -= n;
  }
  return pieces;
}

// Catches pieces that are paired one to one, empty pieces that end a list, and cuts that differ
// between the sides.
void vectors(bool put) {
  Session s;
  const size_t most = std::min<size_t>(s.ep().attr().iov_max, 50);
  std::vector<uint8_t> local(256 * 1024);
  for (uint64_t key = 1; key <= 150; ++key) {
    const size_t total = s.random.below(4000);
    const auto mine = cut<cwyc_iov>(
        s.random, total, most, [&](size_t w) { return static_cast<void*>(local.data() + 64 + w); });
    const auto theirs =
        cut<cwyc_riov>(s.random, total, most, [&](size_t w) { return s.remote().base() + 64 + w; });
    // Stream byte k holds pattern(key, k); scatter it over the source side.
    std::memset(local.data(), kGuard, local.size());
    const size_t extent =
        static_cast<size_t>(theirs.back().addr + theirs.back().length - s.remote().base() + 64);
    std::vector<uint8_t> image(extent, kGuard);
    size_t k = 0;
    for (const cwyc_riov& piece : theirs) {
      for (size_t i = 0; i < piece.length; ++i) {
        image[piece.addr - s.remote().base() + i] = pattern_byte(key, k++);
      }
    }
    k = 0;
    if (put) {
      for (const cwyc_iov& piece : mine) {
        for (size_t i = 0; i < piece.length; ++i) {
          static_cast<uint8_t*>(piece.addr)[i] = pattern_byte(key, k++);
        }
      }
      const std::vector<uint8_t> blank(extent, kGuard);
      s.conn().put(blank.data(), s.remote().base(), s.remote(), extent);
    } else {
      s.conn().put(image.data(), s.remote().base(), s.remote(), extent);
    }
    const cwyc_vector vector{CWY_HEAD(cwyc_vector), mine.data(),   mine.size(),     nullptr,
                             theirs.data(),         theirs.size(), s.remote().get()};
    Op& op = put ? s.pool().put("putv") : s.pool().fetch("getv");
    const cwy_status status = s.ep().retry(
        [&] {
          return op.post([&](cwyc_op* raw) {
            return put ? s.ops().putv(s.raw(), &vector, 0, raw)
                       : s.ops().getv(s.raw(), &vector, 0, raw);
          });
        },
        put ? "putv" : "getv");
    ASSERT_GE(status, 0) << status_name(status);
    s.ep().finish(op, put ? "putv" : "getv");
    ASSERT_EQ(op.status(), CWY_OK);
    if (put) {
      std::vector<uint8_t> there(extent);
      s.conn().get_data(there.data(), s.remote().base(), s.remote(), extent);
      ASSERT_EQ(there, image) << "putv of " << mine.size() << " to " << theirs.size() << " pieces";
    } else {
      size_t at = 0;
      for (const cwyc_iov& piece : mine) {
        for (size_t i = 0; i < piece.length; ++i) {
          ASSERT_EQ(static_cast<uint8_t*>(piece.addr)[i], pattern_byte(key, at++))
              << "getv of " << theirs.size() << " to " << mine.size() << " pieces";
        }
        ASSERT_EQ(static_cast<uint8_t*>(piece.addr)[piece.length], kGuard);
      }
    }
  }
}

void put_vector() {
  vectors(true);
}
void get_vector() {
  vectors(false);
}

// ---- memory ---------------------------------------------------------------------------------

// Catches a delta that does not name the owner's bytes, over the whole memory and both ways.
void direct_aliases() {
  Session s;
  intptr_t delta = 0;
  ASSERT_EQ(s.ep().module().rkey_direct(s.remote().get(), &delta), CWY_OK);
  auto* mapped = reinterpret_cast<uint8_t*>(s.remote().base() + static_cast<uint64_t>(delta));
  const size_t size = s.remote().size();
  for (const size_t offset : {size_t{128}, size / 2 + 5, size - 300}) {
    const Area a{offset, 200, offset};
    s.call(clear_area, a);
    s.call(fill_area, a);
    EXPECT_EQ(first_difference(mapped + offset, a.length, a.key), a.length)
        << "the owner's bytes are not seen through the delta";
    fill_pattern(mapped + offset, a.length, offset + 1);
    expect_area(s, {offset, a.length, offset + 1});
  }
}

// Replaces the partner's memory by registered client memory and hands out its card.
struct Registration {
  uint64_t length, misalign;
};
Card register_memory(Side& side, const Registration& r) {
  side.memory.reset();
  side.memory =
      std::make_unique<Memory>(*side.domain, r.length, Memory::Source::registered, r.misalign);
  std::memset(side.memory->data(), 0, r.length);
  side.memory->pack(side.card);
  return side.card;
}

// Catches conduits whose remote access works on their own allocations only: clients register
// what malloc gave them, at any address.
void registered_memory() {
  Session s;
  s.side().remote.reset();
  const Card card = s.call(register_memory, Registration{300'000, 3});
  RemoteMemory remote(s.ep(), card, s.loopback());
  std::vector<uint8_t> source(100'000), back(100'000);
  for (uint64_t key = 1; key <= 12; ++key) {
    const Area a{128 + s.random.below(100'000), 1 + s.random.below(source.size()), key};
    s.call(clear_area, a);
    fill_pattern(source.data(), a.length, key);
    const size_t most = std::min<uint64_t>(s.ep().attr().rma_max, a.length);
    for (size_t at = 0; at < a.length; at += most) {
      const size_t n = std::min(most, a.length - at);
      s.conn().put(source.data() + at, remote.base() + a.offset + at, remote, n);
      s.conn().get_data(back.data() + at, remote.base() + a.offset + at, remote, n);
    }
    expect_area(s, a);
    EXPECT_EQ(first_difference(back.data(), a.length, key), a.length);
    if (has_failure()) return;
  }
}

// Catches a local registration that is ignored or required: both must give the same bytes.
void local_registration() {
  Session s;
  Memory local(*s.side().domain, 50'000, Memory::Source::registered, 5);
  for (uint64_t key = 1; key <= 20; ++key) {
    const size_t length = 1 + s.random.below(40'000);
    const Area a{128, std::min<uint64_t>(length, s.ep().attr().rma_max), key};
    s.call(clear_area, a);
    fill_pattern(local.data(), a.length, key);
    s.conn().put(local.data(), s.remote().base() + a.offset, s.remote(), a.length, local.get());
    expect_area(s, a);
    std::memset(local.data(), 0, a.length);
    s.conn().get_data(local.data(), s.remote().base() + a.offset, s.remote(), a.length,
                      local.get());
    ASSERT_EQ(first_difference(local.data(), a.length, key), a.length);
  }
}

// Bytes that may be read only, as a program's constants are.
class Constants {
 public:
  Constants(size_t length, uint64_t key)
      : length_(length),
        at_(mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (at_ == MAP_FAILED) throw Error(CWY_ERR_NOMEM, "mmap of {} bytes", length);
    fill_pattern(static_cast<uint8_t*>(at_), length, key);
    mprotect(at_, length, PROT_READ);
  }
  ~Constants() { munmap(at_, length_); }
  Constants(const Constants&) = delete;
  Constants& operator=(const Constants&) = delete;
  const uint8_t* data() const { return static_cast<const uint8_t*>(at_); }

 private:
  size_t length_;
  void* at_;
};

// Catches conduits that register sources as if they were to be written to, and then refuse for ever
// or end: around every size at which sources stop being copied.
void constants_as_sources() {
  Session s;
  uint64_t key = 1;
  for (const size_t length : {100, 6'000, 12'000, 100'000, 1'000'000}) {
    const Area a{128, std::min<uint64_t>(length, s.ep().attr().rma_max), ++key};
    const Constants source(a.length, a.key);
    s.call(clear_area, a);
    s.conn().put(source.data(), s.remote().base() + a.offset, s.remote(), a.length);
    expect_area(s, a);
  }
}

// The same for messages. An endpoint for each, since a conduit may remember what it has met.
void constants_in_messages() {
  uint64_t key = 1;
  for (const size_t length : {6'000, 40'000, 100'000}) {
    Session s;
    const Area a{128, std::min<uint64_t>(length, s.ep().attr().am_long_max), ++key};
    const Constants payload(a.length, a.key);
    s.call(clear_area, a);
    Op& op = s.pool().am("am_long from constants");
    const cwy_status status = s.ep().retry(
        [&] {
          return op.post([&](cwyc_op* raw) {
            return s.ops().am_long(s.raw(), 1, nullptr, 0, payload.data(), nullptr, a.length,
                                   s.remote().base() + a.offset, s.remote().get(), 0, raw);
          });
        },
        "am_long");
    ASSERT_GE(status, 0) << status_name(status);
    if (status == CWY_INPROGRESS) s.ep().finish(op, "am_long from constants");
    s.ep().until([&] { return s.call(judge_area, a).data_at == a.length; },
                 "the payload of a long");
  }
}

// Catches conduits that cannot have operations with several parts of one buffer at once, after one
// with all of it: a library below that keeps registrations has the same one for all then.
void parts_of_a_buffer() {
  constexpr size_t kParts = 8;
  Session s({.memory = 1u << 20});
  const size_t length = std::min<uint64_t>(100'000, s.ep().attr().rma_max);
  std::vector<uint8_t> buffer(kParts * length);
  get_cut(s, buffer.data(), 128, buffer.size());
  for (size_t i = 0; i < kParts; ++i) s.call(fill_area, Area{128 + i * length, length, i + 1});
  for (size_t i = 0; i < kParts; ++i) {
    Op& op = s.pool().fetch("get");
    const cwy_status status = s.ep().retry(
        [&] {
          return op.post([&](cwyc_op* raw) {
            return s.ops().get(s.raw(), buffer.data() + i * length, nullptr,
                               s.remote().base() + 128 + i * length, s.remote().get(), length, 0,
                               raw);
          });
        },
        "get");
    ASSERT_GE(status, 0) << status_name(status) << " at get " << i;
  }
  s.ep().until([&] { return s.pool().unfinished() == 0; }, "completion of 8 gets");
  for (size_t i = 0; i < kParts; ++i)
    EXPECT_EQ(first_difference(buffer.data() + i * length, length, i + 1), length) << "part " << i;
}

// Catches addresses outside the registered memory that are accessed all the same.
void outside_is_refused() {
  Session s;
  uint64_t value = 1;
  for (const uint64_t raddr : {s.remote().base() - 8, s.remote().base() + s.remote().size() - 4}) {
    Op& op = s.pool().put("put outside");
    const cwy_status status = op.post([&](cwyc_op* raw) {
      return s.ops().put(s.raw(), &value, nullptr, raddr, s.remote().get(), 8, 0, raw);
    });
    if (status == CWY_INPROGRESS) {
      s.ep().finish(op, "a put outside");
      EXPECT_LT(op.status(), 0) << "a put outside of the memory succeeded";
    } else {
      EXPECT_LT(status, 0) << "a put outside of the memory was accepted";
    }
  }
}

// Catches REMOTE at the moment of sending: the target rests and looks at its memory, so that bytes
// which wait for its progress, or are still under way, are not there.
void remote_while_the_target_rests() {
  Session s;
  std::vector<uint8_t> source(65536);
  for (uint64_t key = 1; key <= 40; ++key) {
    const size_t most = static_cast<size_t>(std::min<uint64_t>(s.ep().attr().rma_max, 65536));
    const Area a{128, std::min(key % 2 == 0 ? size_t{64} : size_t{65536}, most), key};
    s.call(clear_area, a);
    fill_pattern(source.data(), a.length, key);
    s.partner().hold();
    Op& op = s.pool().put();
    const cwy_status status = s.ep().retry(
        [&] {
          return op.post([&](cwyc_op* raw) {
            return s.ops().put(s.raw(), source.data(), nullptr, s.remote().base() + a.offset,
                               s.remote().get(), a.length, 0, raw);
          });
        },
        "put");
    ASSERT_GE(status, 0) << status_name(status);
    for (const uint64_t end = now_ns() + 20'000'000; !op.done() && now_ns() < end;) s.ep().step();
    const bool reported = op.done();
    s.partner().start(judge_area, a);
    const auto seen = s.partner().finish<Verdict>(nullptr);
    if (reported) {
      ASSERT_EQ(seen.data_at, a.length) << "REMOTE of a put of " << a.length
                                        << " was reported, and the target does not have it yet";
    }
    s.partner().resume();
    s.ep().finish(op, "a put to a peer that rested");
    expect_area(s, a);
  }
}

const Cases cases{
    {"Rma", "remote_while_the_target_rests", kPut | kMemory | kProcess,
     remote_while_the_target_rests},
    {"Rma", "put_edges", kPut | kMemory, put_edges},
    {"Rma", "get_edges", kGet | kMemory, get_edges},
    {"Rma", "random_sizes_up_to_4MiB", kPut | kMemory, random_large},
    {"Rma", "outstanding_65535_puts", kPut | kMemory, outstanding_puts},
    {"Rma", "outstanding_65535_gets", kGet | kMemory, outstanding_gets},
    {"Rma", "messages_stay_behind_puts", kPut | kOrder | kMemory | kProcess,
     messages_stay_behind_puts},
    {"Rma", "put_vector", kPutv | kPut | kGet | kMemory, put_vector},
    {"Rma", "get_vector", kGetv | kPut | kMemory, get_vector},
    {"Rma", "direct_aliases", kDirect | kMemory, direct_aliases},
    {"Rma", "registered_client_memory", kRegister | kPut | kGet, registered_memory},
    {"Rma", "local_registration", kRegister | kPut | kGet, local_registration},
    {"Rma", "constants_as_sources", kPut | kMemory, constants_as_sources},
    {"Rma", "constants_in_messages", kLong | kMemory, constants_in_messages},
    {"Rma", "parts_of_a_buffer", kGet | kMemory, parts_of_a_buffer},
    {"Rma", "outside_is_refused", kPut | kMemory, outside_is_refused},
};

}  // namespace
}  // namespace causeway::conformance
