// Operations that a thread has under way. Things are completed in random order, checked as soon as
// they are complete, and their memory is given back at once.
#pragma once

#include <gasnetex.h>

#include <memory>
#include <vector>

#include "random.h"
#include "script.h"

namespace storm {

class Flight {
 public:
  explicit Flight(const Step& step) : step_(step) {}
  virtual ~Flight() = default;
  // Both check the result once it is there; neither is called again then.
  virtual bool test() = 0;
  virtual void wait() = 0;
  virtual const char* name() const = 0;
  // The sub-place of a room that it uses; a new flight there must wait for it.
  virtual bool uses(unsigned /*room*/, unsigned /*sub*/) const { return false; }
  // The team that it needs until it is complete.
  virtual gex_TM_t team() const { return GEX_TM_INVALID; }
  const Step& step() const { return step_; }

 protected:
  Step step_;
};

// A collective on a team, by its event.
class TeamFlight : public Flight {
 public:
  TeamFlight(const Step& step, gex_TM_t tm) : Flight(step), tm_(tm) {}
  bool test() override {
    gasnet_AMPoll();
    if (event_ != GEX_EVENT_INVALID && gex_Event_Test(event_) != GASNET_OK) return false;
    check();
    return true;
  }
  void wait() override {
    gex_Event_Wait(event_);
    check();
  }
  gex_TM_t team() const override { return tm_; }

 protected:
  virtual void check() = 0;
  gex_TM_t tm_;
  gex_Event_t event_ = GEX_EVENT_INVALID;
};

class Flights {
 public:
  explicit Flights(Actor actor) : actor_(actor) {}
  Actor actor() const { return actor_; }
  void add(std::unique_ptr<Flight> flight);
  // After a step: completes some, in random order, and keeps the number in bounds.
  void some(Random& whim);
  void settle();
  void settle_place(unsigned room, unsigned sub);
  void settle_team(gex_TM_t tm);
  size_t count() const { return flights_.size(); }

 private:
  template <class Which>
  void settle_if(Which which);
  void finish(size_t i);
  Actor actor_;
  std::vector<std::unique_ptr<Flight>> flights_;
};

}  // namespace storm
