// Ghost zones: in every phase each thread of each rank puts the edges of its field into both
// neighbors, waits until they are there, and tells the neighbors so by message. What a stencil does
// all day: completions, messages and waits of several threads in step with each other, each thread
// in another way.
#include "../harness.h"

#ifdef GASNET_PAR

#include <array>
#include <atomic>
#include <thread>
#include <vector>

using spec::job;

namespace {

constexpr unsigned kThreads = 4;
constexpr size_t kZone = 2048;
unsigned phases() {
  return spec::scaled(300, 40);
}

// Signals that came from either side, of all phases.
std::array<std::array<std::atomic<unsigned>, 2>, kThreads> signals;
void on_edge(gex_Token_t, gex_AM_Arg_t thread, gex_AM_Arg_t side) {
  signals[static_cast<unsigned>(thread) % kThreads][static_cast<unsigned>(side) % 2].fetch_add(
      1, std::memory_order_release);
}
spec::Handler edge(&on_edge, GEX_FLAG_AM_REQUEST, "ghost zone is there");
void on_edge_with_data(gex_Token_t token, void*, size_t, gex_AM_Arg_t thread, gex_AM_Arg_t side) {
  on_edge(token, thread, side);
}
spec::Handler edge_with_data(&on_edge_with_data, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST,
                             "ghost zone is there, with data");

// Where the neighbor on `side` puts its edge; phases alternate between two zones.
std::byte* zone(gex_Rank_t rank, unsigned thread, unsigned side, unsigned phase) {
  const size_t which = (size_t{thread} * 2 + side) * 2 + phase % 2;
  return spec::segment_of(rank, (size_t{1} << 20) + which * kZone);
}
uint64_t content(gex_Rank_t rank, unsigned thread, unsigned phase) {
  return (uint64_t{phase} << 20) + uint64_t{thread} * 1000 + rank;
}

// Done when both edges are there.
void put_edges(unsigned thread, unsigned phase, const gex_Rank_t (&neighbors)[2], char* own) {
  const auto to = [&](unsigned side) { return zone(neighbors[side], thread, 1 - side, phase); };
  if (thread == 0 || thread == 3) {
    gex_Event_t puts[2];
    for (unsigned side = 0; side < 2; ++side)
      puts[side] =
          gex_RMA_PutNB(job().tm, neighbors[side], to(side), own, kZone, GEX_EVENT_DEFER, 0);
    if (thread == 0) return gex_Event_WaitAll(puts, 2, 0);
    // A test alone polls nothing, and would wait for ever where a completion comes late.
    while (gex_Event_TestAll(puts, 2, 0) != GASNET_OK) gasnet_AMPoll();
    return;
  }
  if (thread == 1) gex_NBI_BeginAccessRegion(0);
  for (unsigned side = 0; side < 2; ++side)
    gex_RMA_PutNBI(job().tm, neighbors[side], to(side), own, kZone,
                   thread == 1 ? GEX_EVENT_GROUP : GEX_EVENT_NOW, 0);
  if (thread == 1)
    gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  else
    gex_NBI_Wait(GEX_EC_PUT, 0);
}

void tell(unsigned thread, gex_Rank_t neighbor, unsigned side, const char* own) {
  const auto t = static_cast<gex_AM_Arg_t>(thread), s = static_cast<gex_AM_Arg_t>(side);
  if (thread == 0) {
    gex_AM_RequestShort2(job().tm, neighbor, edge, 0, t, s);
    return;
  }
  gex_Event_t read = GEX_EVENT_INVALID;
  gex_AM_RequestMedium2(job().tm, neighbor, edge_with_data, own, 64,
                        thread == 1 ? GEX_EVENT_NOW : &read, 0, t, s);
  gex_Event_Wait(read);
}

void exchange(unsigned thread, unsigned phase) {
  std::array<char, kZone> own;
  spec::fill(own.data(), kZone, content(job().rank, thread, phase));
  const gex_Rank_t neighbors[] = {job().behind(), job().peer()};
  put_edges(thread, phase, neighbors, own.data());
  for (unsigned side = 0; side < 2; ++side) tell(thread, neighbors[side], 1 - side, own.data());
  for (unsigned side = 0; side < 2; ++side) {
    GASNET_BLOCKUNTIL(signals[thread][side].load(std::memory_order_acquire) > phase);
    CHECK_PATTERN(zone(job().rank, thread, side, phase), kZone,
                  content(neighbors[side], thread, phase));
  }
}

}  // namespace

// Would catch a completion that is lost or waits for something that nobody does any more.
SPEC_CASE(ghost_zones, threads_and_phases, 2) {
  for (auto& sides : signals)
    for (auto& count : sides) count.store(0, std::memory_order_relaxed);
  spec::barrier();
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (unsigned phase = 0; phase < phases(); ++phase) exchange(t, phase);
    });
  }
  for (std::thread& thread : threads) thread.join();
  spec::barrier();
}

#endif  // GASNET_PAR
