// The older collectives of GASNet-1: every one, blocking or not, with all that their flags promise
// about when data may move, on the teams that there are; and the split-phase barrier.
#include <gasnet.h>
#include <gasnet_coll.h>

#include <cstring>

#include "buffer.h"
#include "family.h"
#include "teams.h"
#include "world.h"

namespace storm {
namespace {

enum class What : unsigned { broadcast, gather, gather_all, scatter, exchange };
constexpr size_t kMostBytes = 6000;  // of a block
constexpr unsigned kPurpose = 10;    // and the receiver's number, where blocks differ

class LegacyFlight : public Flight {
 public:
  LegacyFlight(const Step& step, const Team& team, Actor actor)
      : Flight(step), team_(team), rank_(team.rank_of(world().rank)), whim_(step.whim(actor)) {
    Random common(mix(step.key, 6));
    what_ = static_cast<What>(common.below(5));
    root_ = static_cast<gex_Rank_t>(common.below(team.size()));
    bytes_ = std::min(common.size(kMostBytes), kMostBytes);
    flags_ =
        common.one_of({GASNET_COLL_IN_NOSYNC, GASNET_COLL_IN_MYSYNC, GASNET_COLL_IN_ALLSYNC}) |
        common.one_of({GASNET_COLL_OUT_NOSYNC, GASNET_COLL_OUT_MYSYNC, GASNET_COLL_OUT_ALLSYNC}) |
        GASNET_COLL_LOCAL;
    const bool waits = whim_.chance(25);
    const bool in_place = common.chance(30);
    make_buffers(in_place);
    begin(waits);
  }
  const char* name() const override { return "waits for a collective of GASNet-1"; }
  gex_TM_t team() const override { return team_.tm; }
  bool test() override {
    if (handle_ != GASNET_COLL_INVALID_HANDLE && gasnet_coll_try_sync(handle_) != GASNET_OK)
      return false;
    check();
    return true;
  }
  void wait() override {
    if (whim_.chance(50))
      gasnet_coll_wait_sync(handle_);
    else
      gasnet_coll_wait_sync_all(&handle_, 1);
    check();
  }

 private:
  bool is_root() const { return rank_ == root_; }
  bool sends_blocks() const {
    return what_ == What::exchange || (what_ == What::scatter && is_root());
  }
  bool receives_blocks() const {
    return what_ == What::exchange || what_ == What::gather_all ||
           (what_ == What::gather && is_root());
  }
  bool receives() const { return what_ != What::gather || is_root(); }
  bool sends() const {
    return what_ != What::broadcast && what_ != What::scatter ? true : is_root();
  }
  bool differ() const { return what_ == What::scatter || what_ == What::exchange; }
  Stamp stamp(gex_Rank_t from, gex_Rank_t to) const {
    const Actor writer{team_.members[from], 0};
    return stamp_of(step_, writer, differ() ? kPurpose + 1 + to : kPurpose);
  }

  void make_buffers(bool in_place) {
    const size_t all = bytes_ * team_.size();
    dst_ = Buffer(receives_blocks() ? all : bytes_, 1, whim_);
    // A broadcast's root and a gather to all may give their part in its place.
    const bool within =
        in_place && (what_ == What::gather_all || (what_ == What::broadcast && is_root()));
    if (!within) src_ = Buffer(sends_blocks() ? all : bytes_, 1, whim_);
    source_ = !within                    ? src_.data()
              : what_ == What::broadcast ? dst_.data()
                                         : dst_.data() + rank_ * bytes_;
    if (!sends()) return;
    if (!sends_blocks()) return fill(source_, bytes_, stamp(rank_, 0));
    for (gex_Rank_t to = 0; to < team_.size(); ++to)
      fill(source_ + to * bytes_, bytes_, stamp(rank_, to));
  }

