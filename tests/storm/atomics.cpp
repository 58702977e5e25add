// Remote atomics of every type and operation, fetching and not, on words of one actor and of all;
// by the library and by the client's own instructions; and domains made and destroyed under way.
#include <gasnet_coll.h>

#include <array>
#include <cstring>
#include <tuple>

#include "atomic_words.h"
#include "buffer.h"
#include "family.h"
#include "local_atomics.h"
#include "teams.h"

namespace storm {
namespace {

// Settled by this number, beside those of rooms.
constexpr unsigned kRoom = 100;

// Negative zeros count as zeros: who is smaller is nobody's to say.
template <class T>
uint64_t weight(T value) {
  return mix(atomics::bits(static_cast<T>(value + T(0))));
}

// A thread's part of the knowledge: the values of its own words, what its completed operations
// have done to everybody's, and the links that it has seen of chains.
template <class T>
struct Knowledge {
  std::vector<T> own;           // by target and index
  std::vector<T> done;          // by target and use
  std::vector<T> seen;          // by target: a value that the chain had
  std::vector<uint64_t> links;  // by target
  void start_epoch() {
    done.clear();
    for (gex_Rank_t r = 0; r < world().size; ++r)
      for (unsigned use = 0; use < kShared; ++use)
        done.push_back(first_value<T>(static_cast<Use>(use + static_cast<unsigned>(Use::sum))));
    links.assign(world().size, 0);
    seen.assign(world().size, T(0));
    own.resize(size_t{world().size} * kOwnWords);
  }
  T& done_to(const Operation<T>& o) {
    return done[o.target * kShared + static_cast<unsigned>(o.use) -
                static_cast<unsigned>(Use::sum)];
  }
};

template <class T>
struct Call {
  gex_AD_t ad;
  T* result;
  gex_Rank_t rank;
  void* word;
  T a, b;
  gex_Flags_t flags;
};
// With an opcode that the compiler knows, which may become an instruction here.
template <class T, gex_OP_t Op>
gex_Event_t constant_nb(const Call<T>& c) {
  return atomics::Traits<T>::nb(c.ad, c.result, c.rank, c.word, Op, c.a, c.b, c.flags);
}
template <class T, gex_OP_t Op>
int constant_nbi(const Call<T>& c) {
  return atomics::Traits<T>::nbi(c.ad, c.result, c.rank, c.word, Op, c.a, c.b, c.flags);
}
template <class T, size_t... Bits>
gex_Event_t nb_by_table(gex_OP_t op, const Call<T>& c, std::index_sequence<Bits...>) {
  static constexpr gex_Event_t (*kTable[])(const Call<T>&) = {
      constant_nb<T, gex_OP_t{1} << Bits>...};
  return kTable[__builtin_ctz(op)](c);
}
template <class T, size_t... Bits>
int nbi_by_table(gex_OP_t op, const Call<T>& c, std::index_sequence<Bits...>) {
  static constexpr int (*kTable[])(const Call<T>&) = {constant_nbi<T, gex_OP_t{1} << Bits>...};
  return kTable[__builtin_ctz(op)](c);
}
template <class T>
gex_Event_t nb(gex_OP_t op, const Call<T>& c, bool constant) {
  if (constant) return nb_by_table(op, c, std::make_index_sequence<25>());
  return atomics::Traits<T>::nb(c.ad, c.result, c.rank, c.word, op, c.a, c.b, c.flags);
}
template <class T>
int nbi(gex_OP_t op, const Call<T>& c, bool constant) {
  if (constant) return nbi_by_table(op, c, std::make_index_sequence<25>());
  return atomics::Traits<T>::nbi(c.ad, c.result, c.rank, c.word, op, c.a, c.b, c.flags);
}

template <class T>
class AtomicFlight : public Flight {
 public:
  AtomicFlight(const Step& step, Actor actor, unsigned i, gex_AD_t ad, Knowledge<T>& knows)
      : Flight(step),
        actor_(actor),
        o_(operation_of<T>(step, actor, i)),
        knows_(knows),
        result_(sizeof(T), sizeof(T),
                i == 0 ? first_whim(step, actor) : first_whim(step, actor, i)) {
    foresee();
    send(ad);
  }
  const char* name() const override { return "waits for an atomic operation"; }
  bool uses(unsigned room, unsigned sub) const override {
    return room == kRoom && o_.use == Use::own && sub == place(o_);
  }
  static unsigned place(const Operation<T>& o) {
    return (o.target * kOwnWords + o.index) * kTypes + kType<T>;
  }
  bool test() override {
    gasnet_AMPoll();
    if (category_ != 0 ? gex_NBI_Test(category_, 0) != GASNET_OK
                       : event_ != GEX_EVENT_INVALID && gex_Event_Test(event_) != GASNET_OK)
      return false;
    check();
    return true;
  }
  void wait() override {
    if (category_ != 0) gex_NBI_Wait(category_, 0);
    gex_Event_Wait(event_);
    check();
  }

