// GASPI beside GASNet-EX, in one process: writes, reads, lists and notifications over several
// queues, passive messages to a thread that takes them, and atomics; collectives are in
// gaspi_groups.
#include "gaspi.h"

#include <GASPI.h>
#include <gasnet_coll.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "family.h"
#include "gaspi_calls.h"
#include "gaspi_groups.h"
#include "world.h"

namespace storm {
namespace {

constexpr gaspi_segment_id_t kSegment = 40;
constexpr size_t kPlace = size_t{12} << 10;
constexpr unsigned kMostPieces = 4;
constexpr gaspi_notification_id_t kReadNotes = 4096;  // behind those of writers
bool started = false;

// A segment: what is only read; words; places that one actor writes, for each step of an epoch; the
// rank's own sources and destinations, likewise; what passive messages are received into.
constexpr size_t kWordsAt = kMuseum, kSharedWords = 2;
size_t word_of(Actor actor) {
  return kWordsAt + (kSharedWords + actor.number()) * 8;
}
size_t places() {
  return size_t{world().size} * kThreads * kEpoch;
}
size_t place(Actor writer, uint32_t step) {
  return kWordsAt + 4096 + (writer.number() * size_t{kEpoch} + step % kEpoch) * kPlace;
}
size_t own_place(unsigned thread, uint32_t step) {
  return kWordsAt + 4096 + (places() + thread * size_t{kEpoch} + step % kEpoch) * kPlace;
}
size_t inbox() {
  return own_place(kThreads, 0);
}
size_t segment_bytes() {
  return inbox() + kPlace;
}
std::byte* memory = nullptr;

gaspi_notification_id_t note_of(Actor writer, uint32_t step) {
  return writer.number() * kEpoch + step % kEpoch;
}
gaspi_notification_t value_of(const Step& step) {
  return static_cast<gaspi_notification_t>(step.key) | 1;
}

enum class Kind : unsigned { write, read, passive, add, swap };

struct Plan {
  Kind kind = Kind::write;
  bool notify = false, list = false;
  gex_Rank_t target = 0;
  size_t bytes = 0, at = 0;  // within the place, or what is only read
  unsigned pieces = 1;
  uint64_t operand = 0;
  unsigned word = 0;

  Plan(const Step& step, Actor actor) {
    Random own = step.of(actor);
    kind = own.one_of({Kind::write, Kind::write, Kind::write, Kind::write, Kind::read, Kind::read,
                       Kind::passive, Kind::add, Kind::swap});
    notify = own.chance(60);
    list = own.chance(30);
    target = static_cast<gex_Rank_t>(own.below(world().size));
    bytes = std::max<size_t>(own.size(kPlace), 16);
    at = own.below((kind == Kind::read ? kMuseum : kPlace) - bytes + 1);
    if (list) pieces = static_cast<unsigned>(own.within(1, kMostPieces));
    operand = own.next();
    word = static_cast<unsigned>(own.below(kSharedWords));
  }
  bool notifies() const { return kind == Kind::write && notify; }
};

// The parts of a request: one stretch, or several whose pieces lie the other way round here.
struct Pieces {
  gaspi_number_t count = 0;
  gaspi_segment_id_t segments[kMostPieces];
  gaspi_offset_t here[kMostPieces], there[kMostPieces];
  gaspi_size_t sizes[kMostPieces];
  Pieces(const Plan& plan, size_t own, size_t remote) : count(plan.pieces) {
    const size_t each = plan.bytes / count;
    for (gaspi_number_t i = 0; i < count; ++i) {
      segments[i] = kSegment;
      sizes[i] = i + 1 == count ? plan.bytes - i * each : each;
      there[i] = remote + i * each;
      here[i] = i + 1 == count ? own : own + plan.bytes - (i + 1) * each;
    }
  }
};

class RequestFlight : public Flight {
 public:
  RequestFlight(const Step& step, Actor actor)
      : Flight(step), actor_(actor), plan_(step, actor), whim_(step.whim(actor)) {
    own_ = own_place(actor.thread, step.index);
    gaspi_number_t queues = 0;
    good(step, "gaspi_queue_num", gaspi_queue_num(&queues));
    queue_ = static_cast<gaspi_queue_id_t>(whim_.below(std::min<gaspi_number_t>(queues, 3)));
    const Stamp stamp = stamp_of(step, actor, 6);
    const Pieces p(plan_, own_, remote());
    if (plan_.kind == Kind::write)
      for (gaspi_number_t i = 0; i < p.count; ++i)
        fill_from(memory + p.here[i], p.there[i] - remote(), p.sizes[i], stamp);
    gaspi_return_t posted;
    while ((posted = post(p)) == GASPI_QUEUE_FULL)
      good(step, "gaspi_wait of a full queue", gaspi_wait(queue_, GASPI_BLOCK));
    good(step, "a request", posted);
  }
  const char* name() const override { return "waits for a queue of GASPI's"; }
  bool test() override {
    gasnet_AMPoll();
    const gaspi_return_t returned = await(GASPI_TEST);
    if (returned == GASPI_TIMEOUT) return false;
    good(step_, "waiting for a request", returned);
    check();
    return true;
  }
  void wait() override {
    in_portions(step_, "waiting for a request", whim_,
                [&](gaspi_timeout_t timeout) { return await(timeout); });
    check();
  }

