#include "object/client.h"

#include "base/context.h"
#include "object/segment.h"
#include "object/team_ids.h"

namespace causeway {

Team& Client::job_team() {
  if (job_team_ == nullptr) {
    job_team_ = std::make_unique<Team>(this, ep_.get(), team_->members(), context().rank(),
                                       team_ids::kJob, 0, false);
  }
  return *job_team_;
}

Client::~Client() {
  publications_.clear();  // before the endpoints that the rights are for
}

Endpoint* Client::create_endpoint(gex_EP_Capabilities_t capabilities, gex_Flags_t flags) {
  const std::lock_guard lock(endpoints_mutex_);
  if (next_index_ == Endpoint::kMaxEndpoints) return nullptr;
  auto& slot = created_[next_index_];
  slot = std::make_unique<Endpoint>(this, next_index_, capabilities, flags);
  ++next_index_;
  return slot.get();
}

void Client::publish_windows() {
  for_each_endpoint([](Endpoint& ep) { ep.publish_windows(); });
}

void Client::bind(Endpoint& ep, Segment* segment) {
  {
    // Windows look at what is bound, and its end may follow this call.
    const std::lock_guard lock(publications_.mutex());
    ep.set_segment(segment);
  }
  ep.refit_connections();
  publications_.forget(ep.index(), context().rank());
  if (segment != nullptr) publications_.learn(ep.index(), context().rank(), segment->pack());
  const std::lock_guard lock(publications_.mutex());
  publish_windows();
}

}  // namespace causeway