 private:
  Random& first_whim(const Step& step, Actor actor, unsigned i = 0) {
    whim_ = Random(mix(step.whim(actor).next(), i));
    return whim_;
  }
  bool is_swap() const { return o_.op == GEX_OP_CAS || o_.op == GEX_OP_FCAS; }

  // Before it is sent: others of this thread may follow at once.
  void foresee() {
    if (o_.use == Use::own) {
      T& known = knows_.own[o_.target * kOwnWords + o_.index];
      if (is_swap() && o_.hit) o_.a = known;
      before_ = known;
      known = atomics::model(o_.op, known, o_.a, o_.b);
    } else if (o_.use == Use::chain) {
      if (is_swap() && o_.hit) o_.a = knows_.seen[o_.target];
    } else {
      before_ = knows_.done_to(o_);
    }
  }

  void send(gex_AD_t ad) {
    const size_t offset = o_.offset(actor_);
    const bool constant = whim_.chance(60);
    Call<T> c{ad,
              reinterpret_cast<T*>(result_.data()),
              o_.target,
              world().at(o_.target, offset),
              o_.a,
              o_.b,
              whim_.one_of<gex_Flags_t>(
                  {0, 0, GEX_FLAG_AD_ACQ, GEX_FLAG_AD_REL, GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL})};
    if (whim_.chance(15)) c.flags |= GEX_FLAG_RANK_IS_JOBRANK;
    if (o_.target == world().rank && whim_.chance(30)) c.flags |= GEX_FLAG_AD_MY_RANK;
    if (whim_.chance(20)) {
      c.flags |= GEX_FLAG_PEER_SEG_OFFSET;
      c.word = reinterpret_cast<void*>(offset);
    }
    if (result_.in_segment() && whim_.chance(30)) {
      c.flags |= GEX_FLAG_SELF_SEG_OFFSET;
      c.result = reinterpret_cast<T*>(result_.data() - world().segment);
    }
    Call<T> impatient = c;
    if (whim_.chance(25)) impatient.flags |= GEX_FLAG_IMMEDIATE;
    switch (whim_.below(3)) {
      case 0:
        if (nbi(o_.op, impatient, constant)) nbi(o_.op, c, constant);
        category_ = o_.op == GEX_OP_SET   ? GEX_EC_PUT
                    : o_.op == GEX_OP_GET ? GEX_EC_GET
                                          : GEX_EC_RMW;
        break;
      case 1:
        gex_NBI_BeginAccessRegion(0);
        nbi(o_.op, c, constant);
        event_ = gex_NBI_EndAccessRegion(0);
        break;
      default:
        event_ = nb(o_.op, impatient, constant);
        if (event_ == GEX_EVENT_NO_OP) event_ = nb(o_.op, c, constant);
        break;
    }
  }

