// Moving things forward, and sleeping until there is something to move.
#include <sys/timerfd.h>

#include <algorithm>

#include "calls.h"
#include "module.h"

namespace causeway::failover {
namespace {

// How often time is looked at for flows that wait for something.
constexpr uint64_t look_ns = 20'000'000;
// More messages than these are not left without an acknowledgement while others arrive.
uint32_t most_owed(const Endpoint& ep) {
  return static_cast<uint32_t>(std::min<uint64_t>(16, ep.front->options.window / 2));
}

void take_news(Endpoint& ep) {
  if (!ep.has_news.load(std::memory_order_acquire)) return;
  std::vector<News> news;
  {
    const std::lock_guard lock(ep.news_mutex);
    news.swap(ep.news);
    ep.has_news.store(false, std::memory_order_relaxed);
  }
  for (const News& one : news) {
    Flow* flow = one.peer.rank < ep.flows.size() ? ep.flows[one.peer.rank].get() : nullptr;
    for (; flow != nullptr && flow->peer.epoch == one.peer.epoch; flow = flow->next.get()) {
      Path& path = flow->path[one.path];
      path.refused = path.refused || one.final;
      break_path(*flow, one.path, one.why.c_str(), true);
      want_attention(*flow);
    }
  }
}

void work_off(Endpoint& ep) {
  std::vector<Flow*> due;
  due.swap(ep.todo);
  for (Flow* flow : due) flow->on_todo = false;
  const bool outside = ep.depth == 0;
  const uint64_t now = services->now();
  for (Flow* flow : due) {
    if (outside) {
      tend_paths(*flow, now);
    } else {
      tell_loss(*flow, now);
      want_attention(*flow);  // for what may not be done here
    }
    push(*flow);
  }
}

// A peer that no path leads to is told when one is up again.
void acknowledge_all(Endpoint& ep, bool now) {
  std::erase_if(ep.owing, [&](Flow* flow) {
    if (flow->owed != 0 && (now || flow->owed >= most_owed(ep))) acknowledge(*flow);
    if (flow->owed != 0 && !flow->over() && flow->has_path()) return false;
    flow->ack_due = false;
    return true;
  });
}

bool is_settled(const Flow& flow) {
  if (flow.over() || flow.reported || !flow.is_wanted()) return true;
  if (flow.keeps()) return false;
  return std::all_of(flow.path.begin(), flow.path.end(), [](const Path& path) {
    return path.state == PathState::none || (path.state == PathState::up && !path.on_trial);
  });
}

void forget_retired(Endpoint& ep) {
  for (const auto& first : ep.retired)
    for (Flow* flow = first.get(); flow != nullptr; flow = flow->next.get()) {
      for (int p = 0; p < paths; ++p) close_path(*flow, p, false);
      std::erase(ep.todo, flow);
      std::erase(ep.watched, flow);
      std::erase(ep.owing, flow);
    }
  ep.retired.clear();
}

void look(Endpoint& ep) {
  const uint64_t now = services->now();
  if (now - ep.looked_at < look_ns) return;
  ep.looked_at = now;
  std::vector<Flow*> due;
  due.swap(ep.watched);
  for (Flow* flow : due) {
    flow->watched = false;
    look_for_silence(*flow, now);
    ep.depth == 0 ? tend_paths(*flow, now) : tell_loss(*flow, now);
    push(*flow);
    if (!is_settled(*flow)) watch(*flow);
  }
  if (!ep.retired.empty() && ep.depth == 0) forget_retired(ep);
}

bool waits_for_room(const Endpoint& ep) {
  return std::all_of(ep.todo.begin(), ep.todo.end(), [](Flow* flow) { return flow->wants_room; });
}

}  // namespace

uint32_t Conduit::progress(cwyc_ep* raw, uint32_t budget, uint32_t lane) {
  Endpoint& ep = *raw;
  uint32_t found = 0;
  ++ep.depth;
  for (int p = 0; p < paths; ++p)
    if (ep.of[p] != nullptr) found += ep.behind(p).progress(ep.of[p], budget, lane);
  --ep.depth;
  try {
    take_news(ep);
    if (!ep.todo.empty()) work_off(ep);
    if (!ep.owing.empty()) acknowledge_all(ep, found == 0);
    if (!(ep.watched.empty() && ep.retired.empty())) look(ep);
  } catch (const std::bad_alloc&) {
    // Once more in the next call.
  }
  return found;
}

// While something is waited for, the sleep ends when time has to be looked at.
cwy_status Conduit::arm(cwyc_ep* raw) {
  Endpoint& ep = *raw;
  if (!waits_for_room(ep) || !ep.owing.empty() || ep.has_news.load(std::memory_order_acquire))
    return CWY_RETRY;
  const bool wanted = !ep.watched.empty();
  if (wanted || ep.timer_set) {
    itimerspec at{};
    if (wanted) at.it_value.tv_nsec = static_cast<long>(look_ns);
    timerfd_settime(ep.timer.get(), 0, &at, nullptr);
    ep.timer_set = wanted;
  }
  for (int p = 0; p < paths; ++p) {
    if (ep.of[p] == nullptr) continue;
    if (const cwy_status status = ep.behind(p).arm(ep.of[p]); status != CWY_OK) return status;
  }
  return CWY_OK;
}

void drain(Endpoint& ep) {
  constexpr uint64_t patience_ns = 1'000'000'000;
  const uint64_t end = services->now() + patience_ns;
  auto* const raw = static_cast<cwyc_ep*>(&ep);
  const auto any = [&ep](auto&& wanted) {
    bool found = false;
    for_each_flow(ep, [&](Flow& flow) { found = (!flow.over() && wanted(flow)) || found; });
    return found;
  };
  ep.closing = true;
  const auto unsettled = [](Flow& flow) {
    return (flow.keeps() || flow.owed != 0) && flow.has_path();
  };
  while (services->now() < end && (any(unsettled) || ep.reading != 0))
    Conduit::progress(raw, 64, CWYC_PROGRESS_ALL);
  // Over both paths, for one of them may not bring it.
  const auto say = [](Flow& flow) {
    bool all = true;
    for (int p = 0; p < paths; ++p) {
      bool& done = flow.path[p].bye_sent;
      done = done || !flow.is_up(p) || send_control(flow, p, Kind::bye, 0);
      all = all && done;
    }
    return !all;
  };
  while (services->now() < end && any(say)) Conduit::progress(raw, 64, CWYC_PROGRESS_ALL);
}

}  // namespace causeway::failover
