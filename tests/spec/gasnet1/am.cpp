// Active messages: every number of arguments, every category, requests and replies.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "gasnet1.h"

using spec::job;

namespace {

constexpr unsigned kMaxArgs = 16;
constexpr size_t kPayload = 96;
constexpr size_t kLandingOffset = 64 << 10;  // longs of requests
constexpr size_t kReplyOffset = 128 << 10;   // longs of replies
constexpr size_t kSlotBytes = 256;

std::atomic<unsigned> requests{0}, replies{0}, wrong{0};

// Argument i of a message with M arguments; negative ones among them, whose sign must survive.
constexpr gasnet_handlerarg_t argument(unsigned m, unsigned i) {
  const auto value = static_cast<gasnet_handlerarg_t>(m * 1000 + i * 7 + 1);
  return i % 2 ? -value : value;
}
uint64_t payload_seed(unsigned m, bool reply) {
  return m * 2 + reply + 77;
}

template <typename... Args>
void check_arguments(Args... args) {
  const gasnet_handlerarg_t got[] = {0, args...};
  for (unsigned i = 0; i < sizeof...(Args); ++i)
    if (got[i + 1] != argument(sizeof...(Args), i)) wrong.fetch_add(1);
}
void check_payload(const void* buffer, size_t bytes, unsigned m, bool reply) {
  if (bytes != kPayload + m || reinterpret_cast<uintptr_t>(buffer) % 8 != 0 ||
      spec::first_difference(buffer, bytes, payload_seed(m, reply)) != bytes)
    wrong.fetch_add(1);
}

std::byte* landing(gasnet_node_t node, size_t offset, unsigned m, gasnet_node_t from) {
  return spec::segment_of(node, offset + ((size_t{from} % 8) * (kMaxArgs + 1) + m) * kSlotBytes);
}
void check_place(void* buffer, unsigned m, gasnet_node_t from, size_t offset) {
  if (buffer != landing(job().rank, offset, m, from)) wrong.fetch_add(1);
}

gasnet_node_t source_of(gasnet_token_t token) {
  gasnet_node_t from = GEX_RANK_INVALID;
  if (gasnet_AMGetMsgSource(token, &from) != GASNET_OK) wrong.fetch_add(1);
  if (from != job().behind() && from != job().peer() && from != job().rank) wrong.fetch_add(1);
  return from;
}

struct Payload {
  explicit Payload(unsigned m, bool reply) : bytes(kPayload + m) {
    spec::fill(data, bytes, payload_seed(m, reply));
  }
  alignas(8) char data[kPayload + kMaxArgs];
  size_t bytes;
};

// How each M is sent. The argument lists are written out by the preprocessor because the calls'
// names are.
#define V(m, i) , argument(m, i)
#define L0(m)
#define L1(m) V(m, 0)
#define L2(m) L1(m) V(m, 1)
#define L3(m) L2(m) V(m, 2)
#define L4(m) L3(m) V(m, 3)
#define L5(m) L4(m) V(m, 4)
#define L6(m) L5(m) V(m, 5)
#define L7(m) L6(m) V(m, 6)
#define L8(m) L7(m) V(m, 7)
#define L9(m) L8(m) V(m, 8)
#define L10(m) L9(m) V(m, 9)
#define L11(m) L10(m) V(m, 10)
#define L12(m) L11(m) V(m, 11)
#define L13(m) L12(m) V(m, 12)
#define L14(m) L13(m) V(m, 13)
#define L15(m) L14(m) V(m, 14)
#define L16(m) L15(m) V(m, 15)
#define T0
#define T1 , gasnet_handlerarg_t a0
#define T2 T1, gasnet_handlerarg_t a1
#define T3 T2, gasnet_handlerarg_t a2
#define T4 T3, gasnet_handlerarg_t a3
#define T5 T4, gasnet_handlerarg_t a4
#define T6 T5, gasnet_handlerarg_t a5
#define T7 T6, gasnet_handlerarg_t a6
#define T8 T7, gasnet_handlerarg_t a7
#define T9 T8, gasnet_handlerarg_t a8
#define T10 T9, gasnet_handlerarg_t a9
#define T11 T10, gasnet_handlerarg_t a10
#define T12 T11, gasnet_handlerarg_t a11
#define T13 T12, gasnet_handlerarg_t a12
#define T14 T13, gasnet_handlerarg_t a13
#define T15 T14, gasnet_handlerarg_t a14
#define T16 T15, gasnet_handlerarg_t a15
#define C0
#define C1 a0
#define C2 C1, a1
#define C3 C2, a2
#define C4 C3, a3
#define C5 C4, a4
#define C6 C5, a5
#define C7 C6, a6
#define C8 C7, a7
#define C9 C8, a8
#define C10 C9, a9
#define C11 C10, a10
#define C12 C11, a11
#define C13 C12, a12
#define C14 C13, a13
#define C15 C14, a14
#define C16 C15, a15

// Request handlers answer in their own category, so each category's replies are seen too.
#define AM_FAMILY(M)                                                                            \
  void on_short_reply##M(gasnet_token_t token T##M) {                                           \
    source_of(token);                                                                           \
    check_arguments(C##M);                                                                      \
    replies.fetch_add(1, std::memory_order_release);                                            \
  }                                                                                             \
  g1::Handler short_reply##M(&on_short_reply##M);                                               \
  void on_short##M(gasnet_token_t token T##M) {                                                 \
    source_of(token);                                                                           \
    check_arguments(C##M);                                                                      \
    requests.fetch_add(1, std::memory_order_release);                                           \
    if (gasnet_AMReplyShort##M(token, short_reply##M L##M(M)) != GASNET_OK) wrong.fetch_add(1); \
  }                                                                                             \
  g1::Handler short##M(&on_short##M);                                                           \
  void on_payload_reply##M(gasnet_token_t token, void* buffer, size_t bytes T##M) {             \
    source_of(token);                                                                           \
    check_arguments(C##M);                                                                      \
    check_payload(buffer, bytes, M, true);                                                      \
    replies.fetch_add(1, std::memory_order_release);                                            \
  }                                                                                             \
  g1::Handler payload_reply##M(&on_payload_reply##M);                                           \
  void on_medium##M(gasnet_token_t token, void* buffer, size_t bytes T##M) {                    \
    source_of(token);                                                                           \
    check_arguments(C##M);                                                                      \
    check_payload(buffer, bytes, M, false);                                                     \
    requests.fetch_add(1, std::memory_order_release);                                           \
    Payload answer(M, true);                                                                    \
    if (gasnet_AMReplyMedium##M(token, payload_reply##M, answer.data, answer.bytes L##M(M)) !=  \
        GASNET_OK)                                                                              \
      wrong.fetch_add(1);                                                                       \
    std::memset(answer.data, 0, sizeof answer.data);                                            \
  }                                                                                             \
  g1::Handler medium##M(&on_medium##M);                                                         \
  void on_long##M(gasnet_token_t token, void* buffer, size_t bytes T##M) {                      \
    const gasnet_node_t from = source_of(token);                                                \
    check_arguments(C##M);                                                                      \
    check_payload(buffer, bytes, M, false);                                                     \
    check_place(buffer, M, from, kLandingOffset);                                               \
    requests.fetch_add(1, std::memory_order_release);                                           \
    Payload answer(M, true);                                                                    \
    if (gasnet_AMReplyLong##M(token, payload_reply##M, answer.data, answer.bytes,               \
                              landing(from, kReplyOffset, M, job().rank) L##M(M)) != GASNET_OK) \
      wrong.fetch_add(1);                                                                       \
    std::memset(answer.data, 0, sizeof answer.data);                                            \
  }                                                                                             \
  g1::Handler long##M(&on_long##M);                                                             \
  void send_short##M(gasnet_node_t to) {                                                        \
    CHECK_EQ(gasnet_AMRequestShort##M(to, short##M L##M(M)), GASNET_OK);                        \
  }                                                                                             \
  void send_medium##M(gasnet_node_t to) {                                                       \
    Payload payload(M, false);                                                                  \
    CHECK_EQ(gasnet_AMRequestMedium##M(to, medium##M, payload.data, payload.bytes L##M(M)),     \
             GASNET_OK);                                                                        \
    std::memset(payload.data, 0, sizeof payload.data);                                          \
  }                                                                                             \
  void send_long##M(gasnet_node_t to) {                                                         \
    Payload payload(M, false);                                                                  \
    CHECK_EQ(gasnet_AMRequestLong##M(to, long##M, payload.data, payload.bytes,                  \
                                     landing(to, kLandingOffset, M, job().rank) L##M(M)),       \
             GASNET_OK);                                                                        \
    std::memset(payload.data, 0, sizeof payload.data);                                          \
  }                                                                                             \
  void send_long_async##M(gasnet_node_t to) {                                                   \
    static Payload payload(M, false);                                                           \
    CHECK_EQ(gasnet_AMRequestLongAsync##M(to, long##M, payload.data, payload.bytes,             \
                                          landing(to, kLandingOffset, M, job().rank) L##M(M)),  \
             GASNET_OK);                                                                        \
  }
