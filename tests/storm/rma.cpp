// Puts and gets in every mode, into places that only the actor writes. A put may be looked at by
// its target as soon as it is complete; a get knows what it has to bring.
#include <gasnetex.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "buffer.h"
#include "family.h"
#include "teams.h"
#include "traveller.h"
#include "world.h"

namespace storm {
namespace {

constexpr gex_AM_Index_t kLook = 200, kLooked = 201;
constexpr unsigned kRoom = static_cast<unsigned>(Room::rma);

struct Plan {
  bool put = false, museum = false, value = false;
  gex_Rank_t target = 0;
  unsigned sub = 0;
  size_t at = 0, bytes = 0;  // within the place, or the museum
  Stamp stamp;

  Plan(const Step& step, Actor actor) {
    Random own = step.of(actor);
    target = static_cast<gex_Rank_t>(own.below(world().size));
    put = own.chance(60);
    museum = !put && own.chance(30);
    value = own.chance(15);
    sub = step.index % kSubs;
    const size_t room = museum ? kMuseum : kSub;
    bytes = value ? own.within(1, 8) : own.size(room);
    at = own.below(room - bytes + 1);
    stamp = stamp_of(step, actor, 1);
  }
  size_t offset(Actor actor) const {
    return museum ? at : World::place(Room::rma, actor, sub) + at;
  }
};

class RmaFlight : public Flight {
 public:
  RmaFlight(const Step& step, Actor actor)
      : Flight(step), actor_(actor), plan_(step, actor), whim_(step.whim(actor)) {
    way_ = way_to(plan_.target, actor, whim_);
    there_ = world().at(plan_.target, plan_.offset(actor));
  }
  bool uses(unsigned room, unsigned sub) const override {
    return room == kRoom && sub == plan_.sub;
  }
  bool test() override {
    gasnet_AMPoll();
    if (category_ != 0 ? gex_NBI_Test(category_, 0) != GASNET_OK
                       : event_ != GEX_EVENT_INVALID && gex_Event_Test(event_) != GASNET_OK)
      return false;
    category_ = 0;
    event_ = GEX_EVENT_INVALID;
    return check(false);
  }
  void wait() override {
    if (category_ != 0) gex_NBI_Wait(category_, 0);
    gex_Event_Wait(event_);
    check(true);
  }

 protected:
  virtual bool check(bool wait) = 0;
  // Leaf events of a put: local completion, after which the source is the client's own again.
  gex_Event_t* leaf() { return whim_.one_of({GEX_EVENT_NOW, GEX_EVENT_DEFER, &local_}); }
  Actor actor_;
  Plan plan_;
  Random whim_;
  Way way_{};
  std::byte* there_ = nullptr;
  Buffer here_;
  gex_Event_t event_ = GEX_EVENT_INVALID, local_ = GEX_EVENT_INVALID;
  gex_EC_t category_ = 0;
};

class PutFlight : public RmaFlight {
 public:
  PutFlight(const Step& step, Actor actor) : RmaFlight(step, actor) {
    look_ = whim_.chance(30);
    if (plan_.value) {
      put_value();
      return;
    }
    here_ = Buffer(plan_.bytes, 1, whim_);
    fill(here_.data(), plan_.bytes, plan_.stamp);
    switch (whim_.below(4)) {
      case 0:
        gex_RMA_PutBlocking(way_.tm, way_.rank, there_, here_.data(), plan_.bytes, 0);
        break;
      case 1:
        put_region();
        break;
      case 2:
        put_implicit();
        break;
      default:
        put_explicit();
        break;
    }
  }
  const char* name() const override { return "waits for a put"; }
  void looked() { looked_.store(true, std::memory_order_release); }

