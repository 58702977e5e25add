#include "job.h"

#include <causeway/report.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "measure.h"
#include "require.h"

namespace causeway::bench {

Counters counters;

namespace {

// Values on their way to from_root() and gather(), by sender.
std::vector<uint64_t> values_from;
volatile uint64_t values_arrived = 0;

extern "C" {
void on_value(gex_Token_t, gex_AM_Arg_t from, gex_AM_Arg_t high, gex_AM_Arg_t low) {
  values_from[static_cast<uint32_t>(from)] =
      static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 | static_cast<uint32_t>(low);
  values_arrived = values_arrived + 1;
}
void on_ping(gex_Token_t token, gex_AM_Arg_t number) {
  gex_AM_ReplyShort1(token, kPong, 0, number);
  counters.pings = counters.pings + 1;
}
void on_pong(gex_Token_t, gex_AM_Arg_t) {
  counters.pongs = counters.pongs + 1;
}
void on_ping_block(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t number) {
  memcpy(counters.block, payload, bytes);
  gex_AM_ReplyMedium1(token, kPongBlock, counters.block, bytes, GEX_EVENT_NOW, 0, number);
  counters.pings = counters.pings + 1;
}
void on_pong_block(gex_Token_t, void* payload, size_t bytes, gex_AM_Arg_t) {
  memcpy(counters.block, payload, bytes);
  counters.pongs = counters.pongs + 1;
}
void on_flood(gex_Token_t, gex_AM_Arg_t) {
  counters.floods = counters.floods + 1;
}
// The receiver looks at every line, as whoever uses a payload does.
void on_flood_block(gex_Token_t, void* payload, size_t bytes, gex_AM_Arg_t) {
  uint64_t sum = 0;
  for (size_t i = 0; i < bytes; i += 64) sum += static_cast<const unsigned char*>(payload)[i];
  counters.block[0] = static_cast<unsigned char>(sum);
  counters.floods = counters.floods + 1;
}
// For sweeps: two arguments are 8 bytes; a long message has arrived where it is to stay.
void on_ping_short(gex_Token_t token, gex_AM_Arg_t high, gex_AM_Arg_t low) {
  gex_AM_ReplyShort2(token, kPongShort, 0, high, low);
}
void on_pong_short(gex_Token_t, gex_AM_Arg_t, gex_AM_Arg_t) {
  counters.pongs = counters.pongs + 1;
}
void on_flood_short(gex_Token_t, gex_AM_Arg_t, gex_AM_Arg_t) {
  counters.floods = counters.floods + 1;
}
void on_ping_long(gex_Token_t token, void* payload, size_t bytes) {
  gex_AM_ReplyLong0(token, kPongLong, payload, bytes, counters.back, GEX_EVENT_NOW, 0);
}
void on_pong_long(gex_Token_t, void*, size_t) {
  counters.pongs = counters.pongs + 1;
}
void on_flood_end(gex_Token_t) {
  counters.flood_ends = counters.flood_ends + 1;
}
}

template <class Function>
gex_AM_Entry_t entry(Handler index, Function* function, gex_Flags_t flags, unsigned arguments,
                     const char* name) {
  return {index, reinterpret_cast<gex_AM_Fn_t>(function), flags, arguments, nullptr, name};
}

void register_handlers(gex_EP_t ep) {
  const gex_Flags_t request = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST;
  gex_AM_Entry_t table[] = {
      entry(kValue, on_value, request, 3, "value"),
      entry(kPing, on_ping, request, 1, "ping"),
      entry(kPong, on_pong, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, "pong"),
      entry(kPingBlock, on_ping_block, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, "ping block"),
      entry(kPongBlock, on_pong_block, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 1, "pong block"),
      entry(kFlood, on_flood, request, 1, "flood"),
      entry(kFloodEnd, on_flood_end, request, 0, "flood end"),
      entry(kFloodBlock, on_flood_block, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1,
            "flood block"),
      entry(kPingShort, on_ping_short, request, 2, "ping short"),
      entry(kPongShort, on_pong_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 2, "pong short"),
      entry(kFloodShort, on_flood_short, request, 2, "flood short"),
      entry(kPingLong, on_ping_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, "ping long"),
      entry(kPongLong, on_pong_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REPLY, 0, "pong long"),
      entry(kFloodLong, on_flood_block, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 1, "flood long"),
  };
  require(gex_EP_RegisterHandlers(ep, table, std::size(table)), "gex_EP_RegisterHandlers");
}

}  // namespace

Job::Job(int* argc, char*** argv, size_t segment_bytes, bool pin, bool count_peers)
    : segment_bytes_(segment_bytes) {
  const double start = now_ns();
  require(gex_Client_Init(&client_, &ep_, &tm_, "CAUSEWAY_BENCH", argc, argv, 0),
          "gex_Client_Init");
  if (count_peers) cwy_report_v1([](void*, const char*) {}, nullptr);  // from now on
  rank_ = gex_TM_QueryRank(tm_);
  size_ = gex_TM_QuerySize(tm_);
  values_from.resize(size_);
  // After the library has counted the cores for itself, before it touches the segment's pages.
  if (pin) place_ = pin_to_own_core(rank_, size_);
  require(gex_Segment_Attach(&segment_, tm_, segment_bytes), "gex_Segment_Attach");
  init_attach_ns_ = now_ns() - start;
  register_handlers(ep_);
  sync();
}

void Job::sync() const {
  gex_Event_Wait(gex_Coll_BarrierNB(tm_, 0));
}

namespace {
void send_value(gex_TM_t tm, uint32_t to, uint32_t from, uint64_t value) {
  gex_AM_RequestShort3(tm, to, kValue, 0, static_cast<gex_AM_Arg_t>(from),
                       static_cast<gex_AM_Arg_t>(value >> 32), static_cast<gex_AM_Arg_t>(value));
}
}  // namespace

uint64_t Job::from_root(uint64_t value) const {
  if (rank_ == 0) {
    for (uint32_t to = 1; to < size_; ++to) send_value(tm_, to, 0, value);
  } else {
    GASNET_BLOCKUNTIL(values_arrived == 1);
    value = values_from[0];
  }
  values_arrived = 0;
  sync();  // nobody's next value may arrive before this one is taken
  return value;
}

std::vector<uint64_t> Job::gather(uint64_t value) const {
  std::vector<uint64_t> all;
  if (rank_ == 0) {
    GASNET_BLOCKUNTIL(values_arrived == size_ - 1);
    values_from[0] = value;
    all = values_from;
  } else {
    send_value(tm_, 0, rank_, value);
  }
  values_arrived = 0;
  sync();
  return all;
}

unsigned char* Job::owner_address(uint32_t rank) const {
  void* owner = nullptr;
  gex_Segment_QueryBound(tm_, rank, &owner, nullptr, nullptr);
  return static_cast<unsigned char*>(owner);
}

unsigned char* Job::mapped_address(uint32_t rank) const {
  void* mapped = nullptr;
  gex_Segment_QueryBound(tm_, rank, nullptr, &mapped, nullptr);
  return static_cast<unsigned char*>(mapped);
}

bool Job::peer_is_direct() const {
  return cwy_is_direct(cwy_direct_delta(tm_, peer(), 0)) != 0;
}

// Rank 0's memory object, opened by the others through /proc: no name that could stay behind.
void Job::map_shared() {
  int fd = -1;
  if (rank_ == 0) {
    fd = memfd_create("causeway-bench", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, sizeof(SharedBlock)) != 0) {
      close(fd);
      fd = -1;
    }
  }
  const uint64_t owner = from_root(static_cast<uint64_t>(getpid()));
  const uint64_t number = from_root(static_cast<uint64_t>(static_cast<uint32_t>(fd)));
  if (rank_ != 0 && static_cast<int32_t>(number) >= 0)
    fd = open(fmt::format("/proc/{}/fd/{}", owner, number).c_str(), O_RDWR | O_CLOEXEC);
  void* memory = MAP_FAILED;
  if (fd >= 0) {
    memory = mmap(nullptr, sizeof(SharedBlock), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                  fd, 0);
  }
  const std::vector<uint64_t> mapped = gather(memory != MAP_FAILED ? 1 : 0);  // all have opened it
  uint64_t usable = 1;
  for (const uint64_t one : mapped) usable &= one;
  if (fd >= 0) close(fd);
  if (from_root(usable) != 0) shared_ = static_cast<SharedBlock*>(memory);
}

}  // namespace causeway::bench
