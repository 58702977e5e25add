// Vector, indexed and strided transfers in every mode; puts with a peer-completion handler, which
// checks at the target that the data is there. Teams may end while they are under way.
#include <gasnet_vis.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>

#include "buffer.h"
#include "family.h"
#include "teams.h"
#include "traveller.h"
#include "vis_shape.h"
#include "world.h"

namespace storm {
namespace {

constexpr gex_AM_Index_t kNotice = 240, kAsk = 241, kAnswer = 242;
constexpr unsigned kRoom = static_cast<unsigned>(Room::vis);

// The payload of the peer-completion handler; stamped bytes follow.
struct Notice {
  uint32_t step, actor;
  uint64_t bytes;  // of the whole payload
};

struct Plan {
  Form form = Form::vector;
  bool put = false, notice = false;
  gex_Rank_t target = 0;
  unsigned sub = 0;
  size_t notice_bytes = 0;
  Lay far;
  Stamp stamp;

  Plan(const Step& step, Actor actor) {
    Random own = step.of(actor);
    form = own.one_of({Form::vector, Form::indexed, Form::strided});
    target = static_cast<gex_Rank_t>(own.below(world().size));
    put = own.chance(65);
    notice = put && own.chance(40) && world().options.has(Family::notice);
    notice_bytes = own.within(sizeof(Notice), GEX_VIS_MAX_PEERCOMPLETION);
    sub = step.index % kSubs;
    far = random_end(form, own, kSub);
    stamp = stamp_of(step, actor, 1);
  }
  size_t offset(Actor actor) const { return World::place(Room::vis, actor, sub); }
};

// At the target: who has been announced.
class Board {
 public:
  void note(uint32_t step, uint32_t actor) {
    std::lock_guard lock(mutex_);
    seen_.insert({step, actor});
  }
  bool has(uint32_t step, uint32_t actor) {
    std::lock_guard lock(mutex_);
    return seen_.count({step, actor}) != 0;
  }

 private:
  std::mutex mutex_;
  std::set<std::pair<uint32_t, uint32_t>> seen_;
};
Board board;

class VisFlight : public Flight {
 public:
  VisFlight(const Step& step, Actor actor, std::vector<std::byte>& known)
      : Flight(step), actor_(actor), plan_(step, actor), whim_(step.whim(actor)) {
    near_ = matching_end(plan_.form, plan_.far, whim_);
    here_ = Buffer(near_.extent, 1, whim_);
    there_ = world().at(plan_.target, plan_.offset(actor));
    const Way way = way_to(plan_.target, actor, whim_);
    if (plan_.put) {
      scatter(known.data(), plan_.far);
      scatter(here_.data(), near_);
      if (plan_.notice) arm();
    } else {
      gather(known.data(), plan_.far, want_);
    }
    begin(way);
  }
  const char* name() const override {
    return plan_.put ? plan_.notice ? "waits for a VIS put and its notice" : "waits for a VIS put"
                     : "waits for a VIS get";
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
    if (plan_.notice) return false;
    check();
    return true;
  }
  void wait() override {
    if (category_ != 0) gex_NBI_Wait(category_, 0);
    gex_Event_Wait(event_);
    if (plan_.notice) await_notice();
    check();
  }
  void answer(bool seen) { answer_.store(seen ? 1 : 2, std::memory_order_release); }

 private:
  void scatter(std::byte* memory, const Lay& end) const {
    size_t stream = 0;
    for (const Range& range : end.ranges) {
      fill_from(memory + range.at, stream, range.bytes, plan_.stamp);
      stream += range.bytes;
    }
  }
  static void gather(const std::byte* memory, const Lay& end, std::vector<std::byte>& out) {
    for (const Range& range : end.ranges)
      out.insert(out.end(), memory + range.at, memory + range.at + range.bytes);
  }
  // The payload may change as soon as the put is begun.
  void arm() {
    notice_.resize(plan_.notice_bytes);
    const Notice notice{step_.index, actor_.number(), plan_.notice_bytes};
    std::memcpy(notice_.data(), &notice, sizeof notice);
    fill(notice_.data() + sizeof notice, notice_.size() - sizeof notice,
         stamp_of(step_, actor_, 3));
    gex_VIS_SetPeerCompletionHandler(kNotice, notice_.data(), notice_.size(), 0);
  }

