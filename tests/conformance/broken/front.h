// What the faults share: the good conduit behind, and the tables in front of it that they change.
#pragma once

#include <causeway/conduit.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <initializer_list>
#include <utility>

namespace broken {

extern const cwyc_module* g_inner;
extern const cwyc_ops* g_ops;
extern cwyc_module g_module;
extern cwyc_ops g_table;
extern cwy_services g_services;        // what the conduit behind has of the suite
extern std::atomic<uint64_t> g_count;  // relaxed: which call it is, nothing more

inline uint64_t tick() {
  return g_count.fetch_add(1, std::memory_order_relaxed) + 1;
}

// A refusal without a fault: text and status are written.
inline cwy_status refused(cwy_err* err, cwy_status status, const char* text) {
  if (err == nullptr) return status;
  std::snprintf(err->text, sizeof err->text, "%s", text);
  return err->status = status;
}

struct Fault {
  const char* name;
  void (*apply)();
};
// The faults of a file, by promise; defined at namespace scope they register themselves.
struct Faults {
  Faults(std::initializer_list<Fault> faults);
};

// Calls that are made so many calls of progress later, of a process with one connection.
class Later {
 public:
  void add(unsigned turns, std::function<bool()> call) {
    calls_.push_back({turns, std::move(call)});
  }
  // False from a call: not yet, again next time.
  void turn() {
    while (!calls_.empty()) {
      if (calls_.front().turns > 0) {
        --calls_.front().turns;
        return;
      }
      if (!calls_.front().call()) return;
      calls_.pop_front();
    }
  }
  void drop() { calls_.clear(); }
  size_t size() const { return calls_.size(); }

 private:
  struct Call {
    unsigned turns;
    std::function<bool()> call;
  };
  std::deque<Call> calls_;
};
inline Later g_later;
inline void use_later() {
  g_module.progress = [](cwyc_ep* ep, uint32_t budget, uint32_t lane) {
    g_later.turn();
    return g_inner->progress(ep, budget, lane);
  };
  g_module.disconnect = [](cwyc_conn* c) {
    g_later.drop();
    g_inner->disconnect(c);
  };
}

// The endpoint that was opened before the latest one; NULL: there is none. With take_deliveries().
extern void* g_previous_endpoint;
extern cwyc_place_fn g_place;  // the suite's
// Deliveries come to `deliver` in place of the suite's; deliver_on() hands on to it.
void take_deliveries(cwyc_deliver_fn deliver);
void deliver_on(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, const int32_t* args,
                uint32_t nargs, void* payload, size_t length);

}  // namespace broken
