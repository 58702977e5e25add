// A family of operations: what an actor does in a step of it, and what that leaves in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "flights.h"
#include "script.h"

namespace storm {

// A copy of what this rank's rooms have to hold.
class Shadow {
 public:
  explicit Shadow(size_t bytes) : bytes_(bytes) {}
  // `offset` counts from the segment's beginning.
  std::byte* at(size_t offset);
  void compare(const Step& step) const;

 private:
  std::vector<std::byte> bytes_;
};

class FamilyPart {
 public:
  virtual ~FamilyPart() = default;
  // Between single threads of all ranks: before the first step, after the last.
  virtual void begin() {}
  virtual void end() {}
  // The actor whose flights these are does his part of the step.
  virtual void run(const Step& step, Flights& flights) = 0;
  // Whether several threads may do it, each for himself.
  virtual bool by_threads() const { return false; }
  // Puts into the shadow what the step of `actor` leaves in the rooms of this rank.
  virtual void replay(const Step& /*step*/, Actor /*actor*/, Shadow& /*shadow*/) {}
  // All ranks have completed everything and wait for each other: what else can be compared.
  virtual void audit(const Step& /*last*/) {}
};

std::unique_ptr<FamilyPart> make_collectives();
std::unique_ptr<FamilyPart> make_rma();
std::unique_ptr<FamilyPart> make_messages();
std::unique_ptr<FamilyPart> make_vis();
std::unique_ptr<FamilyPart> make_team_changes();
std::unique_ptr<FamilyPart> make_segment_changes();
std::unique_ptr<FamilyPart> make_devices();
std::unique_ptr<FamilyPart> make_atomics();
std::unique_ptr<FamilyPart> make_gaspi();
std::unique_ptr<FamilyPart> make_legacy();
std::unique_ptr<FamilyPart> make_clients();

}  // namespace storm
