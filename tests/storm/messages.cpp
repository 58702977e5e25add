// Active messages of all categories, with every leaf option, fixed and negotiated payloads, some of
// them cancelled; each is answered in a category of its own. A handler knows from the step and the
// actor, which stand in the arguments, what the payload has to be.
#include <gasnetex.h>

#include <atomic>
#include <cstring>

#include "am_forms.h"
#include "buffer.h"
#include "family.h"
#include "teams.h"
#include "traveller.h"
#include "world.h"

namespace storm {
namespace {

enum Category : unsigned { kShort, kMedium, kLong };
// Handlers of one direction and category: one for each number of arguments.
constexpr unsigned kCounts[] = {5, 6, 8, 16};
constexpr gex_AM_Index_t index_of(bool reply, Category category, unsigned count) {
  const unsigned form = count == 5 ? 0 : count == 6 ? 1 : count == 8 ? 2 : 3;
  return static_cast<gex_AM_Index_t>(208 + (reply ? 12 : 0) + category * 4 + form);
}

struct Plan {
  gex_Rank_t target = 0;
  Category category = kShort, answer = kShort;
  size_t bytes = 0, answer_bytes = 0;
  unsigned sub = 0;

  Plan(const Step& step, Actor actor) {
    Random own = step.of(actor);
    target = static_cast<gex_Rank_t>(own.below(world().size));
    category = static_cast<Category>(own.below(3));
    answer = static_cast<Category>(own.below(3));
    sub = step.index % kSubs;
    const auto limit = [](Category c, size_t medium, size_t longs) {
      return c == kShort ? 0 : std::min(kSub, c == kMedium ? medium : longs);
    };
    const size_t most = limit(category, gex_AM_LUBRequestMedium(), gex_AM_LUBRequestLong());
    const size_t answer_most = limit(answer, gex_AM_LUBReplyMedium(), gex_AM_LUBReplyLong());
    bytes = own.chance(10) ? most : own.size(most);
    answer_bytes = own.chance(10) ? answer_most : own.size(answer_most);
  }
};

gex_AM_Arg_t extra(uint32_t index, unsigned i) {
  return static_cast<gex_AM_Arg_t>(mix(index, i));
}

// step, actor, flight (two words), 0; then words that follow from the step.
Args make_args(Random& random, uint32_t step, uint8_t actor, Address flight) {
  Args x;
  x.count = random_arg_count(random);
  x.a[0] = static_cast<gex_AM_Arg_t>(step);
  x.a[1] = actor;
  x.a[2] = flight.low;
  x.a[3] = flight.high;
  for (unsigned i = 4; i < x.count; ++i) x.a[i] = extra(step, i);
  return x;
}

class MessageFlight : public Flight {
 public:
  MessageFlight(const Step& step, Actor actor)
      : Flight(step), actor_(actor), plan_(step, actor), whim_(step.whim(actor)) {
    const Way way = way_to(plan_.target, actor, whim_);
    const Args x = make_args(whim_, step.index, actor.number(), send_off(this));
    const gex_AM_Index_t handler = index_of(false, plan_.category, x.count);
    void* const there = world().at(plan_.target, World::place(Room::request, actor, plan_.sub));
    if (plan_.category == kShort) {
      const gex_Flags_t flags = whim_.one_of<gex_Flags_t>({0, GEX_FLAG_IMMEDIATE});
      if (request_short(way.tm, way.rank, handler, flags, x))
        request_short(way.tm, way.rank, handler, 0, x);
    } else if (whim_.chance(35)) {
      send_negotiated(way, handler, there, x);
    } else {
      send_fixed(way, handler, there, x);
    }
  }
  const char* name() const override { return "waits for a reply"; }
  bool uses(unsigned room, unsigned sub) const override {
    return room == static_cast<unsigned>(Room::request) && sub == plan_.sub;
  }
  bool test() override {
    gasnet_AMPoll();
    if (!answered_.load(std::memory_order_acquire)) return false;
    wait();
    return true;
  }
  void wait() override {
    if (implicit_) gex_NBI_Wait(GEX_EC_AM, 0);
    gex_Event_Wait(local_);
    here_.spoil();
    GASNET_BLOCKUNTIL(answered_.load(std::memory_order_acquire));
  }
  void answered() { answered_.store(true, std::memory_order_release); }

