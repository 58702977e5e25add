// Full queues: what GEX_FLAG_IMMEDIATE answers while the peer does not poll, and that nothing was
// sent by a call that was refused; floods of negotiated messages that are all answered.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "../harness.h"

using spec::job;

namespace {

std::atomic<unsigned> arrived{0}, wrong{0}, announced{0};
std::atomic<int32_t> told_pid{0};

void on_payload(gex_Token_t, void* buffer, size_t bytes, gex_AM_Arg_t seed) {
  if (spec::first_difference(buffer, bytes, static_cast<uint32_t>(seed)) != bytes)
    wrong.fetch_add(1, std::memory_order_relaxed);
  arrived.fetch_add(1, std::memory_order_release);
}
spec::Handler payload(&on_payload, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQREP, "pressure");
void on_empty(gex_Token_t, gex_AM_Arg_t) {
  arrived.fetch_add(1, std::memory_order_release);
}
spec::Handler empty(&on_empty, GEX_FLAG_AM_REQREP, "pressure short");
std::atomic<bool> heard{false};
void on_heard(gex_Token_t) {
  heard.store(true, std::memory_order_release);
}
spec::Handler hear(&on_heard, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, "pressure heard");
// The number of messages that were accepted, plus one, and the process to wake.
void on_tell(gex_Token_t token, gex_AM_Arg_t count, gex_AM_Arg_t pid) {
  told_pid.store(pid, std::memory_order_relaxed);
  announced.store(static_cast<unsigned>(count) + 1, std::memory_order_release);
  if (pid != 0) gex_AM_ReplyShort0(token, hear, 0);
}
spec::Handler tell(&on_tell, GEX_FLAG_AM_REQUEST, "pressure tell");

// Where a rank sleeps outside of the library until another wakes it. Leaves nothing in any file
// system.
class Gate {
 public:
  Gate() : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un name = name_of(::getpid());
    if (::bind(fd_, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0)
      FAIL("no socket to wait at");
  }
  ~Gate() { ::close(fd_); }
  void wait() {
    char byte;
    while (::recv(fd_, &byte, 1, 0) != 1) {
    }
  }
  void open(int32_t pid) {
    const sockaddr_un name = name_of(pid);
    const char byte = 1;
    if (::sendto(fd_, &byte, 1, 0, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 1)
      FAIL("the peer does not wait");
  }

 private:
  static sockaddr_un name_of(int32_t pid) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "causeway-spec-gate-%d", pid);
    return name;
  }
  int fd_;
};

constexpr unsigned kMostTries = 1u << 16;

// What one attempt ended in.
enum class Answer { sent, refused };

// Even ranks send to the next rank, which sleeps outside the library, until they are refused.
template <typename Attempt>
void press(Attempt attempt) {
  gex_Rank_t on_this_host = 0;
  gex_System_QueryHostInfo(nullptr, &on_this_host, nullptr);
  if (on_this_host != job().size) return spec::skip_case("the ranks are on several hosts");
  Gate gate;
  const bool receives = job().rank % 2 == 1;
  const bool sends = !receives && job().rank + 1 < job().size;
  spec::barrier();
  if (receives) {
    gex_AM_RequestShort2(job().tm, job().rank - 1, tell, 0, 0,
                         static_cast<gex_AM_Arg_t>(::getpid()));
    // A transport may need polls of the sender's for a message to leave.
    GASNET_BLOCKUNTIL(heard.exchange(false, std::memory_order_acquire));
    gate.wait();
    GASNET_BLOCKUNTIL(announced.load(std::memory_order_acquire) != 0);
    const unsigned expected = announced.exchange(0, std::memory_order_relaxed) - 1;
    GASNET_BLOCKUNTIL(arrived.load(std::memory_order_acquire) >= expected);
    spec::barrier();
    gasnet_AMPoll();
    CHECK_EQ(arrived.exchange(0, std::memory_order_relaxed), expected);
  } else {
    if (sends) {
      GASNET_BLOCKUNTIL(announced.load(std::memory_order_acquire) != 0);
      announced.store(0, std::memory_order_relaxed);
      unsigned sent = 0, refused = 0;
      // Refused once, it stays refused: nobody makes room.
      for (unsigned i = 0; i < kMostTries && refused < 20; ++i) {
        if (attempt(i) == Answer::sent)
          ++sent;
        else
          ++refused;
      }
      CHECK(sent > 0);
      if (refused == 0) spec::skip_case("the transport took everything without pushing back");
      gate.open(told_pid.load(std::memory_order_relaxed));
      gex_AM_RequestShort2(job().tm, job().rank + 1, tell, 0, static_cast<gex_AM_Arg_t>(sent), 0);
    }
    spec::barrier();
  }
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
  spec::barrier();
}

