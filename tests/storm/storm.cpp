// A rank of the storm: goes through the script that the seed gives. One line "done" of rank 0 and
// the status 0 when every byte was right; otherwise a line that begins with FAIL, CRASH or HANG.
#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "family.h"
#include "gaspi.h"
#include "last_words.h"
#include "teams.h"
#include "world.h"

namespace storm {

std::byte* Shadow::at(size_t offset) {
  return bytes_.data() + (offset - World::rooms_at());
}

void Shadow::compare(const Step& step) const {
  const std::byte* have = world().segment + World::rooms_at();
  if (std::memcmp(have, bytes_.data(), bytes_.size()) == 0) return;
  size_t i = 0;
  while (have[i] == bytes_[i]) ++i;
  const size_t place = i / kSub, room = place / kSubs % kRooms, actor = place / kSubs / kRooms;
  static constexpr const char* kNames[] = {"rma", "vis", "requests", "replies"};
  fail(step, "audit: byte %zu of place %zu in the room of %s that rank %zu writes: %s; expected %s",
       i % kSub, place % kSubs, kNames[room], actor / kThreads,
       describe(have, bytes_.size(), i).c_str(), describe(bytes_.data(), bytes_.size(), i).c_str());
}

namespace {

using Parts = std::array<std::unique_ptr<FamilyPart>, kFamilies>;

class Run {
 public:
  explicit Run(const Options& options)
      : options_(options), shadow_(world().rooms_bytes()), flights_(Actor{world().rank, 0}) {
    make(Family::coll, make_collectives);
    make(Family::rma, make_rma);
    make(Family::am, make_messages);
    make(Family::vis, make_vis);
    make(Family::team, make_team_changes);
    make(Family::segment, make_segment_changes);
    make(Family::device, make_devices);
    make(Family::atomics, make_atomics);
    make(Family::gaspi, make_gaspi);
    make(Family::legacy, make_legacy);
    make(Family::clients, make_clients);
  }

  void go() {
    start_teams();
    for (auto& part : parts_)
      if (part) part->begin();
    barrier();
    begin_watch();
    for (uint32_t first = 0; first < options_.steps; first += kEpoch)
      epoch(first, std::min(first + kEpoch, options_.steps));
    stand_at("ends its teams");
    end_teams(flights_);
    for (auto& part : parts_)
      if (part) part->end();
    barrier();
  }

 private:
  void make(Family family, std::unique_ptr<FamilyPart> (*maker)()) {
    if (options_.has(family)) parts_[static_cast<unsigned>(family)] = maker();
  }
  FamilyPart* part_of(const Step& step) { return parts_[static_cast<unsigned>(step.family)].get(); }

  // Nothing where only the end of a job is asked for.
  void act(const Step& step, Flights& flights) {
    if (!part_of(step)) return;
    const Actor actor = flights.actor();
    if (const uint32_t us = script().delay(step, actor)) usleep(us);
    part_of(step)->run(step, flights);
    if (const uint32_t us = script().delay(Step{step.index, step.family, mix(step.key, 5)}, actor))
      usleep(us);
    Random whim(mix(step.key, uint64_t{30000} + actor.number()));
    if (script().one_at_a_time(step.index / kEpoch)) return flights.settle();
    flights.some(whim);
  }

  void epoch(uint32_t first, uint32_t end) {
    std::atomic<bool> done{true};
    std::thread second;
    if (script().threaded(first / kEpoch)) {
      done = false;
      second = std::thread([&] {
        beside(first, end);
        done.store(true, std::memory_order_release);
      });
    }
    for (uint32_t i = first; i < end; ++i) {
      const Step step = script().step(i);
      if (options_.verbose && world().rank == 0) {
        std::printf("step %u %s\n", i, std::string(name_of(step.family)).c_str());
        std::fflush(stdout);
      }
      stand_at(step, "acts");
      act(step, flights_);
    }
    const Step last = script().step(end - 1);
    stand_at(last, "settles before the audit");
    flights_.settle();
    if (second.joinable()) {
      stand_at(last, "waits for its second thread");
      GASNET_BLOCKUNTIL(done.load(std::memory_order_acquire));
      second.join();
    }
    audit(first, end, last);
  }

  // The second thread takes part where every thread acts for himself.
  void beside(uint32_t first, uint32_t end) {
    Flights flights(Actor{world().rank, 1});
    for (uint32_t i = first; i < end; ++i) {
      const Step step = script().step(i);
      if (part_of(step) && part_of(step)->by_threads()) act(step, flights);
    }
    flights.settle();
  }

  void audit(uint32_t first, uint32_t end, const Step& last) {
    stand_at(last, "waits for the audit's first barrier");
    barrier();
    const unsigned threads = script().threaded(first / kEpoch) ? kThreads : 1;
    for (uint32_t i = first; i < end; ++i) {
      const Step step = script().step(i);
      FamilyPart* const part = part_of(step);
      if (!part) continue;
      for (uint32_t rank = 0; rank < world().size; ++rank)
        for (uint32_t thread = 0; thread < (part->by_threads() ? threads : 1); ++thread)
          part->replay(step, {rank, thread}, shadow_);
    }
    shadow_.compare(last);
    for (auto& part : parts_)
      if (part) part->audit(last);
    stand_at(last, "waits for the audit's second barrier");
    barrier();
  }

  Options options_;
  Shadow shadow_;
  Flights flights_;
  Parts parts_;
};

[[noreturn]] void misuse(const char* what, const char* word) {
  std::fprintf(stderr,
               "storm: %s %s\nusage: storm --seed N --ops coll,rma,... --steps N [--patience S] "
               "[--words FOLDER] [--verbose]\n",
               what, word);
  std::exit(2);
}

template <class T>
void number(const char* text, T& value) {
  const char* const end = text + std::strlen(text);
  if (std::from_chars(text, end, value).ptr != end) misuse("no number:", text);
}

Options parse(int argc, char** argv, std::string& words) {
  Options options;
  options.ops = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--verbose") {
      options.verbose = true;
      continue;
    }
    if (i + 1 == argc) misuse("unknown option or no value:", argv[i]);
    const char* const value = argv[++i];
    std::string bad;
    if (option == "--seed")
      number(value, options.seed);
    else if (option == "--steps")
      number(value, options.steps);
    else if (option == "--patience")
      number(value, options.patience);
    else if (option == "--words")
      words = value;
    else if (option != "--ops")
      misuse("unknown option", argv[i - 1]);
    else if (!parse_ops(value, options.ops, bad))
      misuse("unknown family", bad.c_str());
  }
  return options;
}

}  // namespace
}  // namespace storm

int main(int argc, char** argv) {
  std::string words;
  const storm::Options options = storm::parse(argc, argv, words);
  // Either interface may be the first.
  if (options.has(storm::Family::gaspi) && storm::mix(options.seed, 37) % 2 == 0)
    storm::start_gaspi();
  storm::start_world(options, &argc, &argv);
  storm::Run(options).go();
  storm::end_watch();
  return storm::leave(options, words);
}