 private:
  void make_payload() {
    here_ = Buffer(plan_.bytes, 1, whim_);
    fill(here_.data(), plan_.bytes, stamp_of(step_, actor_, 1));
  }
  void send_fixed(Way way, gex_AM_Index_t handler, void* there, const Args& x) {
    make_payload();
    const size_t n = plan_.bytes;
    gex_Event_t* const leaf = whim_.one_of({GEX_EVENT_NOW, GEX_EVENT_GROUP, &local_});
    implicit_ = leaf == GEX_EVENT_GROUP;
    const auto send = [&](gex_Flags_t flags) {
      return plan_.category == kMedium
                 ? request_medium(way.tm, way.rank, handler, here_.data(), n, leaf, flags, x)
                 : request_long(way.tm, way.rank, handler, here_.data(), n, there, leaf, flags, x);
    };
    const gex_Flags_t flags =
        whim_.one_of<gex_Flags_t>({0, 0, GEX_FLAG_IMMEDIATE, GEX_FLAG_LC_COPY_YES});
    if (send(flags)) send(0);
    if (leaf == GEX_EVENT_NOW) here_.spoil();
  }

  // With a buffer of the library's or the client's; prepared in vain first, now and then.
  void send_negotiated(Way way, gex_AM_Index_t handler, void* there, const Args& x) {
    const bool own_buffer = whim_.chance(40);
    const gex_Flags_t least =
        own_buffer ? GEX_FLAG_AM_PREPARE_LEAST_CLIENT : GEX_FLAG_AM_PREPARE_LEAST_ALLOC;
    gex_Event_t* const leaf = !own_buffer ? nullptr : whim_.one_of({GEX_EVENT_NOW, &local_});
    const bool medium = plan_.category == kMedium;
    const size_t most = medium ? gex_AM_MaxRequestMedium(way.tm, way.rank, leaf, least, x.count)
                               : gex_AM_MaxRequestLong(way.tm, way.rank, leaf, least, x.count);
    if (plan_.bytes > most) return send_fixed(way, handler, there, x);
    const size_t n = plan_.bytes;
    if (own_buffer) make_payload();
    const auto prepare = [&](gex_Flags_t flags) {
      void* const early = whim_.chance(50) ? there : nullptr;
      const void* const buffer = own_buffer ? here_.data() : nullptr;
      return medium
                 ? gex_AM_PrepareRequestMedium(way.tm, way.rank, buffer, n, n, leaf, flags, x.count)
                 : gex_AM_PrepareRequestLong(way.tm, way.rank, buffer, n, n, early, leaf, flags,
                                             x.count);
    };
    if (whim_.chance(25)) {
      const gex_AM_SrcDesc_t vain = prepare(0);
      if (medium)
        gex_AM_CancelRequestMedium(vain, 0);
      else
        gex_AM_CancelRequestLong(vain, 0);
    }
    gex_AM_SrcDesc_t sd = prepare(whim_.one_of<gex_Flags_t>({0, GEX_FLAG_IMMEDIATE}));
    if (sd == GEX_AM_SRCDESC_NO_OP) sd = prepare(0);
    if (gex_AM_SrcDescSize(sd) < n)
      fail(step_, "a descriptor of %zu bytes, at least %zu were asked for", gex_AM_SrcDescSize(sd),
           n);
    if (!own_buffer) fill(gex_AM_SrcDescAddr(sd), n, stamp_of(step_, actor_, 1));
    if (medium)
      commit_request_medium(sd, handler, n, x);
    else
      commit_request_long(sd, handler, n, there, x);
    if (leaf == GEX_EVENT_NOW) here_.spoil();
  }