 private:
  void put_value() {
    uint64_t word = 0;
    fill(&word, plan_.bytes, plan_.stamp);
    switch (whim_.below(3)) {
      case 0:
        gex_RMA_PutBlockingVal(way_.tm, way_.rank, there_, word, plan_.bytes, 0);
        break;
      case 1:
        gex_RMA_PutNBIVal(way_.tm, way_.rank, there_, word, plan_.bytes, 0);
        category_ = GEX_EC_PUT;
        break;
      default:
        event_ = gex_RMA_PutNBVal(way_.tm, way_.rank, there_, word, plan_.bytes, 0);
        break;
    }
  }
  void put_explicit() {
    gex_Event_t* const leaf_event = leaf();
    gex_Flags_t flags = whim_.one_of<gex_Flags_t>({0, 0, GEX_FLAG_IMMEDIATE});
    event_ =
        gex_RMA_PutNB(way_.tm, way_.rank, there_, here_.data(), plan_.bytes, leaf_event, flags);
    if (event_ == GEX_EVENT_NO_OP)
      event_ = gex_RMA_PutNB(way_.tm, way_.rank, there_, here_.data(), plan_.bytes, leaf_event, 0);
    spoil_early(leaf_event);
  }
  void put_implicit() {
    gex_Event_t* const leaf_event = whim_.one_of({GEX_EVENT_NOW, GEX_EVENT_DEFER, GEX_EVENT_GROUP});
    const gex_Flags_t flags = whim_.one_of<gex_Flags_t>({0, 0, GEX_FLAG_IMMEDIATE});
    if (gex_RMA_PutNBI(way_.tm, way_.rank, there_, here_.data(), plan_.bytes, leaf_event, flags))
      gex_RMA_PutNBI(way_.tm, way_.rank, there_, here_.data(), plan_.bytes, leaf_event, 0);
    category_ = GEX_EC_PUT;
    if (leaf_event == GEX_EVENT_GROUP && whim_.chance(50)) {
      gex_NBI_Wait(GEX_EC_LC, 0);
      spoil();
    }
    spoil_early(leaf_event);
  }
  // In two pieces.
  void put_region() {
    const size_t half = plan_.bytes / 2;
    gex_NBI_BeginAccessRegion(0);
    gex_RMA_PutNBI(way_.tm, way_.rank, there_, here_.data(), half, GEX_EVENT_DEFER, 0);
    gex_RMA_PutNBI(way_.tm, way_.rank, there_ + half, here_.data() + half, plan_.bytes - half,
                   GEX_EVENT_DEFER, 0);
    event_ = gex_NBI_EndAccessRegion(0);
  }
  void spoil() { here_.spoil(); }
  void spoil_early(const gex_Event_t* leaf_event) {
    if (leaf_event == GEX_EVENT_NOW) spoil();
    if (leaf_event != &local_) return;
    gex_Event_Wait(local_);
    spoil();
  }

  // Asks the target to look, once.
  bool check(bool wait) override {
    if (!look_) return true;
    if (!asked_) {
      const Address self = send_off(this);
      gex_AM_RequestShort4(world().tm, plan_.target, kLook, 0,
                           static_cast<gex_AM_Arg_t>(step_.index), actor_.number(), self.low,
                           self.high);
      asked_ = true;
    }
    if (wait) GASNET_BLOCKUNTIL(looked_.load(std::memory_order_acquire));
    return looked_.load(std::memory_order_acquire);
  }
  bool look_ = false, asked_ = false;
  std::atomic<bool> looked_{false};
};

class GetFlight : public RmaFlight {
 public:
  GetFlight(const Step& step, Actor actor, const std::vector<std::byte>& known)
      : RmaFlight(step, actor) {
    if (!plan_.museum) {
      want_.assign(known.begin() + static_cast<ptrdiff_t>(plan_.at),
                   known.begin() + static_cast<ptrdiff_t>(plan_.at + plan_.bytes));
    } else {
      want_.resize(plan_.bytes);
      fill_from(want_.data(), plan_.at, plan_.bytes, World::museum_stamp(plan_.target));
    }
    here_ = Buffer(plan_.bytes, 1, whim_);
    if (plan_.value) {
      const uint64_t word = gex_RMA_GetBlockingVal(way_.tm, way_.rank, there_, plan_.bytes, 0);
      std::memcpy(here_.data(), &word, plan_.bytes);
      return;
    }
    switch (whim_.below(3)) {
      case 0:
        gex_RMA_GetBlocking(way_.tm, here_.data(), way_.rank, there_, plan_.bytes, 0);
        break;
      case 1:
        gex_RMA_GetNBI(way_.tm, here_.data(), way_.rank, there_, plan_.bytes, 0);
        category_ = GEX_EC_GET;
        break;
      default:
        event_ = gex_RMA_GetNB(way_.tm, here_.data(), way_.rank, there_, plan_.bytes, 0);
        break;
    }
  }
  const char* name() const override { return "waits for a get"; }

