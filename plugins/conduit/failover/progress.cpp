// Moving things forward, and sleeping until there is something to move.
#include <sys/timerfd.h>

#include <algorithm>

#include "calls.h"

namespace causeway::failover {
namespace {

// How often time is looked at for flows that wait for something.
constexpr uint64_t look_ns = 20'000'000;
// More messages than these are not left without an acknowledgement while others arrive.
constexpr uint32_t most_owed = 16;

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
    if (outside)
      tend_paths(*flow, now);
    else if (flow->path[0].broken || flow->path[1].broken || flow->path[0].answer_due ||
             flow->path[1].answer_due || !flow->described)
      want_attention(*flow);
    push(*flow);
  }
}

void acknowledge_all(Endpoint& ep, bool now) {
  std::erase_if(ep.owing, [now](Flow* flow) {
    if (flow->owed != 0 && (now || flow->owed >= most_owed)) acknowledge(*flow);
    if (flow->owed != 0 && !flow->over()) return false;
    flow->ack_due = false;
    return true;
  });
}

bool is_settled(const Flow& flow) {
  if (flow.over()) return true;
  if (flow.keeps() || !flow.described) return !flow.described && !flow.keeps();
  return std::all_of(flow.path.begin(), flow.path.end(), [](const Path& path) {
    return path.state == PathState::up || path.state == PathState::none;
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
    tend_paths(*flow, now);
    push(*flow);
    if (!is_settled(*flow)) watch(*flow);
  }
  if (!ep.retired.empty()) forget_retired(ep);
}

}  // namespace

uint32_t progress(cwyc_ep* raw, uint32_t budget, uint32_t lane) {
  Endpoint& ep = *raw;
  uint32_t found = 0;
  ++ep.depth;
  for (int p = 0; p < paths; ++p)
    if (ep.of[p] != nullptr) found += ep.behind(p).progress(ep.of[p], budget, lane);
  --ep.depth;
  take_news(ep);
  if (!ep.todo.empty()) work_off(ep);
  if (!ep.owing.empty()) acknowledge_all(ep, found == 0);
  if (ep.depth == 0 && !(ep.watched.empty() && ep.retired.empty())) look(ep);
  return found;
}

// While something is waited for, the sleep ends when time has to be looked at.
cwy_status arm(cwyc_ep* raw) {
  Endpoint& ep = *raw;
  if (!ep.todo.empty() || !ep.owing.empty() || ep.has_news.load(std::memory_order_acquire))
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
  const auto can_move = [](const Flow& flow) { return flow.is_up(0) || flow.is_up(1); };
  while (services->now() < end &&
         any([&](Flow& flow) { return (flow.keeps() || flow.owed != 0) && can_move(flow); }))
    progress(raw, 64, CWYC_PROGRESS_REPLIES);
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
  while (services->now() < end && any(say)) progress(raw, 64, CWYC_PROGRESS_REPLIES);
}

}  // namespace causeway::failover