  void check() {
    result_.check_borders(step_, "result of an atomic operation");
    if (atomics::fetches(o_.op)) {
      std::memcpy(&old_, result_.data(), sizeof old_);
      check_fetched();
    } else if (std::to_integer<unsigned char>(result_.data()[0]) != kFresh) {
      complain("it fetches nothing and wrote", old_);
    }
    // Operations that commute and are done.
    if (o_.use != Use::own && o_.use != Use::chain)
      knows_.done_to(o_) = atomics::model(o_.op, knows_.done_to(o_), o_.a, o_.b);
  }
  void check_fetched() {
    switch (o_.use) {
      case Use::own:
        if (!(old_ == before_)) complain("of a word of its own it fetched", before_);
        break;
      case Use::chain:
        knows_.links[o_.target] += weight(atomics::model(o_.op, old_, o_.a, o_.b)) - weight(old_);
        knows_.seen[o_.target] = old_;
        break;
      case Use::least:
      case Use::most:
      case Use::all_bits:
      case Use::any_bit:
        // To do once more what is done already changes nothing.
        if (!(atomics::model(o_.op, old_, before_, T(0)) == old_))
          complain("without what this thread had completed it fetched", before_);
        break;
      default:
        break;
    }
  }
  [[noreturn]] void complain(const char* what, T want) {
    fail(step_,
         "operation 0x%x on type %u at rank %u, use %u, operands 0x%lx and 0x%lx: %s 0x%lx, "
         "expected "
         "0x%lx",
         o_.op, kType<T>, o_.target, static_cast<unsigned>(o_.use),
         static_cast<unsigned long>(atomics::bits(o_.a)),
         static_cast<unsigned long>(atomics::bits(o_.b)), what,
         static_cast<unsigned long>(atomics::bits(old_)),
         static_cast<unsigned long>(atomics::bits(want)));
  }

  Random whim_{0};
  Actor actor_;
  Operation<T> o_;
  Knowledge<T>& knows_;
  Buffer result_;
  T before_{}, old_{};
  gex_Event_t event_ = GEX_EVENT_INVALID;
  gex_EC_t category_ = 0;
};

constexpr gex_Flags_t hint(Random& random) {
  return random.one_of<gex_Flags_t>(
      {0, 0, GEX_FLAG_AD_FAVOR_MY_RANK, GEX_FLAG_AD_FAVOR_MY_NBRHD, GEX_FLAG_AD_FAVOR_REMOTE});
}

// All there is of one type.
template <class T>
class Typed {
 public:
  void create(Random common) {
    gex_AD_Create(&ad_, world().tm, atomics::Traits<T>::dt, atomics::all_ops<T>(), hint(common));
  }
  void destroy() { gex_AD_Destroy(ad_); }
  void begin() {
    for (auto& knows : knows_) knows.start_epoch();
    owned_.resize(size_t{world().size} * kThreads * kOwnWords);
    start_words();
  }

  void run(const Step& step, Flights& flights, unsigned i) {
    const Actor actor = flights.actor();
    const auto o = operation_of<T>(step, actor, i);
    // Two operations under way on one word come in any order.
    if (o.use == Use::own) flights.settle_place(kRoom, AtomicFlight<T>::place(o));
    flights.add(std::make_unique<AtomicFlight<T>>(step, actor, i, ad_, knows_[actor.thread]));
  }

  void replay(const Step& step, Actor actor, unsigned i) {
    auto o = operation_of<T>(step, actor, i);
    if (o.target != world().rank || o.use == Use::chain) return;
    T& word = o.use == Use::own
                  ? owned_[actor.number() * kOwnWords + o.index]
                  : shared_[static_cast<unsigned>(o.use) - static_cast<unsigned>(Use::sum)];
    if (o.use == Use::own && (o.op == GEX_OP_CAS || o.op == GEX_OP_FCAS) && o.hit) o.a = word;
    word = atomics::model(o.op, word, o.a, o.b);
  }

  // All that threads of this rank have seen of the chain of each rank.
  void add_links(uint64_t* sums) const {
    for (gex_Rank_t r = 0; r < world().size; ++r)
      for (const auto& knows : knows_) sums[r] += knows.links[r];
  }