 private:
  bool check(bool) override {
    here_.check_borders(step_, "destination of a get");
    if (plan_.bytes == 0 || std::memcmp(here_.data(), want_.data(), plan_.bytes) == 0) return true;
    size_t i = 0;
    while (here_.data()[i] == want_[i]) ++i;
    fail(step_, "get of %zu bytes from %zu of rank %u: byte %zu is %s, expected %s", plan_.bytes,
         plan_.offset(actor_), plan_.target, i, describe(here_.data(), plan_.bytes, i).c_str(),
         describe(want_.data(), plan_.bytes, i).c_str());
  }
  std::vector<std::byte> want_;
};

// At the target: what a complete put has left.
void on_look(gex_Token_t token, gex_AM_Arg_t index, gex_AM_Arg_t number, gex_AM_Arg_t low,
             gex_AM_Arg_t high) {
  const Step step = script().step(static_cast<uint32_t>(index));
  const Actor actor{static_cast<uint32_t>(number) / kThreads,
                    static_cast<uint32_t>(number) % kThreads};
  const Plan plan(step, actor);
  expect(step, "a put that its initiator was told is complete",
         world().segment + plan.offset(actor), 0, plan.bytes, plan.stamp);
  gex_AM_ReplyShort2(token, kLooked, 0, low, high);
}

void on_looked(gex_Token_t, gex_AM_Arg_t low, gex_AM_Arg_t high) {
  back<PutFlight>(low, high).looked();
}

class Rma : public FamilyPart {
 public:
  void begin() override {
    gex_AM_Entry_t table[] = {{kLook, reinterpret_cast<gex_AM_Fn_t>(on_look),
                               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 4, nullptr, "look"},
                              {kLooked, reinterpret_cast<gex_AM_Fn_t>(on_looked),
                               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 2, nullptr, "looked"}};
    gex_EP_RegisterHandlers(world().ep, table, std::size(table));
    // For each actor of this rank, by target and place: what its own places hold.
    for (auto& known : known_)
      known.assign(size_t{world().size} * kSubs, std::vector<std::byte>(kSub));
  }
  bool by_threads() const override { return true; }

  void run(const Step& step, Flights& flights) override {
    const Actor actor = flights.actor();
    const Plan plan(step, actor);
    flights.settle_place(kRoom, plan.sub);
    auto& known = known_[actor.thread][plan.target * kSubs + plan.sub];
    if (plan.put) {
      fill(known.data() + plan.at, plan.bytes, plan.stamp);
      flights.add(std::make_unique<PutFlight>(step, actor));
    } else {
      flights.add(std::make_unique<GetFlight>(step, actor, known));
    }
  }

  void replay(const Step& step, Actor actor, Shadow& shadow) override {
    const Plan plan(step, actor);
    if (plan.put && plan.target == world().rank)
      fill(shadow.at(plan.offset(actor)), plan.bytes, plan.stamp);
  }

 private:
  std::vector<std::vector<std::byte>> known_[kThreads];
};

}  // namespace

std::unique_ptr<FamilyPart> make_rma() {
  return std::make_unique<Rma>();
}

}  // namespace storm
