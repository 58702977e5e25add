#include "collective/inquiry.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "am/arguments.h"
#include "base/clock.h"
#include "base/context.h"
#include "collective/engine.h"
#include "collective/team_runs.h"
#include "object/team.h"

namespace causeway {
namespace {

// ---- the asking side ----

struct Asked {
  uint32_t job_rank;
  uint32_t rank;  // in the team
  bool sent = false;
  std::optional<HowFar> answer;
};

// A collective that stands still, and the round of questions about it that is open, if one is.
struct Standstill {
  CollectiveWait about;
  uint64_t since = 0;  // when that was first seen, or the last round ended
  bool open = false;
  std::vector<Asked> asked;
  // The last round found that all living members have begun, with these moves.
  bool all_had_begun = false;
  std::vector<uint64_t> moves;
};

// Not held while anything is sent: a message to oneself arrives within the sending call.
std::mutex g_inquiry_mutex;
Standstill g_standstill;
// Grows with every round, so that late answers are told from those to this one.
uint32_t g_round = 0;
// Held by the thread that looks: there is one at a time.
std::mutex g_look_mutex;

// Large teams are asked a part at a time: every member that waits asks all the others.
constexpr size_t kAtOnce = 64;

void open_round(Standstill& s) {
  ++g_round;
  s.open = true;
  s.asked.clear();
  const Team& team = *s.about.team;
  for (uint32_t r = 0; r < team.size(); ++r)
    if (r != team.rank()) s.asked.push_back({team.job_rank(r), r, false, std::nullopt});
}

bool has_left(const Asked& who, const std::vector<uint32_t>& departed) {
  return std::ranges::find(departed, who.job_rank) != departed.end();
}

std::vector<uint32_t> unasked(const std::vector<uint32_t>& departed) {
  std::vector<uint32_t> out;
  for (const Asked& a : g_standstill.asked)
    if (!a.sent && !has_left(a, departed) && out.size() < kAtOnce) out.push_back(a.rank);
  return out;
}

// On the lane of replies, which is open also where a poll waits inside a handler.
bool ask(const CollectiveWait& about, uint32_t round, uint32_t rank) {
  const auto args = handler_args(CollectiveMessage::how_far, about.team->id(), rank,
                                 about.team->rank(), about.seq, about.sort, round);
  Peer& peer = about.team->member(rank);
  return try_send_internal(peer, Internal::signal, args, nullptr, 0, true) == CWY_OK;
}

void note_sent(uint32_t round, uint32_t rank) {
  const std::lock_guard lock(g_inquiry_mutex);
  if (round != g_round) return;
  for (Asked& a : g_standstill.asked)
    if (a.rank == rank) a.sent = true;
}

// Under g_inquiry_mutex. Ends the round when every living member has answered.
bool all_wait_in_vain(const std::vector<uint32_t>& departed) {
  Standstill& s = g_standstill;
  bool begun = true;
  std::vector<uint64_t> moves;
  for (const Asked& a : s.asked) {
    if (has_left(a, departed)) continue;
    if (!a.answer) return false;
    begun = begun && a.answer->begun;
    moves.push_back(a.answer->moves);
  }
  const bool still = begun && s.all_had_begun && moves == s.moves;
  s.all_had_begun = begun;
  s.moves.swap(moves);
  s.open = false;
  s.since = now_ns();
  return still;
}

// ---- the answering side ----

struct Question {
  Peer* from;
  std::array<int32_t, 8> args;
};
std::mutex g_questions_mutex;
std::vector<Question> g_questions;

constinit std::array<CollectiveMachinery, kCollectiveSorts> g_machineries{};

CollectiveMachinery& machinery(CollectiveSort sort) {
  return g_machineries[static_cast<size_t>(sort)];
}

std::optional<HowFar> how_far(CollectiveSort sort, uint32_t team_id, uint32_t rank, uint64_t seq) {
  if (sort == CollectiveSort::run) return run_how_far(team_id, rank, seq);
  if (static_cast<size_t>(sort) >= kCollectiveSorts) return HowFar{};
  return machinery(sort).how_far(team_id, seq);
}

// False: to be tried again.
bool answer(const Question& q) {
  const auto team_id = static_cast<uint32_t>(q.args[1]), rank = static_cast<uint32_t>(q.args[2]);
  const std::optional<HowFar> far = how_far(static_cast<CollectiveSort>(q.args[6]), team_id, rank,
                                            join_halves(q.args[4], q.args[5]));
  if (!far) return false;
  const auto args = handler_args(CollectiveMessage::so_far, q.args[1], q.args[3], q.args[2],
                                 q.args[4], q.args[5], far->begun, q.args[7], far->moves);
  return try_send_internal(*q.from, Internal::signal, args, nullptr, 0, true) != CWY_RETRY;
}

}  // namespace

void set_machinery(CollectiveSort sort, CollectiveMachinery other) {
  machinery(sort) = other;
}

bool has_rank_of_job(const Team& team, uint32_t job_rank) {
  return std::ranges::find(team.members(), job_rank, &TeamMember::rank) != team.members().end();
}

CollectiveWait collective_with(uint32_t job_rank) {
  CollectiveWait wait = run_with(job_rank);
  for (const CollectiveMachinery& other : g_machineries)
    if (wait.call == nullptr) wait = other.with(job_rank);
  return wait;
}

bool waits_for_departed(const CollectiveWait& wait, const std::vector<uint32_t>& departed,
                        uint64_t patience_ns) {
  const std::unique_lock one(g_look_mutex, std::try_to_lock);
  if (!one.owns_lock()) return false;
  std::vector<uint32_t> next;
  uint32_t round = 0;
  {
    const std::lock_guard lock(g_inquiry_mutex);
    Standstill& s = g_standstill;
    if (!(s.about == wait)) {
      s = Standstill{};
      s.about = wait;
      s.since = now_ns();
    }
    // Half of the time before the first round, half between the two.
    if (wait.call == nullptr || (!s.open && now_ns() - s.since < patience_ns / 2)) return false;
    if (!s.open) open_round(s);
    round = g_round;
    next = unasked(departed);
  }
  for (const uint32_t rank : next)
    if (ask(wait, round, rank)) note_sent(round, rank);
  const std::lock_guard lock(g_inquiry_mutex);
  return all_wait_in_vain(departed);
}

void on_inquiry(Peer& from, const int32_t* args, unsigned nargs) {
  if (static_cast<CollectiveMessage>(args[0]) == CollectiveMessage::how_far && nargs >= 8) {
    const std::lock_guard lock(g_questions_mutex);
    g_questions.push_back({&from, {}});
    std::copy_n(args, 8, g_questions.back().args.begin());
    // Answered when this poll has stepped what came with it. Release: the question is in the list.
    context().attention.store(true, std::memory_order_release);
    return;
  }
  if (nargs < 10) return;
  const std::lock_guard lock(g_inquiry_mutex);
  if (static_cast<uint32_t>(args[7]) != g_round || !g_standstill.open) return;
  for (Asked& a : g_standstill.asked)
    if (a.rank == static_cast<uint32_t>(args[3]))
      a.answer = HowFar{args[6] != 0, join_halves(args[8], args[9])};
}

void answer_inquiries() {
  std::vector<Question> questions;
  {
    const std::lock_guard lock(g_questions_mutex);
    questions.swap(g_questions);
  }
  if (questions.empty()) return;
  std::erase_if(questions, answer);
  if (questions.empty()) return;
  const std::lock_guard lock(g_questions_mutex);
  g_questions.insert(g_questions.end(), questions.begin(), questions.end());
  context().attention.store(true, std::memory_order_release);
}

}  // namespace causeway