  void begin(bool waits) {
    const gasnet_team_handle_t tm = team_.tm;
    std::byte *const dst = dst_.data(), *const src = source_;
    switch (what_) {
      case What::broadcast:
        if (waits) return gasnet_coll_broadcast(tm, dst, root_, src, bytes_, flags_);
        handle_ = gasnet_coll_broadcast_nb(tm, dst, root_, src, bytes_, flags_);
        break;
      case What::gather:
        if (waits) return gasnet_coll_gather(tm, root_, dst, src, bytes_, flags_);
        handle_ = gasnet_coll_gather_nb(tm, root_, dst, src, bytes_, flags_);
        break;
      case What::gather_all:
        if (waits) return gasnet_coll_gather_all(tm, dst, src, bytes_, flags_);
        handle_ = gasnet_coll_gather_all_nb(tm, dst, src, bytes_, flags_);
        break;
      case What::scatter:
        if (waits) return gasnet_coll_scatter(tm, dst, root_, src, bytes_, flags_);
        handle_ = gasnet_coll_scatter_nb(tm, dst, root_, src, bytes_, flags_);
        break;
      case What::exchange:
        if (waits) return gasnet_coll_exchange(tm, dst, src, bytes_, flags_);
        handle_ = gasnet_coll_exchange_nb(tm, dst, src, bytes_, flags_);
        break;
    }
  }

  void check() {
    static constexpr const char* kNames[] = {"broadcast", "gather", "gather to all", "scatter",
                                             "exchange"};
    const char* const what = kNames[static_cast<unsigned>(what_)];
    dst_.check_borders(step_, what);
    if (src_.size() != 0) src_.check_borders(step_, what);
    if (!receives()) return;
    if (!receives_blocks())
      return expect(step_, what, dst_.data(), 0, bytes_, stamp(root_, differ() ? rank_ : 0));
    for (gex_Rank_t from = 0; from < team_.size(); ++from)
      expect(step_, what, dst_.data() + from * bytes_, 0, bytes_,
             stamp(from, differ() ? rank_ : 0));
  }

  const Team team_;
  gex_Rank_t rank_, root_ = 0;
  Random whim_;
  What what_ = What::broadcast;
  size_t bytes_ = 0;
  int flags_ = 0;
  Buffer src_, dst_;
  std::byte* source_ = nullptr;
  gasnet_coll_handle_t handle_ = GASNET_COLL_INVALID_HANDLE;
};

// A single one at a time: between its two halves everything else goes on.
class NamedBarrier : public Flight {
 public:
  NamedBarrier(const Step& step, bool anonymous)
      : Flight(step), flags_(anonymous ? GASNET_BARRIERFLAG_ANONYMOUS : 0) {
    gasnet_coll_barrier_notify(GASNET_TEAM_ALL, id(), flags_);
  }
  static constexpr unsigned kRoom = 101;
  bool uses(unsigned room, unsigned) const override { return room == kRoom; }
  const char* name() const override { return "waits for a named barrier"; }
  bool test() override {
    const int status = gasnet_coll_barrier_try(GASNET_TEAM_ALL, id(), flags_);
    if (status == GASNET_ERR_NOT_READY) return false;
    check(status);
    return true;
  }
  void wait() override { check(gasnet_coll_barrier_wait(GASNET_TEAM_ALL, id(), flags_)); }

 private:
  int id() const { return static_cast<int>(step_.key & 0xFFFF); }
  void check(int status) const {
    if (status != GASNET_OK) fail(step_, "a named barrier says %d", status);
    int agreed = 0;
    if (flags_ == 0 &&
        (gasnet_coll_barrier_result(GASNET_TEAM_ALL, &agreed) != 0 || agreed != id()))
      fail(step_, "a barrier of name %d ended with name %d", id(), agreed);
  }
  int flags_;
};

class Legacy : public FamilyPart {
 public:
  void run(const Step& step, Flights& flights) override {
    Random common = step.common();
    if (common.chance(15)) {
      flights.settle_place(NamedBarrier::kRoom, 0);
      return flights.add(std::make_unique<NamedBarrier>(step, common.chance(30)));
    }
    const Team& team = teams()[common.below(teams().size())];
    if (!team.here()) return;
    stand_at(step, "begins a collective of GASNet-1");
    flights.add(std::make_unique<LegacyFlight>(step, team, flights.actor()));
  }
};

}  // namespace

std::unique_ptr<FamilyPart> make_legacy() {
  return std::make_unique<Legacy>();
}

}  // namespace storm
