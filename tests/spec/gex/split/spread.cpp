// A job of two ranks whose rules split operations over several conduits. Rank 0 moves data to and
// from rank 1 and checks, from the conduits' own counters, that each operation went where the file
// says, and the data, byte by byte.
#include <causeway/report.h>
#include <gasnetex.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr size_t kSegment = size_t{4} << 20;

gex_TM_t team;
gex_Rank_t rank;
char* mine;
char* theirs;  // rank 1's segment, by its own address
bool good = true;

void expect(bool condition, const std::string& what) {
  if (condition) return;
  good = false;
  fprintf(stderr, "rank %u: %s\n", rank, what.c_str());
}

void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

// "net0: put 4, put_bytes 2048, ..." of the report, by conduit and counter.
using Counters = std::map<std::string, std::map<std::string, uint64_t>>;
Counters counters() {
  Counters out;
  cwy_report_v1(
      [](void* arg, const char* line) {
        auto& all = *static_cast<Counters*>(arg);
        const std::string text = line;
        const size_t colon = text.find(": ");
        if (colon == std::string::npos) return;
        auto& own = all[text.substr(0, colon)];
        for (size_t at = colon + 2; at < text.size();) {
          const size_t end = std::min(text.find(", ", at), text.size());
          const std::string item = text.substr(at, end - at);
          const size_t space = item.find(' ');
          if (space != std::string::npos)
            own[item.substr(0, space)] = strtoull(&item[space], nullptr, 10);
          at = end + 2;
        }
      },
      &out);
  return out;
}

uint64_t since(Counters& before, const std::string& conduit, const std::string& counter) {
  Counters now = counters();
  return now[conduit][counter] - before[conduit][counter];
}

char pattern(size_t i, unsigned seed) {
  return static_cast<char>((i * 2654435761u + seed * 40503u) >> 13);
}
void fill(char* at, size_t n, unsigned seed) {
  for (size_t i = 0; i < n; ++i) at[i] = pattern(i, seed);
}
bool holds(const char* at, size_t n, unsigned seed) {
  for (size_t i = 0; i < n; ++i) {
    if (at[i] != pattern(i, seed)) {
      fprintf(stderr, "rank %u: byte %zu of %zu is wrong\n", rank, i, n);
      return false;
    }
  }
  return true;
}

// Rank 0 puts `n` bytes, rank 1 looks; then rank 0 gets them back.
void round_trip(size_t n, unsigned seed, const std::string& what) {
  if (rank == 0) {
    fill(mine, n, seed);
    gex_RMA_PutBlocking(team, 1, theirs + 7, mine, n, 0);
  }
  barrier();
  if (rank == 1) expect(holds(mine + 7, n, seed) && mine[7 + n] == 0, what + ": the put");
  barrier();
  if (rank == 0) {
    memset(mine, 0, n + 64);
    gex_RMA_GetBlocking(team, mine + 3, 1, theirs + 7, n, 0);
    expect(holds(mine + 3, n, seed) && mine[2] == 0 && mine[3 + n] == 0, what + ": the get");
    memset(mine, 0, n + 64);
  }
  barrier();
  if (rank == 1) memset(mine, 0, n + 64);
  barrier();
}

// Many at once, which complete in any order, each several parts.
void flood(unsigned seed) {
  constexpr size_t kEach = 50000, kCount = 40;
  if (rank == 0) {
    fill(mine, kEach * kCount, seed);
    std::vector<gex_Event_t> events;
    for (size_t i = 0; i < kCount; ++i) {
      events.push_back(
          gex_RMA_PutNB(team, 1, theirs + i * kEach, mine + i * kEach, kEach, GEX_EVENT_DEFER, 0));
    }
    gex_Event_WaitAll(events.data(), events.size(), 0);
    // Complete is complete at the target: what comes back is what went.
    memset(mine, 0, kEach * kCount);
    gex_NBI_BeginAccessRegion(0);
    for (size_t i = 0; i < kCount; ++i) {
      gex_RMA_GetNBI(team, mine + i * kEach, 1, theirs + i * kEach, kEach, 0);
    }
    gex_Event_Wait(gex_NBI_EndAccessRegion(0));
    expect(holds(mine, kEach * kCount, seed), "the flood came back damaged");
  }
  barrier();
  if (rank == 1) expect(holds(mine, kEach * kCount, seed), "the flood arrived damaged");
  barrier();
  memset(mine, 0, kSegment);
  barrier();
}

