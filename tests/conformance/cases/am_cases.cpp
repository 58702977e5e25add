// Active messages: what arrives is what was sent.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

// ---- the receiver of these cases ------------------------------------------------------------
// Every message carries in args[0] a key (medium, long) from which its content follows, so the
// receiver can judge alone. What it saw is fetched afterwards.

struct Seen {
  uint64_t messages = 0;
  uint64_t wrong = 0;
  uint64_t word_xor = 0, word_sum = 0;
  char first_wrong[400] = {};
};
Seen g_seen;

void wrong(const std::string& text) {
  if (g_seen.wrong++ == 0) {
    fmt::format_to_n(g_seen.first_wrong, sizeof g_seen.first_wrong - 1, "{}", text);
  }
}

int32_t argument(uint64_t key, uint32_t i) {
  return static_cast<int32_t>((key + 1) * 0x9e3779b1u * (i + 3) ^ (i << 28));
}

// A word that exercises every bit but the suite's own bit 63.
uint64_t word_of(uint64_t key) {
  return (key + 1) * 0x9e3779b97f4a7c15u & ~kReplyBit;
}

// args: [0] key, the rest argument(key, i); with fewer arguments the key is in the word only.
void check_args(const Message& m, uint64_t key) {
  for (uint32_t i = 1; i < m.nargs; ++i) {
    if (m.args[i] != argument(key, i)) {
      return wrong(fmt::format("argument {} of {} is {:#x} and not {:#x}", i, m.nargs,
                               static_cast<uint32_t>(m.args[i]),
                               static_cast<uint32_t>(argument(key, i))));
    }
  }
}

void check_payload(const Message& m, uint64_t key) {
  const size_t at = first_difference(m.payload, m.length, key);
  if (at != m.length) {
    wrong(fmt::format("byte {} of a payload of {} is {:#04x} and not {:#04x}", at, m.length,
                      m.payload[at], pattern_byte(key, at)));
  }
}

Nothing count_words(Side& side, const Nothing&) {
  g_seen = {};
  side.ep->on_request = [](const Message& m) {
    ++g_seen.messages;
    g_seen.word_xor ^= m.word;
    g_seen.word_sum += m.word;
    if (m.kind != CWYC_AM_SHORT) wrong(fmt::format("kind {} for a short", m.kind));
    if (m.length != 0) wrong(fmt::format("a short of {} payload bytes", m.length));
    if (m.nargs > 0) check_args(m, static_cast<uint32_t>(m.args[0]));
    if (m.nargs != ((m.word >> 5) & 31)) wrong(fmt::format("{} arguments arrived", m.nargs));
  };
  return {};
}

struct ExpectMedium {
  uint32_t scribble;
};
Nothing check_mediums(Side& side, const ExpectMedium& how) {
  g_seen = {};
  const cwy_peer sender = side.peer.peer;
  side.ep->on_request = [how, sender](const Message& m) {
    ++g_seen.messages;
    if (m.nargs < 2) return wrong(fmt::format("{} arguments arrived", m.nargs));
    const auto key = static_cast<uint32_t>(m.args[0]);
    if (m.kind != CWYC_AM_MEDIUM) wrong(fmt::format("kind {} for a medium", m.kind));
    if (m.from.rank != sender.rank || m.from.epoch != sender.epoch) {
      wrong(fmt::format("from rank {} epoch {}", m.from.rank, m.from.epoch));
    }
    if (m.word != word_of(key))
      wrong(fmt::format("word {:#x} and not {:#x}", m.word, word_of(key)));
    if (m.length != static_cast<uint32_t>(m.args[1])) {
      return wrong(fmt::format("{} bytes arrived of {}", m.length, m.args[1]));
    }
    check_payload(m, key);
    if (how.scribble != 0 && m.length != 0) std::memset(m.payload, 0xee, m.length);
  };
  return {};
}

Seen look(Side&, const Nothing&) {
  return g_seen;
}

