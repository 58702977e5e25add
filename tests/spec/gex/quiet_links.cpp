// More peers than a rank may have connections, or descriptors: each talks to all others in a random
// order by puts, gets, messages with replies, and puts of which eight are under way, so links are
// closed and opened in the middle of everything. Each byte is compared. Catches a connection that
// is closed before all that came over it was read, credit or acknowledgements that are lost with
// it, ranks that wait for each other's descriptors, and a test that closes nothing.
// Usage: quiet_links ROUNDS SEED [DESCRIPTORS]
#include <causeway/report.h>
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "small_client.h"

namespace {

using spec::me;
using spec::require;

constexpr size_t kRoom = 32 << 10;  // of each rank in the segment of each
constexpr gex_AM_Index_t kAsk = GEX_AM_INDEX_BASE, kAnswer = kAsk + 1;

unsigned long answers = 0;
bool wrong = false;
gex_TM_t team;
std::vector<char*> rooms;  // this rank's, by owner

void fill(std::vector<char>& bytes, int first) {
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(static_cast<size_t>(first) + i);
}

void on_ask(gex_Token_t token, void* data, size_t bytes, gex_AM_Arg_t first) {
  std::vector<char> expected(bytes);
  fill(expected, first);
  wrong |= std::memcmp(data, expected.data(), bytes) != 0;
  gex_AM_ReplyShort0(token, kAnswer, 0);
}
void on_answer(gex_Token_t) {
  ++answers;
}

void attach(gex_Rank_t size) {
  gex_Segment_t segment;
  require(gex_Segment_Attach(&segment, team, kRoom * size) == GASNET_OK, "no segment");
  for (gex_Rank_t rank = 0; rank < size; ++rank) {
    void* base = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, &base, nullptr, nullptr, 0));
    rooms.push_back(static_cast<char*>(base) + kRoom * me);
  }
}

void put_and_get(gex_Rank_t peer, std::vector<char>& bytes) {
  gex_RMA_PutBlocking(team, peer, rooms[peer], bytes.data(), bytes.size(), 0);
  std::vector<char> back(bytes.size());
  gex_RMA_GetBlocking(team, back.data(), peer, rooms[peer], back.size(), 0);
  wrong |= back != bytes;
}

void talk(unsigned rounds, unsigned seed) {
  std::mt19937 random(seed * 1000 + me);
  const auto any_rank = [&] { return static_cast<gex_Rank_t>(random() % rooms.size()); };
  unsigned long asked = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    const auto first = static_cast<int>(random() % 256);
    std::vector<char> bytes(1 + random() % (round % 3 == 0 ? 4000 : 20000));
    fill(bytes, first);
    if (round % 3 == 0) {
      gex_AM_RequestMedium1(team, any_rank(), kAsk, bytes.data(), bytes.size(), GEX_EVENT_NOW, 0,
                            first);
      ++asked;
    } else if (round % 3 == 1) {
      put_and_get(any_rank(), bytes);
    } else {
      for (int i = 0; i < 8; ++i) {
        const gex_Rank_t peer = any_rank();
        gex_RMA_PutNBI(team, peer, rooms[peer], bytes.data(), bytes.size(), GEX_EVENT_NOW, 0);
      }
      gex_NBI_Wait(GEX_EC_ALL, 0);
    }
  }
  GASNET_BLOCKUNTIL(answers == asked);
}

bool has_parked() {
  bool found = false;
  cwy_report_v1(
      [](void* arg, const char* line) {
        const char* const at = std::strstr(line, "parked ");
        if (at != nullptr && std::strtoul(at + 7, nullptr, 10) > 0) *static_cast<bool*>(arg) = true;
      },
      &found);
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3) {
    const rlim_t most = std::strtoul(argv[3], nullptr, 10);
    const rlimit limit{most, most};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  gex_Client_t client;
  gex_EP_t ep;
  gex_Client_Init(&client, &ep, &team, "QUIET", &argc, &argv, 0);
  me = gex_TM_QueryRank(team);
  require(argc >= 3, "usage: quiet_links ROUNDS SEED [DESCRIPTORS]");
  gex_AM_Entry_t entries[] = {{kAsk, reinterpret_cast<gex_AM_Fn_t>(on_ask),
                               GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, nullptr, nullptr},
                              {kAnswer, reinterpret_cast<gex_AM_Fn_t>(on_answer),
                               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, nullptr, nullptr}};
  require(gex_EP_RegisterHandlers(ep, entries, 2) == GASNET_OK, "no handlers");
  attach(gex_TM_QuerySize(team));
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  const auto seed = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  if (me == 0) std::printf("seed %u\n", seed);
  talk(static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)), seed);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  require(!wrong, "wrong bytes");
  require(has_parked(), "no connection was closed");
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (me == 0) std::puts("all is well");
  gasnet_exit(0);
}
