// A second client in the process, with objects, a segment and handlers of its own under the same
// indices: puts that are fetched again, messages that are answered, collectives on its team.
#include <gasnetex.h>

#include <atomic>
#include <cstring>

#include "buffer.h"
#include "collectives.h"
#include "family.h"
#include "traveller.h"
#include "world.h"

namespace storm {
namespace {

// Those of `rma` for the first client.
constexpr gex_AM_Index_t kAsk = 200, kAnswer = 201;
constexpr size_t kPlace = size_t{8} << 10;
constexpr unsigned kRoom = 102;

struct Second {
  gex_Client_t client = GEX_CLIENT_INVALID;
  gex_EP_t ep = GEX_EP_INVALID;
  Team team;
  std::byte* segment = nullptr;
  std::vector<std::byte*> bases;
};
Second second;

size_t place(Actor writer, unsigned sub) {
  return (writer.number() * size_t{kSubs} + sub) * kPlace;
}

struct Plan {
  gex_Rank_t target = 0;
  bool message = false;
  size_t bytes = 0, at = 0;
  unsigned sub = 0;
  Plan(const Step& step, Actor actor) {
    Random own = step.of(actor);
    target = static_cast<gex_Rank_t>(own.below(world().size));
    message = own.chance(40);
    bytes = own.size(message ? std::min(kPlace, gex_AM_LUBRequestMedium()) : kPlace);
    at = message ? 0 : own.below(kPlace - bytes + 1);
    sub = step.index % kSubs;
  }
};

class SecondFlight : public Flight {
 public:
  SecondFlight(const Step& step, Actor actor)
      : Flight(step), plan_(step, actor), whim_(step.whim(actor)), actor_(actor) {
    tm_ = whim_.chance(30) ? gex_TM_Pair(second.ep, 0) : second.team.tm;
    out_ = Buffer(plan_.bytes, 1, whim_);
    fill(out_.data(), plan_.bytes, stamp_of(step, actor, 9));
  }
  bool uses(unsigned room, unsigned sub) const override {
    return room == kRoom && sub == plan_.sub;
  }

 protected:
  Plan plan_;
  Random whim_;
  Actor actor_;
  gex_TM_t tm_;
  Buffer out_;
};

// There and back again.
class ThereAndBack : public SecondFlight {
 public:
  ThereAndBack(const Step& step, Actor actor) : SecondFlight(step, actor) {
    there_ = second.bases[plan_.target] + place(actor, plan_.sub) + plan_.at;
    event_ = gex_RMA_PutNB(tm_, plan_.target, there_, out_.data(), plan_.bytes, GEX_EVENT_DEFER, 0);
  }
  const char* name() const override { return "waits for a transfer of the second client's"; }
  bool test() override {
    gasnet_AMPoll();
    if (event_ != GEX_EVENT_INVALID && gex_Event_Test(event_) != GASNET_OK) return false;
    if (!returning_) {
      fetch();
      return false;
    }
    check();
    return true;
  }
  void wait() override {
    gex_Event_Wait(event_);
    if (!returning_) {
      fetch();
      gex_Event_Wait(event_);
    }
    check();
  }

 private:
  void fetch() {
    returning_ = true;
    out_.spoil();
    back_ = Buffer(plan_.bytes, 1, whim_);
    event_ = gex_RMA_GetNB(tm_, back_.data(), plan_.target, there_, plan_.bytes, 0);
  }
  void check() const {
    back_.check_borders(step_, "destination of the second client's");
    expect(step_, "bytes that went through the second client and back", back_.data(), 0,
           plan_.bytes, stamp_of(step_, actor_, 9));
  }
  std::byte* there_;
  Buffer back_;
  gex_Event_t event_ = GEX_EVENT_INVALID;
  bool returning_ = false;
};

class Question : public SecondFlight {
 public:
  Question(const Step& step, Actor actor) : SecondFlight(step, actor) {
    const Address self = send_off(this);
    gex_AM_RequestMedium4(tm_, plan_.target, kAsk, out_.data(), plan_.bytes, GEX_EVENT_NOW, 0,
                          static_cast<gex_AM_Arg_t>(step.index), actor.number(), self.low,
                          self.high);
    out_.spoil();
  }
  const char* name() const override { return "waits for an answer to the second client"; }
  bool test() override {
    gasnet_AMPoll();
    return answered_.load(std::memory_order_acquire);
  }
  void wait() override { GASNET_BLOCKUNTIL(answered_.load(std::memory_order_acquire)); }
  void answered() { answered_.store(true, std::memory_order_release); }