 private:
  size_t remote() const {
    return plan_.kind == Kind::read ? plan_.at : place(actor_, step_.index) + plan_.at;
  }
  gaspi_notification_id_t note() const {
    return plan_.kind == Kind::write ? note_of(actor_, step_.index)
                                     : kReadNotes + actor_.thread * kEpoch + step_.index % kEpoch;
  }
  gaspi_return_t post(Pieces p) const {
    const auto rank = static_cast<gaspi_rank_t>(plan_.target);
    if (plan_.kind == Kind::write) {
      const gaspi_notification_t value = value_of(step_);
      if (!plan_.list && !plan_.notify)
        return gaspi_write(kSegment, own_, rank, kSegment, remote(), plan_.bytes, queue_,
                           GASPI_BLOCK);
      if (!plan_.list)
        return gaspi_write_notify(kSegment, own_, rank, kSegment, remote(), plan_.bytes, note(),
                                  value, queue_, GASPI_BLOCK);
      if (!plan_.notify)
        return gaspi_write_list(p.count, p.segments, p.here, rank, p.segments, p.there, p.sizes,
                                queue_, GASPI_BLOCK);
      return gaspi_write_list_notify(p.count, p.segments, p.here, rank, p.segments, p.there,
                                     p.sizes, kSegment, note(), value, queue_, GASPI_BLOCK);
    }
    if (!plan_.list && !plan_.notify)
      return gaspi_read(kSegment, own_, rank, kSegment, remote(), plan_.bytes, queue_, GASPI_BLOCK);
    if (!plan_.list)
      return gaspi_read_notify(kSegment, own_, rank, kSegment, remote(), plan_.bytes, note(),
                               queue_, GASPI_BLOCK);
    if (!plan_.notify)
      return gaspi_read_list(p.count, p.segments, p.here, rank, p.segments, p.there, p.sizes,
                             queue_, GASPI_BLOCK);
    return gaspi_read_list_notify(p.count, p.segments, p.here, rank, p.segments, p.there, p.sizes,
                                  kSegment, note(), queue_, GASPI_BLOCK);
  }
  // A read with a notification is known by that alone.
  gaspi_return_t await(gaspi_timeout_t timeout) {
    if (plan_.kind == Kind::write || !plan_.notify) return gaspi_wait(queue_, timeout);
    gaspi_notification_id_t first = 0;
    const gaspi_return_t returned = gaspi_notify_waitsome(kSegment, note(), 1, &first, timeout);
    if (returned != GASPI_SUCCESS) return returned;
    gaspi_notification_t value = 0;
    good(step_, "gaspi_notify_reset", gaspi_notify_reset(kSegment, first, &value));
    if (first != note() || value != 1)
      fail(step_, "the notification of a read is %u of id %u, expected 1 of %u", value, first,
           note());
    return returned;
  }
  void check() {
    const Pieces p(plan_, own_, remote());
    for (gaspi_number_t i = 0; plan_.kind == Kind::read && i < p.count; ++i)
      expect(step_, "a read of GASPI's", memory + p.here[i], p.there[i], p.sizes[i],
             World::museum_stamp(plan_.target));
    std::memset(memory + own_, kTaken, plan_.bytes);
  }
  Actor actor_;
  Plan plan_;
  Random whim_;
  size_t own_ = 0;
  gaspi_queue_id_t queue_ = 0;
};

// At the target of a write: the notification, and the bytes that have to be there with it.
class NoticeFlight : public Flight {
 public:
  NoticeFlight(const Step& step, Actor writer, Random whim)
      : Flight(step), writer_(writer), whim_(whim) {}
  const char* name() const override { return "waits for a notification of GASPI's"; }
  bool test() override {
    gasnet_AMPoll();
    const gaspi_return_t returned = await(GASPI_TEST);
    if (returned == GASPI_TIMEOUT) return false;
    good(step_, "gaspi_notify_waitsome", returned);
    check();
    return true;
  }
  void wait() override {
    in_portions(step_, "gaspi_notify_waitsome", whim_,
                [&](gaspi_timeout_t timeout) { return await(timeout); });
    check();
  }