  // Barriers stand before and behind it: another phase of these words.
  void audit(const Step& last, uint64_t links, bool by_domain) {
    const T end = read(shared_word<T>(Use::chain), by_domain);
    if (weight(end) - weight(T(0)) != links)
      fail(last, "audit: what was fetched from a word of type %u does not lead to its value, 0x%lx",
           kType<T>, static_cast<unsigned long>(atomics::bits(end)));
    for (unsigned i = 0; i + 1 < kShared; ++i) {
      const auto use = static_cast<Use>(i + static_cast<unsigned>(Use::sum));
      compare(last, shared_word<T>(use), shared_[i], "that all change in use", i, by_domain);
    }
    for (uint32_t r = 0; r < world().size; ++r)
      for (uint32_t t = 0; t < kThreads; ++t)
        for (unsigned i = 0; i < kOwnWords; ++i) {
          const Actor actor{r, t};
          compare(last, own_word<T>(actor, i), owned_[actor.number() * kOwnWords + i],
                  "that one changes, of actor", actor.number(), by_domain);
        }
    for (auto& knows : knows_) knows.start_epoch();
    start_words(by_domain);
  }

 private:
  T read(size_t offset, bool by_domain) const {
    T value{};
    if (by_domain) {
      gex_Event_Wait(atomics::Traits<T>::nb(ad_, &value, world().rank,
                                            static_cast<void*>(world().segment + offset),
                                            GEX_OP_GET, T(0), T(0), gex_Flags_t(0)));
    } else {
      std::memcpy(&value, world().segment + offset, sizeof value);
    }
    return value;
  }
  void compare(const Step& last, size_t offset, T want, const char* what, unsigned which,
               bool by_domain) const {
    const T have = read(offset, by_domain);
    if (have == want) return;
    fail(last, "audit: a word of type %u %s %u is 0x%lx, expected 0x%lx", kType<T>, what, which,
         static_cast<unsigned long>(atomics::bits(have)),
         static_cast<unsigned long>(atomics::bits(want)));
  }
  void start_words(bool by_domain = false) {
    for (unsigned i = 0; i < kShared; ++i) {
      const auto use = static_cast<Use>(i + static_cast<unsigned>(Use::sum));
      shared_[i] = first_value<T>(use);
      std::byte* const word = world().segment + shared_word<T>(use);
      if (by_domain) {
        gex_Event_Wait(atomics::Traits<T>::nb(ad_, static_cast<T*>(nullptr), world().rank,
                                              static_cast<void*>(word), GEX_OP_SET, shared_[i],
                                              T(0), gex_Flags_t(0)));
      } else {
        std::memcpy(word, &shared_[i], sizeof(T));
      }
    }
  }

