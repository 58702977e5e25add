// Groups and their collectives (GASPI 17.1, chapters 6 and 11).
//
// Members agree on a group by control messages to the lowest rank, which counts them and names a
// generation: the group's *key* is a number of its ranks, its *uid* of key and generation, so that
// a group that is committed again, by survivors or with a replaced process, has no control messages
// in common with what was before. Collectives go forward inside the call only, and continue in the
// next one.
#pragma once

#include <GASPI.h>

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/gaspi/control.h"
#include "api/gaspi/deadline.h"

namespace causeway::gaspi {

struct World;

// Collectives that a group may have under way beside each other.
enum class Kind : uint8_t { barrier, allreduce, creation, count };

// A member's part of a dissemination barrier: round k tells the member 2^k ahead and hears from the
// one 2^k behind.
struct Barrier {
  bool active = false;
  bool told = false;  // in this round
  uint32_t round = 0;
};

// A member's part of a reduction over a binomial tree with the first member at its root. The order
// of operands is fixed, so all members get the same bits, every time.
struct Reduction {
  bool active = false;
  size_t bytes = 0;    // what it began with
  std::string value;   // operands combined so far, then the result
  std::string other;   // an operand that came and is being combined
  std::string result;  // of that
  size_t done = 0;     // bytes of it that are there, where the user's operation needs several calls
  uint32_t bit = 1;    // the child to hear from next
  enum class Phase { up, down } phase = Phase::up;
};

struct Group {
  std::vector<gaspi_rank_t> ranks;  // ascending
  std::vector<uint32_t> epochs;     // of the members' processes when they committed
  uint32_t losses = 0;              // World::losses then
  bool committed = false;
  bool joining = false;  // a commit has begun
  uint64_t key = 0, uid = 0;
  uint64_t proposed = 0;
  uint32_t index = 0;  // this rank's place
  std::array<uint32_t, static_cast<size_t>(Kind::count)> sequence{};
  Barrier barrier, creation;
  Reduction reduction;
  uint32_t size() const { return static_cast<uint32_t>(ranks.size()); }
};

// `causeway ps` reads this, and looks for the members that a collective lacks.
inline void is_collective(Deadline& deadline, Kind kind, unsigned id, const Group& group) {
  deadline.is_for("number {} on a group of {}, id {}", group.sequence[static_cast<size_t>(kind)],
                  group.size(), id);
}

// Combines operands: result of `a` and `b` into `out`, which is neither, from the byte `done` on.
using Combine = std::function<gaspi_return_t(const void* a, const void* b, void* out, size_t& done,
                                             gaspi_timeout_t timeout)>;

class Groups {
 public:
  explicit Groups(World& world) : world_(world) {}

  // These refuse what cannot be, but for add(), which returns the code.
  unsigned create();
  gaspi_return_t add(unsigned group, uint32_t rank);
  void remove(unsigned group);
  std::shared_ptr<Group> at(unsigned group);
  uint32_t count();
  // NULL when there is none. Groups are used by one thread at a time (6.3.3, 11.1), but for their
  // table.
  std::shared_ptr<Group> find(unsigned group);

  // GASPI_GROUP_ALL exists from the start; at once committed when `committed`.
  void make_all(bool committed);

  // Each is a single attempt; GASPI_TIMEOUT while others are waited for.
  gaspi_return_t commit(Group& group);
  gaspi_return_t barrier(Group& group, Kind kind, Barrier& barrier);
  // A creation of the group's that failed here: the members are told, and do not wait for this one.
  void fail_creation(Group& group);
  // Has a member said that the creation under way has failed? The creation is over then.
  bool creation_failed(Group& group);
  gaspi_return_t reduce(Group& group, const void* send, void* receive, size_t bytes,
                        const Combine& combine, Deadline& deadline);

  void on_control_message(uint32_t from, ControlMessage message, const Header& header,
                          std::string& text);
  // The rank's process is lost: it takes no part in a commit, until the new one does.
  void forget(uint32_t rank);

 private:
  using StepKey = std::tuple<uint64_t, uint64_t, uint32_t>;  // uid, step, from
  void send_step(const Group& group, Kind kind, uint32_t step, uint32_t to_index,
                 std::string text = {});
  bool take_step(const Group& group, Kind kind, uint32_t step, uint32_t from_index,
                 std::string* text = nullptr);
  gaspi_return_t try_commit(Group& group);
  void take_back(Group& group);
  void withdraw_join(uint64_t key, uint32_t rank, uint64_t proposed);
  void answer_joins(const Group& group);
  void note_members(Group& group) const;
  gaspi_return_t unless_lost(const Group& group) const;
  gaspi_return_t still_waiting(const Group& group, uint32_t index);
  static void end_creation(Group& group);
  gaspi_return_t hear_children(Group& group, Reduction& r, size_t bytes, const Combine& combine,
                               Deadline& deadline);

  World& world_;
  std::mutex table_mutex_;
  std::map<unsigned, std::shared_ptr<Group>> groups_;
  std::mutex messages_mutex_;  // what follows
  // key -> rank -> the least generations that it proposed, in its order: groups of the same members
  // may be committed side by side, and then pair off as they come.
  std::map<uint64_t, std::map<uint32_t, std::deque<uint64_t>>> joins_;
  // (key, what this rank proposed) -> generation; 0, which is none, until the answer comes. An
  // attempt that was given up has no entry: an answer to it is dropped.
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> commits_;
  std::map<uint64_t, uint64_t> generations_;  // key -> the last one used or proposed here
  std::map<StepKey, std::string> steps_;
};

}  // namespace causeway::gaspi