  void begin(Way way) {
    switch (plan_.form) {
      case Form::vector:
        begin_vector(way);
        break;
      case Form::indexed:
        begin_indexed(way);
        break;
      default:
        begin_strided(way);
        break;
    }
    if (!notice_.empty()) std::fill(notice_.begin(), notice_.end(), std::byte{kTaken});
    if (!leaf_ || event_ == GEX_EVENT_INVALID) return;
    gex_Event_Wait(gex_Event_QueryLeaf(event_, GEX_EC_LC));
    here_.spoil();
  }
  // Begins by one of three calls of a form.
  template <class Blocking, class Implicit, class Explicit>
  void one_of(Blocking blocking, Implicit implicit, Explicit explicit_one) {
    switch (whim_.below(4)) {
      case 0:
        blocking();
        break;
      case 1:
        implicit();
        category_ = plan_.put ? GEX_EC_PUT : GEX_EC_GET;
        break;
      default:
        leaf_ = plan_.put && whim_.chance(40);
        event_ = explicit_one(leaf_ ? GEX_FLAG_ENABLE_LEAF_LC : 0);
        break;
    }
  }
  using Vectors = std::vector<gex_Memvec_t>;
  using Addresses = std::vector<void*>;
  static Vectors vectors(std::byte* base, const Lay& end) {
    Vectors list;
    for (const Range& r : end.ranges) list.push_back({base + r.at, r.bytes});
    return list;
  }
  static Addresses addresses(std::byte* base, const Lay& end) {
    Addresses list;
    for (const Range& r : end.ranges) list.push_back(base + r.at);
    return list;
  }
  // Lists are the library's until the transfer is complete; strides and counts for the call only.
  void begin_vector(Way w) {
    const Vectors& far = far_list_ = vectors(there_, plan_.far);
    const Vectors& near = near_list_ = vectors(here_.data(), near_);
    const size_t nf = far.size(), nn = near.size();
    if (plan_.put) {
      one_of([&] { gex_VIS_VectorPutBlocking(w.tm, w.rank, nf, far.data(), nn, near.data(), 0); },
             [&] { gex_VIS_VectorPutNBI(w.tm, w.rank, nf, far.data(), nn, near.data(), 0); },
             [&](gex_Flags_t f) {
               return gex_VIS_VectorPutNB(w.tm, w.rank, nf, far.data(), nn, near.data(), f);
             });
    } else {
      one_of([&] { gex_VIS_VectorGetBlocking(w.tm, nn, near.data(), w.rank, nf, far.data(), 0); },
             [&] { gex_VIS_VectorGetNBI(w.tm, nn, near.data(), w.rank, nf, far.data(), 0); },
             [&](gex_Flags_t f) {
               return gex_VIS_VectorGetNB(w.tm, nn, near.data(), w.rank, nf, far.data(), f);
             });
    }
  }
  void begin_indexed(Way w) {
    const Addresses& far = far_places_ = addresses(there_, plan_.far);
    const Addresses& near = near_places_ = addresses(here_.data(), near_);
    const size_t nf = far.size(), nn = near.size();
    const size_t fl = plan_.far.ranges[0].bytes, nl = near_.ranges[0].bytes;
    if (plan_.put) {
      one_of(
          [&] {
            gex_VIS_IndexedPutBlocking(w.tm, w.rank, nf, far.data(), fl, nn, near.data(), nl, 0);
          },
          [&] { gex_VIS_IndexedPutNBI(w.tm, w.rank, nf, far.data(), fl, nn, near.data(), nl, 0); },
          [&](gex_Flags_t f) {
            return gex_VIS_IndexedPutNB(w.tm, w.rank, nf, far.data(), fl, nn, near.data(), nl, f);
          });
    } else {
      one_of(
          [&] {
            gex_VIS_IndexedGetBlocking(w.tm, nn, near.data(), nl, w.rank, nf, far.data(), fl, 0);
          },
          [&] { gex_VIS_IndexedGetNBI(w.tm, nn, near.data(), nl, w.rank, nf, far.data(), fl, 0); },
          [&](gex_Flags_t f) {
            return gex_VIS_IndexedGetNB(w.tm, nn, near.data(), nl, w.rank, nf, far.data(), fl, f);
          });
    }
  }
  void begin_strided(Way w) {
    const Section far = plan_.far.section, near = near_.section;
    const size_t levels = far.counts.size(), e = far.element;
    const ptrdiff_t *fs = far.strides.data(), *ns = near.strides.data();
    const size_t* const c = far.counts.data();
    std::byte* const h = here_.data();
    if (plan_.put) {
      one_of([&] { gex_VIS_StridedPutBlocking(w.tm, w.rank, there_, fs, h, ns, e, c, levels, 0); },
             [&] { gex_VIS_StridedPutNBI(w.tm, w.rank, there_, fs, h, ns, e, c, levels, 0); },
             [&](gex_Flags_t f) {
               return gex_VIS_StridedPutNB(w.tm, w.rank, there_, fs, h, ns, e, c, levels, f);
             });
    } else {
      one_of([&] { gex_VIS_StridedGetBlocking(w.tm, h, ns, w.rank, there_, fs, e, c, levels, 0); },
             [&] { gex_VIS_StridedGetNBI(w.tm, h, ns, w.rank, there_, fs, e, c, levels, 0); },
             [&](gex_Flags_t f) {
               return gex_VIS_StridedGetNB(w.tm, h, ns, w.rank, there_, fs, e, c, levels, f);
             });
    }
  }