constexpr size_t kBytes = 600;
// A transport may take more messages than there are places before the receiver looks at one. What
// goes to one place is always the same.
constexpr unsigned kPlaces = 4096;
std::byte* landing(unsigned i) {
  return spec::segment_of(job().rank + 1, (size_t{1} << 20) + i % kPlaces * kBytes);
}

Answer settled(int status) {
  return status == 0 ? Answer::sent : Answer::refused;
}

// Prepares and, where that is accepted, commits. A transport that learns only at Commit that it is
// full must not block either: the _v2 form says so, and the descriptor is given back.
Answer negotiated(bool is_long, bool own_buffer, unsigned i) {
  static char own[kBytes];
  void* const client_buf = own_buffer ? own : nullptr;
  gex_Event_t* const lc = own_buffer ? GEX_EVENT_NOW : nullptr;
  const unsigned content = is_long ? i % kPlaces : i;
  const auto seed = static_cast<gex_AM_Arg_t>(content);
  const gex_Rank_t to = job().rank + 1;
  const gex_AM_SrcDesc_t sd =
      is_long ? gex_AM_PrepareRequestLong(job().tm, to, client_buf, kBytes, kBytes, nullptr, lc,
                                          GEX_FLAG_IMMEDIATE, 1)
              : gex_AM_PrepareRequestMedium(job().tm, to, client_buf, kBytes, kBytes, lc,
                                            GEX_FLAG_IMMEDIATE, 1);
  if (sd == GEX_AM_SRCDESC_NO_OP) return Answer::refused;
  spec::fill(gex_AM_SrcDescAddr(sd), kBytes, content);
  const int status =
      is_long
          ? gex_AM_CommitRequestLong1_v2(sd, payload, kBytes, landing(i), GEX_FLAG_IMMEDIATE, seed)
          : gex_AM_CommitRequestMedium1_v2(sd, payload, kBytes, GEX_FLAG_IMMEDIATE, seed);
  if (status == 0) return Answer::sent;
  if (is_long)
    gex_AM_CancelRequestLong(sd, 0);
  else
    gex_AM_CancelRequestMedium(sd, 0);
  return Answer::refused;
}

}  // namespace

// Each would catch a call that blocks although it may not, one that says "refused" but has sent,
// and one that says "sent" but has not.
SPEC_CASE(am_backpressure, short_request, 2) {
  press([](unsigned i) {
    return settled(gex_AM_RequestShort1(job().tm, job().rank + 1, empty, GEX_FLAG_IMMEDIATE,
                                        static_cast<gex_AM_Arg_t>(i)));
  });
}
SPEC_CASE(am_backpressure, medium_request, 2) {
  char data[kBytes];
  press([&](unsigned i) {
    spec::fill(data, kBytes, i);
    return settled(gex_AM_RequestMedium1(job().tm, job().rank + 1, payload, data, kBytes,
                                         GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE,
                                         static_cast<gex_AM_Arg_t>(i)));
  });
}
// Each message from a place of its own: local completion may take the peer, who does not look.
SPEC_CASE(am_backpressure, medium_request_by_group, 2) {
  std::vector<char> data(kMostTries * kBytes);
  press([&](unsigned i) {
    char* const own = data.data() + size_t{i} * kBytes;
    spec::fill(own, kBytes, i);
    return settled(gex_AM_RequestMedium1(job().tm, job().rank + 1, payload, own, kBytes,
                                         GEX_EVENT_GROUP, GEX_FLAG_IMMEDIATE,
                                         static_cast<gex_AM_Arg_t>(i)));
  });
  gex_NBI_Wait(GEX_EC_AM, 0);
}
SPEC_CASE(am_backpressure, long_request, 2) {
  char data[kBytes];
  press([&](unsigned i) {
    spec::fill(data, kBytes, i % kPlaces);
    return settled(gex_AM_RequestLong1(job().tm, job().rank + 1, payload, data, kBytes, landing(i),
                                       GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE,
                                       static_cast<gex_AM_Arg_t>(i % kPlaces)));
  });
}
SPEC_CASE(am_backpressure, negotiated_medium, 2) {
  press([](unsigned i) { return negotiated(false, false, i); });
}
SPEC_CASE(am_backpressure, negotiated_medium_client_buffer, 2) {
  press([](unsigned i) { return negotiated(false, true, i); });
}
SPEC_CASE(am_backpressure, negotiated_long, 2) {
  press([](unsigned i) { return negotiated(true, false, i); });
}
SPEC_CASE(am_backpressure, negotiated_long_client_buffer, 2) {
  press([](unsigned i) { return negotiated(true, true, i); });
}