 private:
  gaspi_return_t await(gaspi_timeout_t timeout) {
    gaspi_notification_id_t first = 0;
    return gaspi_notify_waitsome(kSegment, note_of(writer_, step_.index), 1, &first, timeout);
  }
  void check() {
    gaspi_notification_t value = 0;
    good(step_, "gaspi_notify_reset",
         gaspi_notify_reset(kSegment, note_of(writer_, step_.index), &value));
    if (value != value_of(step_))
      fail(step_, "a notification of rank %u is 0x%x, expected 0x%x", writer_.rank, value,
           value_of(step_));
    const Plan plan(step_, writer_);
    expect(step_, "a write whose notification is there",
           memory + place(writer_, step_.index) + plan.at, 0, plan.bytes,
           stamp_of(step_, writer_, 6));
  }
  Actor writer_;
  Random whim_;
};

uint64_t header_of(uint32_t step, Actor actor) {
  return uint64_t{step} << 8 | actor.number();
}

// The thread that takes passive messages, whoever they are from.
class Receiver {
 public:
  void start() {
    thread_ = std::thread([this] { receive(); });
  }
  void stop() {
    over_.store(true, std::memory_order_relaxed);
    thread_.join();
  }
  void wait_for(uint64_t count) {
    GASNET_BLOCKUNTIL(taken_.load(std::memory_order_acquire) >= count);
  }
  uint64_t taken() const { return taken_.load(std::memory_order_acquire); }

 private:
  void receive() {
    // Relaxed: nothing comes with the word that it is over.
    while (!over_.load(std::memory_order_relaxed)) {
      gaspi_rank_t from = 0;
      const gaspi_return_t returned = gaspi_passive_receive(kSegment, inbox(), &from, kPlace, 20);
      if (returned == GASPI_TIMEOUT) continue;
      good(Step{}, "gaspi_passive_receive", returned);
      take(from);
      taken_.fetch_add(1, std::memory_order_release);
    }
  }
  static void take(gaspi_rank_t from) {
    uint64_t header = 0;
    std::memcpy(&header, memory + inbox(), sizeof header);
    const Step step = script().step(static_cast<uint32_t>(header >> 8));
    const Actor actor{static_cast<uint32_t>(header & 0xFF) / kThreads,
                      static_cast<uint32_t>(header & 0xFF) % kThreads};
    const Plan plan(step, actor);
    if (step.family != Family::gaspi || actor.rank != from || plan.kind != Kind::passive ||
        plan.target != world().rank)
      fail(step, "a passive message of rank %u that says it is actor %u's of step %u", from,
           actor.number(), step.index);
    expect(step, "a passive message", memory + inbox() + 8, 8, plan.bytes - 8,
           stamp_of(step, actor, 7));
    std::memset(memory + inbox(), kTaken, kPlace);
  }
  std::thread thread_;
  std::atomic<bool> over_{false};
  std::atomic<uint64_t> taken_{0};
};

void send_passive(const Step& step, Actor actor, const Plan& plan, Random& whim) {
  const size_t own = own_place(actor.thread, step.index);
  const uint64_t header = header_of(step.index, actor);
  fill(memory + own, plan.bytes, stamp_of(step, actor, 7));
  std::memcpy(memory + own, &header, sizeof header);
  in_portions(step, "gaspi_passive_send", whim, [&](gaspi_timeout_t timeout) {
    return gaspi_passive_send(kSegment, own, static_cast<gaspi_rank_t>(plan.target), plan.bytes,
                              timeout);
  });
  std::memset(memory + own, kTaken, plan.bytes);
}

class Gaspi : public FamilyPart {
 public:
  void begin() override {
    const Step first{0, Family::gaspi, 0};
    start_gaspi();
    good(first, "gaspi_segment_create",
         gaspi_segment_create(kSegment, segment_bytes(), GASPI_GROUP_ALL, GASPI_BLOCK,
                              GASPI_MEM_INITIALIZED));
    gaspi_pointer_t base = nullptr;
    good(first, "gaspi_segment_ptr", gaspi_segment_ptr(kSegment, &base));
    memory = static_cast<std::byte*>(base);
    fill(memory, kMuseum, World::museum_stamp(world().rank));
    for (auto& links : links_) links.assign(kSharedWords * world().size, 0);
    for (auto& known : known_) known.resize(world().size);
    swapped_.resize(size_t{world().size} * kThreads);
    written_.resize(places() * kPlace);
    receiver_.start();
  }
  void end() override {
    barrier();
    receiver_.stop();
    barrier();
    if (mix(world().options.seed, 47) % 2 == 0)
      good(Step{}, "gaspi_proc_term", gaspi_proc_term(GASPI_BLOCK));
  }
  bool by_threads() const override { return true; }