  // The handler is a reply, which answers nobody: the initiator asks until it has run.
  void await_notice() {
    const Address self = send_off(this);
    do {
      answer_.store(0, std::memory_order_relaxed);
      gex_AM_RequestShort4(world().tm, plan_.target, kAsk, 0,
                           static_cast<gex_AM_Arg_t>(step_.index), actor_.number(), self.low,
                           self.high);
      GASNET_BLOCKUNTIL(answer_.load(std::memory_order_acquire) != 0);
    } while (answer_.load(std::memory_order_relaxed) == 2);
  }
  void check() {
    here_.check_borders(step_, "near end of a VIS transfer");
    if (plan_.put) return;
    std::vector<std::byte> have;
    gather(here_.data(), near_, have);
    if (have == want_) return;
    size_t i = 0;
    while (have[i] == want_[i]) ++i;
    fail(step_, "VIS get, form %u, of %zu bytes: byte %zu is %s, expected %s",
         static_cast<unsigned>(plan_.form), have.size(), i,
         describe(have.data(), have.size(), i).c_str(),
         describe(want_.data(), want_.size(), i).c_str());
  }

  Actor actor_;
  Plan plan_;
  Random whim_;
  Lay near_;
  Vectors far_list_, near_list_;
  Addresses far_places_, near_places_;
  Buffer here_;
  std::byte* there_ = nullptr;
  std::vector<std::byte> want_, notice_;
  gex_Event_t event_ = GEX_EVENT_INVALID;
  gex_EC_t category_ = 0;
  bool leaf_ = false;
  std::atomic<int> answer_{0};
};

void on_notice(gex_Token_t, void* payload, size_t bytes) {
  Notice notice{};
  std::memcpy(&notice, payload, std::min(bytes, sizeof notice));
  if (bytes != notice.bytes || notice.step >= world().options.steps ||
      notice.actor >= world().size * kThreads)
    fail(Step{0, Family::vis, 0}, "a notice of %zu bytes that nobody sent: %s", bytes,
         describe(payload, bytes, 0).c_str());
  const Step step = script().step(notice.step);
  const Actor actor{notice.actor / kThreads, notice.actor % kThreads};
  const Plan plan(step, actor);
  if (bytes != plan.notice_bytes)
    fail(step, "a notice of %zu bytes, expected %zu", bytes, plan.notice_bytes);
  if (reinterpret_cast<uintptr_t>(payload) % alignof(std::max_align_t) != 0)
    fail(step, "a notice of %zu bytes lies at %p, aligned for no vector", bytes, payload);
  expect(step, "a notice", static_cast<const std::byte*>(payload) + sizeof notice, 0,
         bytes - sizeof notice, stamp_of(step, actor, 3));
  size_t stream = 0;
  for (const Range& range : plan.far.ranges) {
    expect(step, "what a notice announces", world().segment + plan.offset(actor) + range.at, stream,
           range.bytes, plan.stamp);
    stream += range.bytes;
  }
  board.note(notice.step, notice.actor);
}

void on_ask(gex_Token_t token, gex_AM_Arg_t step, gex_AM_Arg_t actor, gex_AM_Arg_t low,
            gex_AM_Arg_t high) {
  gex_AM_ReplyShort3(token, kAnswer, 0, low, high,
                     board.has(static_cast<uint32_t>(step), static_cast<uint32_t>(actor)));
}
void on_answer(gex_Token_t, gex_AM_Arg_t low, gex_AM_Arg_t high, gex_AM_Arg_t seen) {
  back<VisFlight>(low, high).answer(seen != 0);
}

class Vis : public FamilyPart {
 public:
  void begin() override {
    gex_AM_Entry_t table[] = {{kNotice, reinterpret_cast<gex_AM_Fn_t>(on_notice),
                               GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, nullptr, "notice"},
                              {kAsk, reinterpret_cast<gex_AM_Fn_t>(on_ask),
                               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 4, nullptr, "ask"},
                              {kAnswer, reinterpret_cast<gex_AM_Fn_t>(on_answer),
                               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 3, nullptr, "answer"}};
    gex_EP_RegisterHandlers(world().ep, table, std::size(table));
    for (auto& known : known_)
      known.assign(size_t{world().size} * kSubs, std::vector<std::byte>(kSub));
  }
  bool by_threads() const override { return true; }

  void run(const Step& step, Flights& flights) override {
    const Actor actor = flights.actor();
    const Plan plan(step, actor);
    flights.settle_place(kRoom, plan.sub);
    auto& known = known_[actor.thread][plan.target * kSubs + plan.sub];
    flights.add(std::make_unique<VisFlight>(step, actor, known));
  }

  void replay(const Step& step, Actor actor, Shadow& shadow) override {
    const Plan plan(step, actor);
    if (!plan.put || plan.target != world().rank) return;
    size_t stream = 0;
    for (const Range& range : plan.far.ranges) {
      fill_from(shadow.at(plan.offset(actor) + range.at), stream, range.bytes, plan.stamp);
      stream += range.bytes;
    }
  }

 private:
  std::vector<std::vector<std::byte>> known_[kThreads];
};

}  // namespace

std::unique_ptr<FamilyPart> make_vis() {
  return std::make_unique<Vis>();
}

}  // namespace storm