AM_FAMILY(0)
AM_FAMILY(1)
AM_FAMILY(2)
AM_FAMILY(3)
AM_FAMILY(4)
AM_FAMILY(5)
AM_FAMILY(6)
AM_FAMILY(7)
AM_FAMILY(8)
AM_FAMILY(9)
AM_FAMILY(10)
AM_FAMILY(11)
AM_FAMILY(12)
AM_FAMILY(13)
AM_FAMILY(14)
AM_FAMILY(15)
AM_FAMILY(16)

using Send = void (*)(gasnet_node_t to);
#define ALL_M(f)                                                                                   \
  {                                                                                                \
    f##0, f##1, f##2, f##3, f##4, f##5, f##6, f##7, f##8, f##9, f##10, f##11, f##12, f##13, f##14, \
        f##15, f##16                                                                               \
  }
constexpr Send send_short[] = ALL_M(send_short);
constexpr Send send_medium[] = ALL_M(send_medium);
constexpr Send send_long[] = ALL_M(send_long);
constexpr Send send_long_async[] = ALL_M(send_long_async);

// Each M once to the next node and once to this one; then everybody has got and answered all.
void all_sizes(const Send (&send)[kMaxArgs + 1]) {
  requests.store(0);
  replies.store(0);
  wrong.store(0);
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  for (unsigned m = 0; m <= kMaxArgs; ++m) {
    send[m](job().peer());
    // A long's landing place is used by one message at a time.
    GASNET_BLOCKUNTIL(replies.load(std::memory_order_acquire) == 2 * m + 1);
    send[m](job().rank);
    GASNET_BLOCKUNTIL(replies.load(std::memory_order_acquire) == 2 * m + 2);
  }
  GASNET_BLOCKUNTIL(requests.load(std::memory_order_acquire) == 2 * (kMaxArgs + 1));
  CHECK_EQ(wrong.load(), 0u);
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
}

