// Peers of this host whose transport notices a death late or never: their processes are watched.
#include <cstdio>

#include "endpoint.h"
#include "services.h"

namespace causeway::ucx {
namespace {

constexpr uint64_t look_interval_ns = 50'000'000;

}  // namespace

bool watch_process(Link& link, uint32_t pid) {
  link.process = watch_pid(pid);
  if (!link.process) return false;
  link.pid = pid;
  ++link.owner->watched;
  return true;
}

void watch_no_more(Link& link) {
  if (link.introducing) --link.owner->introducing;
  link.introducing = false;
  if (!link.process) return;
  --link.owner->watched;
  link.process = Descriptor();
}

Link::~Link() {
  watch_no_more(*this);
}

void process_is_gone(Link& link) {
  char why[64];
  std::snprintf(why, sizeof why, "process %u is gone", link.pid);
  link_failed(link, why);
}

// The kernel takes the descriptors from a process that ends a moment before its pidfd tells; and a
// rank that fails gives its memory back before it ends.
bool has_let_go(const Link& link, const cwyc_rkey& rkey) {
  return !link.notices_failure && link.process && !has_object(link.pid, rkey.object);
}

bool check_processes(cwyc_ep* ep) {
  const uint64_t now = services->now();
  if (now < ep->next_watch_ns) return false;
  ep->next_watch_ns = now + look_interval_ns;
  bool found = false;
  for (auto& link : ep->links) {
    if (!link->process || link->failed || !has_ended(link->process)) continue;
    process_is_gone(*link);
    found = true;
  }
  return found;
}

}  // namespace causeway::ucx