  void run(const Step& step, Flights& flights) override {
    const Actor actor = flights.actor();
    Random whim(mix(step.whim(actor).next(), 9));
    if (actor.thread == 0) {
      gaspi_together(step, whim);
      expect_notices(step, flights, whim);
    }
    const Plan plan(step, actor);
    switch (plan.kind) {
      case Kind::passive:
        if (actor.thread == 0) stand_at(step, "sends a passive message");
        return send_passive(step, actor, plan, whim);
      case Kind::add:
        return add(step, actor, plan, whim);
      case Kind::swap:
        return swap(step, actor, plan, whim);
      default:
        flights.add(std::make_unique<RequestFlight>(step, actor));
    }
  }

  void replay(const Step& step, Actor actor, Shadow&) override {
    const Plan plan(step, actor);
    if (plan.target != world().rank) return;
    if (plan.kind == Kind::write)
      fill(written_.data() + place(actor, step.index) - place({}, 0) + plan.at, plan.bytes,
           stamp_of(step, actor, 6));
    if (plan.kind == Kind::passive) ++sent_;
    if (plan.kind == Kind::add && plan.word == 0) sum_ += plan.operand;
    if (plan.kind == Kind::swap) swapped_[actor.number()] = plan.operand;
  }

  void audit(const Step& last) override {
    std::byte* const have = memory + place({}, 0);
    if (std::memcmp(have, written_.data(), written_.size()) != 0) {
      size_t i = 0;
      while (have[i] == written_[i]) ++i;
      fail(last,
           "audit: byte %zu of place %zu that actor %zu writes through GASPI: %s; expected %s",
           i % kPlace, i / kPlace % kEpoch, i / kPlace / kEpoch,
           describe(have, written_.size(), i).c_str(),
           describe(written_.data(), written_.size(), i).c_str());
    }
    std::memset(have, 0, written_.size());
    std::fill(written_.begin(), written_.end(), std::byte{0});
    receiver_.wait_for(sent_);
    if (receiver_.taken() != sent_)
      fail(last, "%lu passive messages came, %lu were sent",
           static_cast<unsigned long>(receiver_.taken()), static_cast<unsigned long>(sent_));
    audit_words(last);
    gaspi_number_t queues = 0;
    good(last, "gaspi_queue_num", gaspi_queue_num(&queues));
    for (gaspi_number_t q = 0; q < queues; ++q)
      good(last, "gaspi_wait", gaspi_wait(static_cast<gaspi_queue_id_t>(q), GASPI_BLOCK));
  }

 private:
  // The notifications of this step that are for this rank.
  static void expect_notices(const Step& step, Flights& flights, Random& whim) {
    const unsigned threads = script().threaded(step.index / kEpoch) ? kThreads : 1;
    for (uint32_t r = 0; r < world().size; ++r)
      for (uint32_t t = 0; t < threads; ++t) {
        const Plan plan(step, {r, t});
        if (plan.notifies() && plan.target == world().rank)
          flights.add(
              std::make_unique<NoticeFlight>(step, Actor{r, t}, Random(mix(whim.next(), r))));
      }
  }

