// Peers of this host whose transport notices a death late or never: their processes are watched.
#include <cstdio>
#include <utility>

#include "endpoint.h"
#include "services.h"

namespace causeway::ucx {
namespace {

constexpr uint64_t look_interval_ns = 50'000'000;

}  // namespace

bool watch_process(Link& link, uint32_t pid) {
  Descriptor process = watch_pid(pid);
  if (!process || !link.owner->processes.add(process, &link)) return false;
  link.process = std::move(process);
  link.pid = pid;
  return true;
}

void watch_no_more(Link& link) {
  if (link.introducing) --link.owner->introducing;
  link.introducing = false;
  if (link.process) link.owner->processes.remove(link.process);
}

Link::~Link() {
  watch_no_more(*this);
}

void process_is_gone(Link& link) {
  char why[64];
  std::snprintf(why, sizeof why, "process %u is gone", link.pid);
  link_failed(link, why);
}

bool check_processes(cwyc_ep* ep) {
  const uint64_t now = services->now();
  if (now < ep->next_watch_ns) return false;
  ep->next_watch_ns = now + look_interval_ns;
  bool found = false;
  ep->processes.each_ended<Link>([&found](Link& link) {
    if (!link.failed) {
      process_is_gone(link);
      found = true;
    }
    if (!awaits_answer(link)) watch_no_more(link);
  });
  return found;
}

}  // namespace causeway::ucx