 private:
  std::atomic<bool> answered_{false};
};

void require_second(gex_Token_t token, const Step& step) {
  gex_Token_Info_t info{};
  gex_Token_Info(token, &info, GEX_TI_EP);
  if (info.gex_ep != second.ep) fail(step, "a message came to an endpoint of another client");
}

void on_ask(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t index, gex_AM_Arg_t number,
            gex_AM_Arg_t low, gex_AM_Arg_t high) {
  const Step step = script().step(static_cast<uint32_t>(index));
  const Actor actor{static_cast<uint32_t>(number) / kThreads,
                    static_cast<uint32_t>(number) % kThreads};
  require_second(token, step);
  const Plan plan(step, actor);
  if (bytes != plan.bytes)
    fail(step, "a message to the second client of %zu bytes, expected %zu", bytes, plan.bytes);
  expect(step, "a message to the second client", payload, 0, bytes, stamp_of(step, actor, 9));
  gex_AM_ReplyShort3(token, kAnswer, 0, index, low, high);
}

void on_answer(gex_Token_t token, gex_AM_Arg_t index, gex_AM_Arg_t low, gex_AM_Arg_t high) {
  require_second(token, script().step(static_cast<uint32_t>(index)));
  back<Question>(low, high).answered();
}

class Clients : public FamilyPart {
 public:
  void begin() override {
    const Step first{0, Family::clients, 0};
    gex_Segment_t segment = GEX_SEGMENT_INVALID;
    gex_AM_Entry_t table[] = {{kAsk, reinterpret_cast<gex_AM_Fn_t>(on_ask),
                               GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 4, nullptr, "ask"},
                              {kAnswer, reinterpret_cast<gex_AM_Fn_t>(on_answer),
                               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 3, nullptr, "answer"}};
    const size_t bytes = (place({world().size, 0}, 0) + 4095) & ~size_t{4095};
    if (gex_Client_Init(&second.client, &second.ep, &second.team.tm, "STORM2", nullptr, nullptr,
                        0) != GASNET_OK ||
        gex_EP_RegisterHandlers(second.ep, table, std::size(table)) != GASNET_OK ||
        gex_Segment_Attach(&segment, second.team.tm, bytes) != GASNET_OK)
      fail(first, "no second client");
    second.segment = static_cast<std::byte*>(gex_Segment_QueryAddr(segment));
    std::memset(second.segment, 0, bytes);
    written_.resize(place({world().size, 0}, 0));
    for (gex_Rank_t r = 0; r < world().size; ++r) {
      void* owner = nullptr;
      gex_Event_Wait(gex_EP_QueryBoundSegmentNB(second.team.tm, r, &owner, nullptr, nullptr, 0));
      second.bases.push_back(static_cast<std::byte*>(owner));
      second.team.members.push_back(r);
    }
  }
  bool by_threads() const override { return true; }

  void run(const Step& step, Flights& flights) override {
    const Actor actor = flights.actor();
    if (Random common = step.common(); actor.thread == 0 && common.chance(35))
      begin_collective(step, second.team, flights, own_slots());
    const Plan plan(step, actor);
    flights.settle_place(kRoom, plan.sub);
    if (plan.message)
      flights.add(std::make_unique<Question>(step, actor));
    else
      flights.add(std::make_unique<ThereAndBack>(step, actor));
  }

  void replay(const Step& step, Actor actor, Shadow&) override {
    const Plan plan(step, actor);
    if (!plan.message && plan.target == world().rank)
      fill(written_.data() + place(actor, plan.sub) + plan.at, plan.bytes,
           stamp_of(step, actor, 9));
  }

  void audit(const Step& last) override {
    if (std::memcmp(second.segment, written_.data(), written_.size()) == 0) return;
    size_t i = 0;
    while (second.segment[i] == written_[i]) ++i;
    fail(last, "audit: byte %zu of the second client's segment: %s; expected %s", i,
         describe(second.segment, written_.size(), i).c_str(),
         describe(written_.data(), written_.size(), i).c_str());
  }

 private:
  std::vector<std::byte> written_;
};

}  // namespace

std::unique_ptr<FamilyPart> make_clients() {
  return std::make_unique<Clients>();
}

}  // namespace storm
