// The two paths to a peer: made, given up, taken again; and how one is found that does not answer.
#include <cstring>
#include <new>

#include "calls.h"

namespace causeway::failover {
namespace {

constexpr uint64_t ms = 1'000'000;
// The launcher's word, or the news that the job ends, come first.
constexpr uint64_t grace_ns = 200 * ms;
constexpr uint64_t longest_backoff_ns = 30'000 * ms;
// The kernel repeats what opens a connection ever more seldom.
constexpr uint64_t longest_attempt_ns = 5'000 * ms;
// People are told of a path once in so long, however many peers it led to.
constexpr uint64_t telling_ns = 5'000 * ms;

void free_memory(std::byte* memory) {
  ::operator delete (memory, std::align_val_t{64});
}

cwyc_conn* fresh_connection(Flow& flow, int p) {
  Path& path = flow.path[p];
  Endpoint& ep = *flow.ep;
  const size_t size = sizeof(cwyc_conn) + ep.attr[p].conn_size;
  if (path.memory == nullptr)
    path.memory = {static_cast<std::byte*>(::operator new (size, std::align_val_t{64})),
                   free_memory};
  std::memset(path.memory.get(), 0, size);
  cwyc_conn* const conn = path.conn();
  conn->ops = &ep.front->behind[p]->ops[0].table();
  conn->ep = ep.of[p];
  conn->peer = flow.peer;
  return conn;
}

bool may_come_back(const Path& path) {
  return path.state != PathState::none && !(path.state == PathState::down && path.refused);
}

bool is_lost(const Flow& flow) {
  return flow.described && !may_come_back(flow.path[0]) && !may_come_back(flow.path[1]);
}

const char* why_lost(const Flow& flow) {
  return flow.path[0].why.empty() ? flow.path[1].why.c_str() : flow.path[0].why.c_str();
}

void finish_connect(Flow& flow, cwy_status status) {
  cwyc_op* const op = std::exchange(flow.connect_op, nullptr);
  if (op == nullptr) return;
  if (status != CWY_OK) {  // the core does not disconnect what never was connected
    flow.conn->priv = nullptr;
    flow.conn = nullptr;
  }
  const cwyc_detail detail{CWY_HEAD(cwyc_detail), 0, 0, why_lost(flow)};
  op->fn(op, CWYC_DONE_REMOTE, status, status != CWY_OK ? &detail : nullptr);
}

void came_up(Flow& flow, int p) {
  Path& path = flow.path[p];
  Endpoint& ep = *flow.ep;
  path.state = PathState::up;
  path.refused = false;
  path.backoff = 0;
  path.hello_due = !flow.confirmed;
  flow.suspected = false;
  if (path.breaks != 0) ep.returns.add(1);
  if (std::exchange(path.told, false))
    log(CWY_LOG_INFO, "rank %u is reached over %s again", flow.peer.rank, ep.behind_name(p));
  // The first path is the wanted one.
  if (p == 0 || !flow.is_up(flow.current)) flow.current = p;
  finish_connect(flow, CWY_OK);
  want_attention(flow);
}

void failed_to_connect(Flow& flow, int p, cwy_status status, const char* why) {
  Path& path = flow.path[p];
  path.state = PathState::down;
  path.why = why;
  path.refused = status == CWY_ERR_UNREACHABLE || status == CWY_ERR_PEER_FAILED;
  path.backoff =
      std::min(longest_backoff_ns, std::max(flow.ep->front->options.retry_ns, 2 * path.backoff));
  path.retry_at = services->now() + path.backoff;
  watch(flow);
  if (flow.connect_op != nullptr && is_lost(flow)) finish_connect(flow, status);
  want_attention(flow);
}

void connected(cwyc_op* op, uint32_t, cwy_status status, const cwyc_detail* detail) {
  const auto* const mine = reinterpret_cast<Path::ConnectOp*>(op);
  Flow& flow = *mine->flow;
  const int p = mine->path;
  if (flow.path[p].state != PathState::connecting) return;  // given up meanwhile
  if (status == CWY_OK) return came_up(flow, p);
  failed_to_connect(flow, p, status,
                    detail != nullptr && detail->text != nullptr ? detail->text : "no connection");
}

// A peer that both paths have lost: suspected at once, and failed after a while.
void tell_loss(Flow& flow, uint64_t now) {
  if (!is_lost(flow) || flow.over() || flow.reported) return;
  if (flow.conn == nullptr && !flow.keeps()) return;  // nobody's
  Endpoint& ep = *flow.ep;
  if (!std::exchange(flow.suspected, true)) {
    flow.lost_at = now;
    services->peer_state(ep.params.core_ep, flow.peer, CWY_PEER_SUSPECT, why_lost(flow));
  }
  watch(flow);
  if (now - flow.lost_at < grace_ns) return;
  flow.reported = true;
  services->peer_state(ep.params.core_ep, flow.peer, CWY_PEER_FAILED, why_lost(flow));
}

}  // namespace

void connect_path(Flow& flow, int p) {
  Path& path = flow.path[p];
  Endpoint& ep = *flow.ep;
  cwyc_conn* const conn = fresh_connection(flow, p);
  const cwyc_peer_desc desc{
      CWY_HEAD(cwyc_peer_desc), flow.peer,
      flow.same_process,        flow.same_host,
      flow.local_index,         flow.pid,
      flow.hostname.c_str(),    path.address.data(),
      path.address.size(),      path.wiring.empty() ? nullptr : path.wiring.data(),
      path.wiring.size()};
  path.connect_op.op.fn = connected;
  path.state = PathState::connecting;
  path.began_at = services->now();
  watch(flow);
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, ""};
  const cwy_status status = ep.behind(p).connect(ep.of[p], conn, &desc, &path.connect_op.op, &err);
  if (status == CWY_OK) return came_up(flow, p);
  if (status == CWY_INPROGRESS) return;
  if (status != CWY_RETRY) return failed_to_connect(flow, p, status, err.text);
  path.state = PathState::down;
  path.retry_at = path.began_at + ms;
  want_attention(flow);
}

