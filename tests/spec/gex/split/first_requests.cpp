// All ranks ask all others at once, before anybody has a connection to anybody: the handler of a
// request is then the first that needs a connection to its sender, inside of the conduit that
// brought it. Several rounds, as the first connections are made by the start itself.
// Would catch: connections that are made inside of a network library's own callback, which UCX 1.13
// over TCP does not survive.
#include <gasnet_coll.h>
#include <gasnetex.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr gex_AM_Index_t kAsk = GEX_AM_INDEX_BASE, kAnswer = kAsk + 1;
constexpr unsigned kEach = 40;
constexpr size_t kBytes = 3000;
unsigned answers = 0, wrong = 0;

void look(const void* payload, size_t bytes, gex_AM_Arg_t value) {
  const auto* at = static_cast<const unsigned char*>(payload);
  for (size_t i = 0; i < bytes; ++i) wrong += at[i] != static_cast<unsigned char>(value) ? 1 : 0;
}
void ask(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t value) {
  look(payload, bytes, value);
  gex_AM_ReplyMedium1(token, kAnswer, payload, bytes, GEX_EVENT_NOW, 0, value);
}
void answer(gex_Token_t, void* payload, size_t bytes, gex_AM_Arg_t value) {
  look(payload, bytes, value);
  ++answers;
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  gex_Client_Init(&client, &ep, &team, "FIRSTREQUESTS", &argc, &argv, 0);
  const gex_Flags_t kind = GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQREP;
  gex_AM_Entry_t entries[] = {
      {kAsk, reinterpret_cast<gex_AM_Fn_t>(ask), kind, 1, nullptr, nullptr},
      {kAnswer, reinterpret_cast<gex_AM_Fn_t>(answer), kind, 1, nullptr, nullptr}};
  gex_EP_RegisterHandlers(ep, entries, 2);
  const gex_Rank_t me = gex_TM_QueryRank(team), size = gex_TM_QuerySize(team);
  std::vector<unsigned char> bytes(kBytes, static_cast<unsigned char>(me));
  for (unsigned i = 0; i < kEach; ++i) {
    for (gex_Rank_t there = 0; there < size; ++there)
      gex_AM_RequestMedium1(team, there, kAsk, bytes.data(), 1 + (i * 97) % kBytes, GEX_EVENT_NOW,
                            0, static_cast<gex_AM_Arg_t>(me));
  }
  GASNET_BLOCKUNTIL(answers == kEach * size);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (wrong != 0) std::printf("rank %u: %u wrong bytes\n", me, wrong);
  gasnet_exit(wrong != 0 ? 1 : 0);
}