  Actor actor_;
  Plan plan_;
  Random whim_;
  Buffer here_;
  gex_Event_t local_ = GEX_EVENT_INVALID;
  bool implicit_ = false;
  std::atomic<bool> answered_{false};
};

// The checks of every handler: arguments, alignment and bytes of the payload.
struct Arrival {
  Step step;
  Actor actor;
  Plan plan;
  Arrival(const Args& x)
      : step(script().step(static_cast<uint32_t>(x.a[0]))),
        actor{static_cast<uint32_t>(x.a[1]) / kThreads, static_cast<uint32_t>(x.a[1]) % kThreads},
        plan(step, actor) {
    for (unsigned i = 4; i < x.count; ++i)
      if (x.a[i] != extra(step.index, i))
        fail(step, "argument %u of %u is %d, expected %d", i, x.count, x.a[i],
             extra(step.index, i));
  }
  void payload(const char* what, Category category, const void* memory, size_t have, size_t want,
               unsigned purpose, const void* place) const {
    if (category == kShort) return;
    if (have != want) fail(step, "%s of %zu bytes, expected %zu", what, have, want);
    if (have == 0) return;
    if (category == kLong && memory != place) fail(step, "%s is not in its place", what);
    if (category == kMedium && reinterpret_cast<uintptr_t>(memory) % alignof(std::max_align_t) != 0)
      fail(step, "%s of %zu bytes lies at %p, aligned for no vector", what, have, memory);
    expect(step, what, memory, 0, have, stamp_of(step, actor, purpose));
  }
};

void reply_negotiated(gex_Token_t token, const Arrival& in, void* there, const Args& x,
                      bool cancel) {
  const size_t n = in.plan.answer_bytes;
  const bool medium = in.plan.answer == kMedium;
  const auto prepare = [&] {
    return medium ? gex_AM_PrepareReplyMedium(token, nullptr, n, n, nullptr, 0, x.count)
                  : gex_AM_PrepareReplyLong(token, nullptr, n, n, there, nullptr, 0, x.count);
  };
  if (cancel) {
    const gex_AM_SrcDesc_t vain = prepare();
    if (medium)
      gex_AM_CancelReplyMedium(vain, 0);
    else
      gex_AM_CancelReplyLong(vain, 0);
  }
  const gex_AM_SrcDesc_t sd = prepare();
  fill(gex_AM_SrcDescAddr(sd), n, stamp_of(in.step, in.actor, 2));
  const gex_AM_Index_t handler = index_of(true, in.plan.answer, x.count);
  if (medium)
    commit_reply_medium(sd, handler, n, x);
  else
    commit_reply_long(sd, handler, n, there, x);
}

void on_request(gex_Token_t token, Category category, void* payload, size_t bytes, const Args& x) {
  const Arrival in(x);
  if (in.plan.category != category) fail(in.step, "a request of another category");
  in.payload("a request's payload", category, payload, bytes, in.plan.bytes, 1,
             world().segment + World::place(Room::request, in.actor, in.plan.sub));
  gex_Token_Info_t info{};
  gex_Token_Info(token, &info, GEX_TI_ALL);
  if (info.gex_srcrank != in.actor.rank || !info.gex_is_req)
    fail(in.step, "a token says that a request of rank %u is rank %u's", in.actor.rank,
         info.gex_srcrank);
  Random whim(mix(in.step.key, uint64_t{40000} + in.actor.number()));
  const Args out = make_args(whim, in.step.index, in.actor.number(), {x.a[2], x.a[3]});
  const gex_AM_Index_t handler = index_of(true, in.plan.answer, out.count);
  void* const there = world().at(in.actor.rank, World::place(Room::reply, in.actor, in.plan.sub));
  const size_t n = in.plan.answer_bytes;
  if (in.plan.answer == kShort) {
    reply_short(token, handler, 0, out);
    return;
  }
  const gex_Flags_t least = GEX_FLAG_AM_PREPARE_LEAST_ALLOC;
  const size_t most = in.plan.answer == kMedium
                          ? gex_Token_MaxReplyMedium(token, nullptr, least, out.count)
                          : gex_Token_MaxReplyLong(token, nullptr, least, out.count);
  if (n <= most && whim.chance(40)) return reply_negotiated(token, in, there, out, whim.chance(25));
  // On the stack, which is somebody else's at once.
  std::byte source[kSub];
  fill(source, n, stamp_of(in.step, in.actor, 2));
  if (in.plan.answer == kMedium)
    reply_medium(token, handler, source, n, GEX_EVENT_NOW, 0, out);
  else
    reply_long(token, handler, source, n, there, GEX_EVENT_NOW, 0, out);
  std::memset(source, kTaken, n);
}

void on_reply(gex_Token_t, Category category, void* payload, size_t bytes, const Args& x) {
  catch_up();
  const Arrival in(x);
  if (in.plan.answer != category) fail(in.step, "a reply of another category");
  in.payload("a reply's payload", category, payload, bytes, in.plan.answer_bytes, 2,
             world().segment + World::place(Room::reply, in.actor, in.plan.sub));
  back<MessageFlight>(x.a[2], x.a[3]).answered();
}

template <bool reply, class... A>
void short_handler(gex_Token_t token, A... a) {
  const Args x{sizeof...(a), {a...}};
  (reply ? on_reply : on_request)(token, kShort, nullptr, 0, x);
}
template <bool reply, Category category, class... A>
void payload_handler(gex_Token_t token, void* payload, size_t bytes, A... a) {
  const Args x{sizeof...(a), {a...}};
  (reply ? on_reply : on_request)(token, category, payload, bytes, x);
}

template <bool reply, size_t... I>
void add_forms(std::vector<gex_AM_Entry_t>& table, std::index_sequence<I...>) {
  constexpr unsigned count = sizeof...(I);
  constexpr gex_Flags_t way = reply ? GEX_FLAG_AM_REPLY : GEX_FLAG_AM_REQUEST;
  const auto add = [&](Category category, gex_AM_Fn_t function, gex_Flags_t flags) {
    table.push_back(
        {index_of(reply, category, count), function, flags | way, count, nullptr, "storm"});
  };
  add(kShort, reinterpret_cast<gex_AM_Fn_t>(&short_handler<reply, decltype(gex_AM_Arg_t(I))...>),
      GEX_FLAG_AM_SHORT);
  add(kMedium,
      reinterpret_cast<gex_AM_Fn_t>(&payload_handler<reply, kMedium, decltype(gex_AM_Arg_t(I))...>),
      GEX_FLAG_AM_MEDIUM);
  add(kLong,
      reinterpret_cast<gex_AM_Fn_t>(&payload_handler<reply, kLong, decltype(gex_AM_Arg_t(I))...>),
      GEX_FLAG_AM_LONG);
}

template <bool reply>
void add_all(std::vector<gex_AM_Entry_t>& table) {
  add_forms<reply>(table, std::make_index_sequence<kCounts[0]>());
  add_forms<reply>(table, std::make_index_sequence<kCounts[1]>());
  add_forms<reply>(table, std::make_index_sequence<kCounts[2]>());
  add_forms<reply>(table, std::make_index_sequence<kCounts[3]>());
}

class Messages : public FamilyPart {
 public:
  void begin() override {
    std::vector<gex_AM_Entry_t> table;
    add_all<false>(table);
    add_all<true>(table);
    gex_EP_RegisterHandlers(world().ep, table.data(), table.size());
  }
  bool by_threads() const override { return true; }

  void run(const Step& step, Flights& flights) override {
    flights.settle_place(static_cast<unsigned>(Room::request), step.index % kSubs);
    flights.add(std::make_unique<MessageFlight>(step, flights.actor()));
  }

  void replay(const Step& step, Actor actor, Shadow& shadow) override {
    const Plan plan(step, actor);
    if (plan.category == kLong && plan.target == world().rank)
      fill(shadow.at(World::place(Room::request, actor, plan.sub)), plan.bytes,
           stamp_of(step, actor, 1));
    if (plan.answer == kLong && actor.rank == world().rank)
      fill(shadow.at(World::place(Room::reply, actor, plan.sub)), plan.answer_bytes,
           stamp_of(step, actor, 2));
  }
};

}  // namespace

std::unique_ptr<FamilyPart> make_messages() {
  return std::make_unique<Messages>();
}

}  // namespace storm