std::atomic<unsigned> sized{0};
size_t expected_bytes = 0;
void on_sized(gasnet_token_t, void* buffer, size_t bytes, gasnet_handlerarg_t seed) {
  if (bytes != expected_bytes) wrong.fetch_add(1);
  if (bytes != 0 && spec::first_difference(buffer, bytes, static_cast<uint64_t>(seed)) != bytes)
    wrong.fetch_add(1);
  sized.fetch_add(1, std::memory_order_release);
}
g1::Handler sized_handler(&on_sized);
void on_sized_ask_medium(gasnet_token_t token, gasnet_handlerarg_t bytes) {
  std::vector<char> answer(static_cast<size_t>(bytes) + 1);
  spec::fill(answer.data(), static_cast<size_t>(bytes), 5);
  gasnet_AMReplyMedium1(token, sized_handler, answer.data(), static_cast<size_t>(bytes), 5);
}
g1::Handler sized_ask_medium(&on_sized_ask_medium);
void on_sized_ask_long(gasnet_token_t token, gasnet_handlerarg_t bytes) {
  gasnet_node_t from;
  gasnet_AMGetMsgSource(token, &from);
  std::vector<char> answer(static_cast<size_t>(bytes) + 1);
  spec::fill(answer.data(), static_cast<size_t>(bytes), 6);
  gasnet_AMReplyLong1(token, sized_handler, answer.data(), static_cast<size_t>(bytes),
                      spec::segment_of(from, size_t{8} << 20), 6);
}
g1::Handler sized_ask_long(&on_sized_ask_long);

void await_sized(unsigned count) {
  GASNET_BLOCKUNTIL(sized.load(std::memory_order_acquire) == count);
}

std::atomic<unsigned> hops{0};
void on_quiet(gasnet_token_t) {
  hops.fetch_add(1, std::memory_order_release);
}
g1::Handler quiet(&on_quiet);

}  // namespace

SPEC_CASE(am, short_messages) {
  all_sizes(send_short);
}
SPEC_CASE(am, medium_messages) {
  all_sizes(send_medium);
}
SPEC_CASE(am, long_messages) {
  all_sizes(send_long);
}
SPEC_CASE(am, long_async_messages) {
  all_sizes(send_long_async);
}

