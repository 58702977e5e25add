// Two threads of rank 0 sleep: one for messages that come, the other for a message that comes at
// the end, and over a network either of them may take what comes. Rank 1 sends after 20 to 45 ms,
// with the time in the message, and nothing else until it has an answer. Catches a thread that
// sleeps on although another one has run its handler (GASNet-1, 2.3.5.2, note on
// GASNET_BLOCKUNTIL): it is as late as its nap is long.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "small_client.h"

namespace {

using spec::require;

constexpr unsigned kRounds = 32;
constexpr double kLate_ms = 250;  // a quarter of the nap
constexpr gex_AM_Index_t kWake = GEX_AM_INDEX_BASE, kAnswer = kWake + 1, kEnd = kWake + 2;

std::atomic<unsigned> woken, answers, ended;
double sent_at;  // of the message that `woken` has counted last
gex_TM_t team;

double now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

void on_wake(gex_Token_t, const void* when, size_t bytes) {
  std::memcpy(&sent_at, when, bytes);
  woken.fetch_add(1, std::memory_order_release);
}
void on_answer(gex_Token_t) {
  answers.fetch_add(1, std::memory_order_release);
}
void on_end(gex_Token_t) {
  ended.store(1, std::memory_order_release);
}

bool wake_in_time() {
  std::array<double, kRounds> late{};
  std::thread other([] { GASNET_BLOCKUNTIL(ended.load(std::memory_order_acquire) != 0); });
  for (unsigned round = 0; round < kRounds; ++round) {
    GASNET_BLOCKUNTIL(woken.load(std::memory_order_acquire) > round);
    late[round] = now_ms() - sent_at;
    gex_AM_RequestShort0(team, 1, kAnswer, 0);
  }
  other.join();
  std::sort(late.begin(), late.end());
  std::printf("late by %.3f ms, seven eighths of the times\n", late[kRounds / 8 * 7]);
  return late[kRounds / 8 * 7] < kLate_ms;
}

void wake_in_turn() {
  for (unsigned round = 0; round < kRounds; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + round * 7 % 26));
    const double when = now_ms();
    gex_AM_RequestMedium0(team, 0, kWake, &when, sizeof when, GEX_EVENT_NOW, 0);
    GASNET_BLOCKUNTIL(answers.load(std::memory_order_acquire) > round);
  }
  gex_AM_RequestShort0(team, 0, kEnd, 0);
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  require(gex_Client_Init(&client, &ep, &team, "two_sleepers", &argc, &argv, 0) == GASNET_OK,
          "gex_Client_Init");
  spec::me = gex_TM_QueryRank(team);
  constexpr gex_Flags_t kShort = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST;
  constexpr gex_Flags_t kMedium = GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST;
  gex_AM_Entry_t entries[] = {
      {kWake, reinterpret_cast<gex_AM_Fn_t>(on_wake), kMedium, 0, nullptr, "wake"},
      {kAnswer, reinterpret_cast<gex_AM_Fn_t>(on_answer), kShort, 0, nullptr, "answer"},
      {kEnd, reinterpret_cast<gex_AM_Fn_t>(on_end), kShort, 0, nullptr, "end"}};
  require(gex_EP_RegisterHandlers(ep, entries, 3) == GASNET_OK, "gex_EP_RegisterHandlers");
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (spec::me == 0)
    require(wake_in_time(), "the nap went on although another thread had the message");
  if (spec::me == 1) wake_in_turn();
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(0);
}