  gex_AD_t ad_ = GEX_AD_INVALID;
  Knowledge<T> knows_[kThreads];
  std::array<T, kShared> shared_{};
  std::vector<T> owned_;
};

// A domain of a team for a while, and of some operations, on a word that only this rank changes.
template <class T>
void as_guest(const Step& step, const Team& team, Random common) {
  const gex_OP_t all = atomics::all_ops<T>();
  const gex_OP_t ops = GEX_OP_SET | GEX_OP_GET |
                       (common.chance(50) ? all : all & static_cast<gex_OP_t>(common.next()));
  const gex_Flags_t flags = hint(common);
  if (!team.here()) return;
  gex_AD_t ad = GEX_AD_INVALID;
  gex_AD_Create(&ad, team.tm, atomics::Traits<T>::dt, ops, flags);
  Random whim = step.whim({world().rank, 0});
  const auto target = static_cast<gex_Rank_t>(whim.below(team.size()));
  void* const word = world().at(team.members[target], guest_word(world().rank));
  T value{}, got{};
  for (unsigned i = 0; i < 9; ++i) {
    gex_OP_t op = i == 0 ? GEX_OP_SET : GEX_OP_GET;
    while (i != 0 && i != 8 && whim.chance(80) && (op & (GEX_OP_SET | GEX_OP_GET)) != 0) {
      const gex_OP_t wish = gex_OP_t{1} << whim.below(25);
      if ((wish & ops) != 0) op = wish;
    }
    const T a = static_cast<T>(whim.within(1, 9)), b = static_cast<T>(whim.within(1, 9));
    const T swapped = whim.chance(60) && (op & (GEX_OP_CAS | GEX_OP_FCAS)) != 0 ? value : a;
    gex_Event_Wait(nb<T>(op, {ad, &got, target, word, swapped, b, 0}, whim.chance(50)));
    if (atomics::fetches(op) && !(got == value))
      fail(step, "operation 0x%x of a team's domain fetched 0x%lx, expected 0x%lx", op,
           static_cast<unsigned long>(atomics::bits(got)),
           static_cast<unsigned long>(atomics::bits(value)));
    value = atomics::model(op, value, swapped, b);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team.tm, 0));
  gex_AD_Destroy(ad);
}

class Atomics : public FamilyPart {
 public:
  void begin() override {
    Random common(mix(world().options.seed, 31));
    each([&](auto& typed) {
      typed.create(Random(common.next()));
      typed.begin();
    });
  }
  void end() override {
    barrier();
    each([](auto& typed) { typed.destroy(); });
  }
  bool by_threads() const override { return true; }

  void run(const Step& step, Flights& flights) override {
    const Actor actor = flights.actor();
    local_.run(step, actor);
    if (Random common = step.common(); actor.thread == 0 && common.chance(12)) {
      stand_at(step, "makes a team's domain of atomics");
      const Team& team = teams()[common.below(teams().size())];
      with_type(static_cast<unsigned>(common.below(kTypes)),
                [&]<class T>(T) { as_guest<T>(step, team, common); });
    }
    const AtomicPlan plan(step, actor);
    for (unsigned i = 0; i < plan.count; ++i)
      with_type(plan.type, [&]<class T>(T) { of<T>().run(step, flights, i); });
  }

  void replay(const Step& step, Actor actor, Shadow&) override {
    local_.replay(step, actor);
    const AtomicPlan plan(step, actor);
    for (unsigned i = 0; i < plan.count; ++i)
      with_type(plan.type, [&]<class T>(T) { of<T>().replay(step, actor, i); });
  }

  void audit(const Step& last) override {
    local_.audit(last);
    std::vector<uint64_t> own(size_t{kTypes} * world().size), all(own.size());
    unsigned type = 0;
    each([&](auto& typed) { typed.add_links(own.data() + type++ * world().size); });
    gex_Event_Wait(gex_Coll_ReduceToAllNB(world().tm, all.data(), own.data(), GEX_DT_U64, 8,
                                          own.size(), GEX_OP_ADD, nullptr, nullptr, 0));
    const bool by_domain = last.whim({world().rank, 0}).chance(50);
    type = 0;
    each([&](auto& typed) {
      typed.audit(last, all[type++ * world().size + world().rank], by_domain);
    });
    Random common(mix(last.key, 53));
    if (!common.chance(40)) return;
    barrier();
    with_type(static_cast<unsigned>(common.below(kTypes)), [&]<class T>(T) {
      of<T>().destroy();
      of<T>().create(common);
    });
  }

 private:
  template <class T>
  Typed<T>& of() {
    return std::get<Typed<T>>(typed_);
  }
  template <class Body>
  void each(Body body) {
    std::apply([&](auto&... typed) { (body(typed), ...); }, typed_);
  }
  std::tuple<Typed<int32_t>, Typed<uint32_t>, Typed<float>, Typed<int64_t>, Typed<uint64_t>,
             Typed<double>>
      typed_;
  LocalAtomics local_;
};

}  // namespace

std::unique_ptr<FamilyPart> make_atomics() {
  return std::make_unique<Atomics>();
}

}  // namespace storm
