// Loops whose instructions callgrind counts. Each is one function with C linkage, so that
// `--toggle-collect` finds it by name; nothing in them waits, so that the count does not depend
// on when the other rank runs.
#include <fmt/format.h>

#include "../raw/access.h"
#include "loops.h"
#include "session.h"

namespace causeway::bench {
namespace {

// Few enough that every request fits the receiver's queue and the sender need not wait.
constexpr uint64_t kRequests = 64;

}  // namespace

extern "C" {
[[gnu::noinline]] void causeway_count_put8(Peer peer, void* dest, uint64_t count) {
  put8_same(peer, dest, count);
  keep(count);
}
[[gnu::noinline]] void causeway_count_store8(void* dest, uint64_t count) {
  raw::store_same(dest, count);
  keep(count);
}
[[gnu::noinline]] void causeway_count_get8(Peer peer, void* src, uint64_t count) {
  get8_same(peer, src, count);
  keep(count);
}
[[gnu::noinline]] void causeway_count_load8(void* src, uint64_t count) {
  raw::load_same(src, count);
  keep(count);
}
[[gnu::noinline]] void causeway_count_fadd8(gex_AD_t ad, gex_Rank_t rank, void* word,
                                            uint64_t count) {
  fetch_add8_same(ad, rank, word, count);
  keep(count);
}
[[gnu::noinline]] void causeway_count_xadd8(void* word, uint64_t count) {
  raw::fetch_add_same(word, count);
  keep(count);
}
[[gnu::noinline]] void causeway_count_am_send(Peer peer, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    gex_AM_RequestShort1(peer.tm, peer.rank, kFlood, 0, static_cast<gex_AM_Arg_t>(i));
}
[[gnu::noinline]] void causeway_count_am_poll(uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) gasnet_AMPoll();
}
[[gnu::noinline]] void causeway_count_am_handle(uint64_t count) {
  while (counters.floods < count) gasnet_AMPoll();
}
}

int run_counted(Job& job, const std::string& what, uint64_t count) {
  const Peer peer{job.tm(), job.peer()};
  void* const owner = job.owner_address(peer.rank);
  void* const mapped = job.mapped_address(peer.rank);
  uint64_t done = count;
  if (what == "put8") {
    if (job.is_first()) causeway_count_put8(peer, owner, count);
  } else if (what == "store8") {
    if (job.is_first()) causeway_count_store8(mapped != nullptr ? mapped : &done, count);
  } else if (what == "get8") {
    if (job.is_first()) causeway_count_get8(peer, owner, count);
  } else if (what == "load8") {
    if (job.is_first()) causeway_count_load8(mapped != nullptr ? mapped : &done, count);
  } else if (what == "fadd8") {
    gex_AD_t ad;
    gex_AD_Create(&ad, job.tm(), GEX_DT_U64, GEX_OP_FADD, 0);
    if (job.is_first()) causeway_count_fadd8(ad, peer.rank, owner, count);
    job.sync();
    gex_AD_Destroy(ad);
  } else if (what == "xadd8") {
    if (job.is_first()) causeway_count_xadd8(mapped != nullptr ? mapped : &done, count);
  } else if (what == "am.poll") {
    if (job.is_first()) causeway_count_am_poll(count);
  } else if (what == "am.send" || what == "am.handle") {
    // The receiver looks only after everything lies in its queue.
    done = std::min(count, kRequests);
    std::atomic<uint64_t>& sent = job.shared()->line.turn;
    if (job.is_first()) {
      causeway_count_am_send(peer, done);
      sent.store(1, std::memory_order_release);  // after the messages
    } else if (job.is_second()) {
      raw::Spinner spinner(true);
      while (sent.load(std::memory_order_acquire) == 0) spinner.step();
      causeway_count_am_handle(done);
    }
  } else {
    fmt::print(stderr, "causeway-bench: nothing to count is called '{}'\n", what);
    return 2;
  }
  job.sync();
  if (job.is_first())
    fmt::print("counted {} path {}\n", done, job.peer_is_direct() ? "direct" : "library");
  return 0;
}

}  // namespace causeway::bench