  // The first word is only added to; the second is also swapped, by who guesses well.
  void add(const Step& step, Actor actor, const Plan& plan, Random& whim) {
    const auto rank = static_cast<gaspi_rank_t>(plan.target);
    uint64_t& links = links_[actor.thread][plan.target * kSharedWords + plan.word];
    gaspi_atomic_value_t old = 0;
    in_portions(step, "gaspi_atomic_fetch_add", whim, [&](gaspi_timeout_t timeout) {
      return gaspi_atomic_fetch_add(kSegment, kWordsAt + plan.word * 8, rank, plan.operand, &old,
                                    timeout);
    });
    links += mix(old + plan.operand) - mix(old);
    if (plan.word != 1) return;
    const gaspi_atomic_value_t guess = old + plan.operand, put = mix(guess);
    in_portions(step, "gaspi_atomic_compare_swap", whim, [&](gaspi_timeout_t timeout) {
      return gaspi_atomic_compare_swap(kSegment, kWordsAt + 8, rank, guess, put, &old, timeout);
    });
    if (old == guess) links += mix(put) - mix(old);
  }
  // A word of this actor's alone: the value is what it knows.
  void swap(const Step& step, Actor actor, const Plan& plan, Random& whim) {
    gaspi_atomic_value_t& known = known_[actor.thread][plan.target];
    gaspi_atomic_value_t old = 0;
    in_portions(step, "gaspi_atomic_compare_swap", whim, [&](gaspi_timeout_t timeout) {
      return gaspi_atomic_compare_swap(kSegment, word_of(actor),
                                       static_cast<gaspi_rank_t>(plan.target), known, plan.operand,
                                       &old, timeout);
    });
    if (old != known)
      fail(step, "a compare-and-swap of GASPI's found 0x%lx, expected 0x%lx", old, known);
    known = plan.operand;
  }

  void audit_words(const Step& last) {
    const auto word = [](size_t at) {
      uint64_t value = 0;
      std::memcpy(&value, memory + at, sizeof value);
      return value;
    };
    std::vector<uint64_t> own(links_[0]), all(own.size());
    for (size_t i = 0; i < own.size(); ++i) own[i] += links_[1][i];
    gex_Event_Wait(gex_Coll_ReduceToAllNB(world().tm, all.data(), own.data(), GEX_DT_U64, 8,
                                          own.size(), GEX_OP_ADD, nullptr, nullptr, 0));
    for (unsigned i = 0; i < kSharedWords; ++i)
      if (mix(word(kWordsAt + i * 8)) - mix(0) != all[world().rank * kSharedWords + i])
        fail(last, "audit: what GASPI's atomics fetched from word %u does not lead to its value",
             i);
    if (word(kWordsAt) != sum_)
      fail(last, "audit: the sum of GASPI's atomics is 0x%lx, expected 0x%lx",
           static_cast<unsigned long>(word(kWordsAt)), static_cast<unsigned long>(sum_));
    for (uint8_t n = 0; n < swapped_.size(); ++n)
      if (word(word_of({n / kThreads, n % kThreads})) != swapped_[n])
        fail(last, "audit: actor %u's word of GASPI's atomics is 0x%lx, expected 0x%lx", n,
             static_cast<unsigned long>(word(word_of({n / kThreads, n % kThreads}))),
             static_cast<unsigned long>(swapped_[n]));
  }

  Receiver receiver_;
  std::vector<uint64_t> links_[kThreads];              // of all epochs, by target and word
  std::vector<gaspi_atomic_value_t> known_[kThreads];  // own words, by target
  std::vector<uint64_t> swapped_;                      // of this rank, by actor
  std::vector<std::byte> written_;
  uint64_t sum_ = 0, sent_ = 0;
};

}  // namespace

void start_gaspi() {
  if (started) return;
  started = true;
  if (gaspi_proc_init(GASPI_BLOCK) == GASPI_SUCCESS) return;
  std::fprintf(stderr, "storm: gaspi_proc_init failed\n");
  std::exit(1);
}

std::unique_ptr<FamilyPart> make_gaspi() {
  return std::make_unique<Gaspi>();
}

}  // namespace storm