void await(Session& s, uint64_t messages) {
  const Deadline deadline(fmt::format("{} messages", messages));
  for (;;) {
    const Seen seen = s.call(look, Nothing{});
    if (seen.wrong != 0) {
      ADD_FAILURE() << seen.wrong << " of " << seen.messages
                    << " wrong; first: " << seen.first_wrong;
      return;
    }
    if (seen.messages >= messages) {
      EXPECT_EQ(seen.messages, messages);
      return;
    }
    deadline.check();
    s.ep().step();
  }
}

void send_medium_key(Session& s, uint32_t key, const uint8_t* payload, size_t length,
                     uint32_t flags = 0) {
  const int32_t args[2] = {static_cast<int32_t>(key), static_cast<int32_t>(length)};
  s.conn().send_medium(word_of(key), args, 2, payload, length, flags);
}

std::vector<size_t> interesting_sizes(size_t max) {
  std::vector<size_t> sizes = {0, 1, 7, 8, 63, 64, 65};
  for (size_t p = 2; p / 2 <= max; p *= 2) {
    for (const size_t n : {p - 1, p, p + 1}) {
      if (n <= max) sizes.push_back(n);
    }
  }
  for (size_t back = 0; back < 20 && back <= max; ++back) sizes.push_back(max - back);
  return sizes;
}

// ---- cases ----------------------------------------------------------------------------------

// Catches argument slots that overlap, a header sized for fewer arguments, sign loss, a word of
// which bits are used by the conduit.
void short_arguments() {
  Session s;
  s.call(count_words, Nothing{});
  uint64_t words_xor = 0, words_sum = 0, sent = 0;
  for (uint32_t round = 0; round < 8; ++round) {
    for (uint32_t nargs = 0; nargs <= CWYC_AM_MAX_ARGS; ++nargs) {
      std::array<int32_t, CWYC_AM_MAX_ARGS> args;
      args.fill(-1);
      const uint64_t key = round * 97 + nargs;
      args[0] = static_cast<int32_t>(key);
      for (uint32_t i = 1; i < nargs; ++i) args[i] = argument(key, i);
      const uint64_t word = (word_of(key) & ~(31ull << 5)) | (uint64_t{nargs} << 5);
      s.conn().send(word, nargs == 0 ? nullptr : args.data(), nargs);
      words_xor ^= word;
      words_sum += word;
      ++sent;
    }
  }
  await(s, sent);
  const Seen seen = s.call(look, Nothing{});
  EXPECT_EQ(seen.word_xor, words_xor) << "the words that arrived are not those sent";
  EXPECT_EQ(seen.word_sum, words_sum) << "the words that arrived are not those sent";
}

// Catches every single bit of the word that does not travel.
void word_bits() {
  Session s;
  s.call(count_words, Nothing{});
  uint64_t words_xor = 0, words_sum = 0, sent = 0;
  for (uint32_t bit = 0; bit < 63; ++bit) {
    for (const uint64_t word : {1ull << bit, ~(1ull << bit) & ~kReplyBit}) {
      const uint64_t w = word & ~(31ull << 5);
      s.conn().send(w, nullptr, 0);
      words_xor ^= w;
      words_sum += w;
      ++sent;
    }
  }
  await(s, sent);
  const Seen seen = s.call(look, Nothing{});
  EXPECT_EQ(seen.word_xor, words_xor);
  EXPECT_EQ(seen.word_sum, words_sum);
}

// Catches slot and fragment boundaries: off-by-one copies, lengths rounded to words or lines, a
// largest size that does not fit.
void medium_sizes() {
  Session s;
  s.call(check_mediums, ExpectMedium{0});
  std::vector<uint8_t> payload(s.ep().attr().am_medium_max);
  uint32_t key = 1;
  for (const size_t size : interesting_sizes(payload.size())) {
    fill_pattern(payload.data(), size, key);
    send_medium_key(s, key++, payload.data(), size);
  }
  await(s, key - 1);
}

// Catches a conduit whose largest medium fits only beside few arguments.
void medium_largest_with_16_arguments() {
  Session s;
  s.call(check_mediums, ExpectMedium{0});
  const size_t size = s.ep().attr().am_medium_max;
  std::vector<uint8_t> payload(size);
  fill_pattern(payload.data(), size, 5);
  std::array<int32_t, CWYC_AM_MAX_ARGS> args{};
  args[0] = 5;
  args[1] = static_cast<int32_t>(size);
  for (int i = 0; i < 50; ++i) {
    s.conn().send_medium(word_of(5), args.data(), CWYC_AM_MAX_ARGS, payload.data(), size);
  }
  await(s, 50);
}