void post_again(Flow& flow) {
  for (Lane& lane : flow.lane) {
    flow.ep->resent.add(lane.posted);
    lane.posted = 0;
  }
  want_attention(flow);
}

void break_path(Flow& flow, int p, const char* why, bool ours) {
  Path& path = flow.path[p];
  if (path.broken || path.state == PathState::none || path.state == PathState::down) return;
  path.broken = true;
  path.why = why;
  if (ours) {
    ++path.breaks;
    path.tell_broken = true;
  }
  path.tell_loss = path.state == PathState::up;
  path.answer_due = false;
  flow.probed_at = 0;
  post_again(flow);
  if (flow.current == p && flow.is_up(1 - p)) {
    flow.current = 1 - p;
    flow.ep->switches.add(1);
  }
}

void tell_of_loss(Flow& flow, int p) {
  Path& path = flow.path[p];
  path.tell_loss = false;
  if (flow.over()) return;
  Endpoint& ep = *flow.ep;
  const uint64_t now = services->now();
  path.told = ep.told_at[p] == 0 || now - ep.told_at[p] > telling_ns;
  if (!path.told) return;
  ep.told_at[p] = now;
  log(CWY_LOG_WARN, "rank %u is no longer reached over %s (%s); going on over %s", flow.peer.rank,
      ep.behind_name(p), path.why.c_str(), ep.behind_name(1 - p));
}

void close_path(Flow& flow, int p, bool in_order) {
  Path& path = flow.path[p];
  const PathState was = path.state;
  path.broken = false;
  if (was != PathState::up && was != PathState::connecting) return;
  path.state = PathState::down;  // first: connect's report says nothing more
  const cwyc_module& behind = flow.ep->behind(p);
  if (!in_order || was == PathState::connecting) behind.purge(path.conn());
  behind.disconnect(path.conn());
}

void tend_paths(Flow& flow, uint64_t now) {
  for (int p = 0; p < paths; ++p) {
    Path& path = flow.path[p];
    if (path.broken || (flow.purged && path.state != PathState::none)) {
      close_path(flow, p, false);
      path.backoff = std::max(path.backoff, flow.ep->front->options.retry_ns);
      path.retry_at = now + path.backoff;
      watch(flow);
    }
    if (flow.over() || !flow.described) continue;
    if (path.tell_broken && flow.is_up(1 - p))
      path.tell_broken = !send_control(flow, 1 - p, Kind::broken, word_of(p, path.breaks));
    if (path.state == PathState::connecting && path.breaks != 0 &&
        now - path.began_at > longest_attempt_ns) {
      close_path(flow, p, false);
      path.retry_at = now;
    }
    if (path.state == PathState::down && now >= path.retry_at) connect_path(flow, p);
    if (path.answer_due && flow.is_up(p))
      path.answer_due = !send_control(flow, p, Kind::answer, path.to_answer);
    if (path.tell_broken || (path.answer_due && flow.is_up(p))) want_attention(flow);
  }
  tell_loss(flow, now);
}

void look_for_silence(Flow& flow, uint64_t now) {
  if (!flow.keeps() || flow.over() || !flow.is_up(0) || !flow.is_up(1)) return;
  const Options& options = flow.ep->front->options;
  if (flow.probed_at == 0) {
    if (now - flow.moved_at < options.probe_after_ns) return;
    ++flow.probe;
    flow.probed_at = now;
    flow.first_answer = 0;
    for (Path& path : flow.path) path.probed = path.answered = false;
    flow.ep->probes.add(1);
  }
  for (int p = 0; p < paths; ++p)
    if (Path& path = flow.path[p]; !path.probed && flow.is_up(p))
      path.probed = send_control(flow, p, Kind::probe, flow.probe);
  if (flow.first_answer == 0 || now - flow.first_answer < options.patience_ns) return;
  if (flow.path[0].answered && flow.path[1].answered) {
    // Both work. Where the acknowledgement has not come all the same, messages went down with a
    // connection that the peer gave up after this side had made it anew.
    post_again(flow);
    flow.moved_at = now;
    flow.probed_at = 0;
    return;
  }
  break_path(flow, flow.path[0].answered ? 1 : 0, "it does not answer, while the other path does",
             true);
}

}  // namespace causeway::failover
