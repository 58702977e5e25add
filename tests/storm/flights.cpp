#include "flights.h"

#include "world.h"

namespace storm {
namespace {

// So many under way at once. A collective beyond the number of frames that a team keeps has to wait
// for an older one, which is the case that matters.
constexpr size_t kMost = 14;

}  // namespace

void Flights::add(std::unique_ptr<Flight> flight) {
  flights_.push_back(std::move(flight));
}

void Flights::finish(size_t i) {
  const std::unique_ptr<Flight> flight = std::move(flights_[i]);
  flights_.erase(flights_.begin() + static_cast<ptrdiff_t>(i));
  if (actor_.thread == 0) stand_at(flight->step(), flight->name());
  flight->wait();
}

void Flights::some(Random& whim) {
  size_t keep = whim.chance(50) ? whim.below(kMost) : kMost;
  for (size_t i = whim.chance(30) ? flights_.size() : 0; i-- > 0;)
    if (flights_[i]->test()) flights_.erase(flights_.begin() + static_cast<ptrdiff_t>(i));
  while (flights_.size() > keep) finish(whim.below(flights_.size()));
}

template <class Which>
void Flights::settle_if(Which which) {
  for (size_t i = flights_.size(); i-- > 0;)
    if (i < flights_.size() && which(*flights_[i])) finish(i);
}

void Flights::settle() {
  settle_if([](const Flight&) { return true; });
}
void Flights::settle_place(unsigned room, unsigned sub) {
  settle_if([=](const Flight& f) { return f.uses(room, sub); });
}
void Flights::settle_team(gex_TM_t tm) {
  settle_if([=](const Flight& f) { return f.team() == tm; });
}

}  // namespace storm