// Catches vector loads on unaligned sources and tails read past the end.
void medium_source_alignment() {
  Session s;
  s.call(check_mediums, ExpectMedium{0});
  alignas(64) uint8_t buffer[512];
  uint32_t key = 1;
  for (size_t offset = 0; offset < 16; ++offset) {
    for (const size_t size : {1, 3, 8, 31, 64, 200, 256}) {
      fill_pattern(buffer + offset, size, key);
      send_medium_key(s, key++, buffer + offset, size);
    }
  }
  await(s, key - 1);
}

// Catches a payload that the receiver may not write, or that it shares with later messages or
// with the sender.
void medium_payload_writable() {
  Session s;
  s.call(check_mediums, ExpectMedium{1});
  std::vector<uint8_t> payload(std::min<size_t>(s.ep().attr().am_medium_max, 4000));
  for (uint32_t key = 1; key <= 300; ++key) {
    const size_t size = payload.size() - key;
    fill_pattern(payload.data(), size, key);
    send_medium_key(s, key, payload.data(), size);
    EXPECT_EQ(first_difference(payload.data(), size, key), size)
        << "the receiver wrote into the sender's buffer";
  }
  await(s, 300);
}

// Catches a source that is read after local completion, or after return with SRC_VOLATILE.
void medium_source_reusable() {
  Session s;
  s.call(check_mediums, ExpectMedium{0});
  std::vector<uint8_t> payload(std::min<size_t>(s.ep().attr().am_medium_max, 2000));
  for (uint32_t key = 1; key <= 1000; ++key) {
    const size_t size = 1 + s.random.below(payload.size());
    fill_pattern(payload.data(), size, key);
    if (key % 2 == 0) {
      send_medium_key(s, key, payload.data(), size);
    } else {
      Op& op = s.pool().am("am_medium");
      const int32_t args[2] = {static_cast<int32_t>(key), static_cast<int32_t>(size)};
      const cwy_status status = s.ep().retry(
          [&] {
            return op.post([&](cwyc_op* raw) {
              return s.ops().am_medium(s.raw(), word_of(key), args, 2, payload.data(), nullptr,
                                       size, CWYC_SRC_VOLATILE, raw);
            });
          },
          "am_medium");
      ASSERT_EQ(status, CWY_OK) << "SRC_VOLATILE promises immediate local completion";
    }
    std::memset(payload.data(), 0x11, payload.size());
  }
  await(s, 1000);
}

// ---- long -----------------------------------------------------------------------------------

Nothing check_longs(Side& side, const Nothing&) {
  g_seen = {};
  uint8_t* base = side.memory->data();
  side.ep->on_request = [base](const Message& m) {
    ++g_seen.messages;
    if (m.kind != CWYC_AM_LONG || m.nargs < 3) return wrong("not a long with 3 arguments");
    const auto key = static_cast<uint32_t>(m.args[0]);
    const auto offset = static_cast<uint32_t>(m.args[1]);
    const auto length = static_cast<uint32_t>(m.args[2]);
    if (m.length != length) return wrong(fmt::format("{} bytes of {}", m.length, length));
    if (length != 0 && m.payload != base + offset) wrong("payload is not the address asked for");
    if (length == 0) return;
    const size_t at = first_difference(base + offset, length, key);
    if (at != length) wrong(fmt::format("byte {} of {} not there at delivery", at, length));
  };
  return {};
}