void rail(const std::string& a, const std::string& b) {
  Counters before = counters();
  if (rank == 0) {
    for (int i = 0; i < 8; ++i) gex_RMA_PutBlocking(team, 1, theirs + i * 512, mine, 512, 0);
    expect(since(before, a, "put") == 4 && since(before, b, "put") == 4,
           "eight small puts are not four on each conduit");
    before = counters();
    gex_RMA_PutBlocking(team, 1, theirs, mine, 4096, 0);
    expect(since(before, a, "put") + since(before, b, "put") == 1, "4096 bytes were split");
    before = counters();
    gex_RMA_PutBlocking(team, 1, theirs, mine, 4097, 0);
    expect(since(before, a, "put") == 1 && since(before, b, "put") == 1,
           "4097 bytes were not split");
    before = counters();
    gex_RMA_PutBlocking(team, 1, theirs, mine, 1 << 20, 0);
    gex_RMA_GetBlocking(team, mine, 1, theirs, 1 << 20, 0);
    for (const char* counter : {"put_bytes", "get_bytes"}) {
      const uint64_t x = since(before, a, counter), y = since(before, b, counter);
      expect(x + y == 1 << 20 && x > (1 << 20) / 5 && y > (1 << 20) / 5,
             std::string(counter) + " of 1 MiB are not shared: " + std::to_string(x) + " and " +
                 std::to_string(y));
    }
  }
  barrier();
  memset(mine, 0, kSegment);
  barrier();
}

void sizes(const std::string& near, const std::string& far) {
  if (rank == 0) {
    for (const size_t n : {8ul, 65535ul, 65536ul, 200000ul}) {
      const std::string& there = n < 65536 ? near : far;
      const std::string& elsewhere = n < 65536 ? far : near;
      Counters before = counters();
      gex_RMA_PutBlocking(team, 1, theirs, mine, n, 0);
      gex_RMA_GetBlocking(team, mine, 1, theirs, n, 0);
      expect(since(before, there, "put_bytes") == n && since(before, there, "get_bytes") == n &&
                 since(before, elsewhere, "put") + since(before, elsewhere, "get") == 0,
             std::to_string(n) + " bytes did not go through " + there);
    }
  }
  barrier();
  memset(mine, 0, kSegment);
  barrier();
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &ep, &team, "SPREAD", &argc, &argv, 0) != GASNET_OK) return 3;
  if (argc != 4 || gex_TM_QuerySize(team) != 2) return 3;
  rank = gex_TM_QueryRank(team);
  if (gex_Segment_Attach(&segment, team, kSegment) != GASNET_OK) return 3;
  mine = static_cast<char*>(gex_Segment_QueryAddr(segment));
  memset(mine, 0, kSegment);
  void* address = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, 1, &address, nullptr, nullptr, 0));
  theirs = static_cast<char*>(address);
  barrier();
  if (strcmp(argv[1], "rail") == 0) {
    rail(argv[2], argv[3]);
  } else if (strcmp(argv[1], "sizes") == 0) {
    sizes(argv[2], argv[3]);
  }
  unsigned seed = 1;
  for (const size_t n : {1ul, 8ul, 511ul, 4095ul, 4096ul, 4097ul, 4160ul, 65535ul, 65536ul, 65537ul,
                         1000003ul, 3000001ul}) {
    round_trip(n, seed++, std::to_string(n) + " bytes");
  }
  flood(77);
  if (!good) gasnet_exit(1);
  barrier();  // before it nobody may end the job well
  gasnet_exit(0);
}