// ---- floods ----
namespace {

std::atomic<unsigned> replied{0};
void on_answer(gex_Token_t, void* buffer, size_t bytes, gex_AM_Arg_t seed) {
  if (spec::first_difference(buffer, bytes, static_cast<uint32_t>(seed)) != bytes)
    wrong.fetch_add(1, std::memory_order_relaxed);
  replied.fetch_add(1, std::memory_order_release);
}
spec::Handler answer(&on_answer, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, "pressure answer");

// Answers as large as what came, in one way or another; every third after a change of mind.
void on_flood(gex_Token_t token, void* buffer, size_t bytes, gex_AM_Arg_t seed) {
  if (spec::first_difference(buffer, bytes, static_cast<uint32_t>(seed)) != bytes)
    wrong.fetch_add(1, std::memory_order_relaxed);
  const size_t least = std::max<size_t>(std::min<size_t>(bytes, 512), 1);
  if (seed % 3 == 0) {
    const gex_AM_SrcDesc_t sd =
        gex_AM_PrepareReplyMedium(token, nullptr, least, bytes + 1, nullptr, 0, 1);
    gex_AM_CancelReplyMedium(sd, 0);
  }
  const gex_AM_SrcDesc_t sd =
      gex_AM_PrepareReplyMedium(token, nullptr, least, bytes + 1, nullptr, 0, 1);
  const size_t length = std::min(bytes, gex_AM_SrcDescSize(sd));
  spec::fill(gex_AM_SrcDescAddr(sd), length, static_cast<uint32_t>(seed));
  gex_AM_CommitReplyMedium1(sd, answer, length, seed);
  arrived.fetch_add(1, std::memory_order_release);
}
spec::Handler flood(&on_flood, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, "pressure flood");

// One request of about `bytes`; partial grants are the transport's right.
void send_one(gex_Rank_t to, size_t bytes, gex_AM_Arg_t seed) {
  const gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(
      job().tm, to, nullptr, std::min<size_t>(bytes, 512), bytes, nullptr, 0, 1);
  spec::fill(gex_AM_SrcDescAddr(sd), gex_AM_SrcDescSize(sd), static_cast<uint32_t>(seed));
  gex_AM_CommitRequestMedium1(sd, flood, gex_AM_SrcDescSize(sd), seed);
}

void await_flood(unsigned count) {
  GASNET_BLOCKUNTIL(replied.load(std::memory_order_acquire) >= count &&
                    arrived.load(std::memory_order_acquire) >= count);
  spec::barrier();
  gasnet_AMPoll();
  CHECK_EQ(replied.exchange(0, std::memory_order_relaxed), count);
  CHECK_EQ(arrived.exchange(0, std::memory_order_relaxed), count);
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
  spec::barrier();
}

}  // namespace

// Everybody floods everybody, and every request is answered by a negotiated reply. Would catch
// room that stays reserved, and handlers that wait for room which only they themselves can make.
SPEC_CASE(am_backpressure, flood_of_negotiated) {
  const unsigned per_peer = spec::scaled(600, 16);
  const size_t most = std::min<size_t>(gex_AM_MaxRequestMedium(job().tm, GEX_RANK_INVALID, nullptr,
                                                               GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 1),
                                       8192);
  for (unsigned i = 0; i < per_peer; ++i)
    for (gex_Rank_t rank = 0; rank < job().size; ++rank)
      send_one((rank + job().rank) % job().size, i % 3 == 0 ? most : i * 37 % most + 1,
               static_cast<gex_AM_Arg_t>(i));
  await_flood(per_peer * job().size);
}

#ifdef GASNET_PAR
// Several threads negotiate with the same peers at once. Would catch a descriptor that two threads
// share, and room that one thread's Cancel takes away from another.
SPEC_CASE(am_backpressure, threads_negotiate) {
  constexpr unsigned kThreads = 4;
  const unsigned per_thread = spec::scaled(400, 20);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([=] {
      for (unsigned i = 0; i < per_thread; ++i) {
        const gex_Rank_t to = (job().rank + i) % job().size;
        if ((i + t) % 4 == 0) {
          const gex_AM_SrcDesc_t sd =
              gex_AM_PrepareRequestMedium(job().tm, to, nullptr, 1, 4096, nullptr, 0, 2);
          std::memset(gex_AM_SrcDescAddr(sd), 0x44, gex_AM_SrcDescSize(sd));
          std::this_thread::yield();
          gex_AM_CancelRequestMedium(sd, 0);
        }
        send_one(to, (i * 131 + t * 977) % 4096 + 1, static_cast<gex_AM_Arg_t>(t * 100000 + i));
      }
    });
  for (std::thread& thread : threads) thread.join();
  // What arrives here depends on the other ranks; what is answered does not.
  GASNET_BLOCKUNTIL(replied.load(std::memory_order_acquire) == kThreads * per_thread);
  spec::barrier();
  CHECK_EQ(wrong.exchange(0, std::memory_order_relaxed), 0u);
  replied.store(0, std::memory_order_relaxed);
  arrived.store(0, std::memory_order_relaxed);
  spec::barrier();
}
#endif