// Catches a notice that overtakes its data, wrong target addresses, lengths cut, and a source that
// is read after return with SRC_VOLATILE.
void long_data_before_delivery() {
  Session s;
  s.call(check_longs, Nothing{});
  const size_t max =
      std::min<size_t>({s.ep().attr().am_long_max, s.remote().size() / 2, size_t{1} << 20});
  std::vector<uint8_t> payload(max);
  const size_t window = s.remote().size() - max;
  std::vector<size_t> sizes = interesting_sizes(max);
  for (int i = 0; i < 100; ++i) sizes.push_back(s.random.below(std::min<size_t>(max, 9000)));
  uint32_t key = 1;
  for (const size_t size : sizes) {
    const size_t offset = s.random.below(window + 1);
    fill_pattern(payload.data(), size, key);
    const int32_t args[3] = {static_cast<int32_t>(key), static_cast<int32_t>(offset),
                             static_cast<int32_t>(size)};
    Op* op = nullptr;
    const auto send = [&](uint32_t flags) {
      op = &s.pool().am("am_long");
      return s.ep().retry(
          [&] {
            return op->post([&](cwyc_op* raw) {
              return s.ops().am_long(s.raw(), key, args, 3, payload.data(), nullptr, size,
                                     s.remote().base() + offset, s.remote().get(), flags, raw);
            });
          },
          "am_long");
    };
    cwy_status status = send(key % 2 == 0 ? uint32_t{CWYC_SRC_VOLATILE} : 0);
    if (key % 2 == 0 && status != CWY_ERR_UNSUPPORTED) {  // else too large to be copied
      EXPECT_EQ(status, CWY_OK) << "SRC_VOLATILE promises immediate local completion of " << size;
      std::memset(payload.data(), 0x11, payload.size());
    } else if (status == CWY_ERR_UNSUPPORTED) {
      status = send(0);
    }
    ASSERT_GE(status, 0) << status_name(status);
    s.ep().finish(*op, "am_long");
    ASSERT_EQ(op->status(), CWY_OK);
    await(s, key);  // the next may land on the same bytes
    if (has_failure()) return;
    ++key;
  }
}

// ---- negotiated -----------------------------------------------------------------------------

// Catches a slot smaller than promised, a commit of fewer bytes than reserved that sends the
// reservation's length, and cancels that leak room until the queue is full.
void prepare_commit_cancel() {
  Session s;
  s.call(check_mediums, ExpectMedium{0});
  const size_t max = s.ep().attr().am_medium_max;
  uint32_t sent = 0;
  for (uint32_t round = 0; round < 4000; ++round) {
    const size_t most = s.random.below(max + 1);
    const size_t least = s.random.below(most + 1);
    cwyc_am_slot slot{};
    slot.head = CWY_HEAD(cwyc_am_slot);
    const cwy_status status = s.ep().retry(
        [&] { return s.ops().am_prepare(s.raw(), least, most, 2, 0, &slot); }, "am_prepare");
    ASSERT_EQ(status, CWY_OK) << status_name(status);
    ASSERT_GE(slot.length, least);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(slot.buffer) % alignof(max_align_t), 0u);
    if (round % 3 == 0) {
      s.ops().am_cancel(s.raw(), &slot);
      continue;
    }
    const size_t length = s.random.below(std::min<size_t>(slot.length, most) + 1);
    const uint32_t key = ++sent;
    fill_pattern(slot.buffer, length, key);
    const int32_t args[2] = {static_cast<int32_t>(key), static_cast<int32_t>(length)};
    s.ops().am_commit(s.raw(), &slot, word_of(key), args, 2, length);
    if (round % 64 == 0) await(s, sent);
  }
  await(s, sent);
}

const Cases cases{
    {"Am", "short_arguments_0_to_16", kShort, short_arguments},
    {"Am", "word_travels_untouched", kShort, word_bits},
    {"Am", "medium_sizes", kMedium, medium_sizes},
    {"Am", "medium_largest_with_16_arguments", kMedium, medium_largest_with_16_arguments},
    {"Am", "medium_source_alignment", kMedium, medium_source_alignment},
    {"Am", "medium_payload_writable", kMedium, medium_payload_writable},
    {"Am", "medium_source_reusable", kMedium, medium_source_reusable},
    {"Am", "long_data_before_delivery", kLong | kMemory, long_data_before_delivery},
    {"Am", "prepare_commit_cancel", kPrepare | kMedium, prepare_commit_cancel},
};

}  // namespace
}  // namespace causeway::conformance