SPEC_CASE(am, limits) {
  CHECK(gasnet_AMMaxArgs() >= 2 * std::max(sizeof(int), sizeof(void*)));
  CHECK(gasnet_AMMaxMedium() >= 512);
  CHECK(gasnet_AMMaxLongRequest() >= 512);
  CHECK(gasnet_AMMaxLongReply() >= 512);
  // The same on every node, or a client could not size its protocol.
  auto* own = reinterpret_cast<uint64_t*>(spec::my_segment());
  *own = gasnet_AMMaxMedium();
  gasnet_barrier(9, 0);
  CHECK_EQ(gasnet_get_val(job().peer(), spec::segment_of(job().peer()), 8), gasnet_AMMaxMedium());
  gasnet_barrier(9, 0);
}

// The largest and the empty payload of each call; every node in step, so that one place is enough.
SPEC_CASE(am, payload_extremes) {
  const size_t most_long = std::min<size_t>(
      std::min(gasnet_AMMaxLongRequest(), gasnet_AMMaxLongReply()), size_t{4} << 20);
  struct Round {
    size_t bytes;
    bool is_long;
  };
  const Round rounds[] = {{0, false}, {1, false}, {gasnet_AMMaxMedium(), false},
                          {0, true},  {1, true},  {most_long, true}};
  wrong.store(0);
  for (const Round& round : rounds) {
    sized.store(0);
    expected_bytes = round.bytes;
    gasnet_barrier(5, 0);
    std::vector<char> source(round.bytes + 1);
    spec::fill(source.data(), round.bytes, 4);
    if (round.is_long)
      gasnet_AMRequestLong1(job().peer(), sized_handler, source.data(), round.bytes,
                            spec::segment_of(job().peer(), size_t{8} << 20), 4);
    else
      gasnet_AMRequestMedium1(job().peer(), sized_handler, source.data(), round.bytes, 4);
    await_sized(1);
    gasnet_barrier(6, 0);
    gasnet_AMRequestShort1(job().peer(), round.is_long ? sized_ask_long : sized_ask_medium,
                           static_cast<gasnet_handlerarg_t>(round.bytes));
    await_sized(2);
    gasnet_barrier(7, 0);
  }
  CHECK_EQ(wrong.load(), 0u);
}

SPEC_CASE(am, message_source_arguments) {
  gasnet_node_t node;
  CHECK_EQ(gasnet_AMGetMsgSource(nullptr, &node), GASNET_ERR_BAD_ARG);
}

// Everybody to everybody, no replies: lost or doubled messages show in the count.
SPEC_CASE(am, storm) {
  const unsigned count = spec::scaled(300, 10);
  hops.store(0);
  gasnet_barrier(8, 0);
  for (unsigned i = 0; i < count; ++i)
    for (gasnet_node_t node = 0; node < job().size; ++node) gasnet_AMRequestShort0(node, quiet);
  GASNET_BLOCKUNTIL(hops.load(std::memory_order_acquire) == count * job().size);
  gasnet_barrier(8, 0);
  CHECK_EQ(gasnet_AMPoll(), GASNET_OK);
  CHECK_EQ(hops.load(), count * job().size);
}

// A handler registered through GASNet-EX beside those of gasnet_attach.
namespace {
std::atomic<unsigned> ex_messages{0};
void on_ex(gex_Token_t token, gex_AM_Arg_t value) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_ALL);
  if (value == 3 && info.gex_entry != nullptr) ex_messages.fetch_add(1, std::memory_order_release);
}
spec::Handler ex_handler(&on_ex, GEX_FLAG_AM_REQUEST, "ex beside gasnet-1");
}  // namespace
SPEC_CASE(am, mixed_with_gex) {
  ex_messages.store(0);
  gasnet_barrier(10, 0);
  gex_AM_RequestShort1(job().tm, job().peer(), ex_handler, 0, 3);
  gasnet_AMRequestShort1(job().peer(), ex_handler, 3);
  GASNET_BLOCKUNTIL(ex_messages.load(std::memory_order_acquire) == 2);
  gasnet_barrier(10, 0);
}

#ifdef GASNET_PAR
// Several threads send at once and each sees its own messages counted.
SPEC_CASE(am, threads) {
  constexpr unsigned kThreads = 3;
  const unsigned count = spec::scaled(200, 10);
  hops.store(0);
  gasnet_barrier(11, 0);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      GASNET_BEGIN_FUNCTION();
      for (unsigned i = 0; i < count; ++i) gasnet_AMRequestShort0(job().peer(), quiet);
    });
  for (std::thread& thread : threads) thread.join();
  GASNET_BLOCKUNTIL(hops.load(std::memory_order_acquire) == kThreads * count);
  gasnet_barrier(11, 0);
}
#endif
