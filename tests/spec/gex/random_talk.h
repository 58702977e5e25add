// Traffic of all kinds between all ranks of a team, in a random order: puts, gets, messages with
// replies, and puts of which eight are under way. Each byte is compared. A program includes it
// once.
#pragma once

#include <causeway/report.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "small_client.h"

namespace spec::random_talk {

constexpr size_t kRoom = 32 << 10;  // of each rank in the segment of each
constexpr gex_AM_Index_t kAsk = GEX_AM_INDEX_BASE, kAnswer = kAsk + 1;

inline unsigned long answers = 0;
inline bool wrong = false;
inline gex_TM_t team;
inline std::vector<char*> rooms;  // this rank's, by owner

inline void fill(std::vector<char>& bytes, int first) {
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<char>(static_cast<size_t>(first) + i);
}

inline void on_ask(gex_Token_t token, void* data, size_t bytes, gex_AM_Arg_t first) {
  std::vector<char> expected(bytes);
  fill(expected, first);
  wrong |= std::memcmp(data, expected.data(), bytes) != 0;
  gex_AM_ReplyShort0(token, kAnswer, 0);
}
inline void on_answer(gex_Token_t) {
  ++answers;
}

inline void attach(gex_Rank_t size) {
  gex_Segment_t segment;
  require(gex_Segment_Attach(&segment, team, kRoom * size) == GASNET_OK, "no segment");
  for (gex_Rank_t rank = 0; rank < size; ++rank) {
    void* base = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, &base, nullptr, nullptr, 0));
    rooms.push_back(static_cast<char*>(base) + kRoom * me);
  }
}

inline void put_and_get(gex_Rank_t peer, std::vector<char>& bytes) {
  gex_RMA_PutBlocking(team, peer, rooms[peer], bytes.data(), bytes.size(), 0);
  std::vector<char> back(bytes.size());
  gex_RMA_GetBlocking(team, back.data(), peer, rooms[peer], back.size(), 0);
  wrong |= back != bytes;
}

inline void talk(unsigned rounds, unsigned seed) {
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

// Rounds and seed as a program's arguments.
inline void talk(const char* rounds, const char* seed) {
  const auto number = static_cast<unsigned>(std::strtoul(seed, nullptr, 10));
  if (me == 0) std::printf("seed %u\n", number);
  talk(static_cast<unsigned>(std::strtoul(rounds, nullptr, 10)), number);
}

inline void start(int& argc, char**& argv) {
  gex_Client_t client;
  gex_EP_t ep;
  require(gex_Client_Init(&client, &ep, &team, "TALK", &argc, &argv, 0) == GASNET_OK, "no client");
  me = gex_TM_QueryRank(team);
  gex_AM_Entry_t entries[] = {{kAsk, reinterpret_cast<gex_AM_Fn_t>(on_ask),
                               GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, nullptr, nullptr},
                              {kAnswer, reinterpret_cast<gex_AM_Fn_t>(on_answer),
                               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, nullptr, nullptr}};
  require(gex_EP_RegisterHandlers(ep, entries, 2) == GASNET_OK, "no handlers");
  attach(gex_TM_QuerySize(team));
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

// The sum of the counters of that name in the lines of the report.
inline unsigned long counted(const char* name) {
  struct Sought {
    const char* name;
    unsigned long sum;
  } sought{name, 0};
  cwy_report_v1(
      [](void* arg, const char* line) {
        auto& s = *static_cast<Sought*>(arg);
        const char* const at = std::strstr(line, s.name);
        if (at != nullptr) s.sum += std::strtoul(at + std::strlen(s.name), nullptr, 10);
      },
      &sought);
  return sought.sum;
}

}  // namespace spec::random_talk
