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

bool is_failing(const Path& path) {
  return path.state == PathState::none || path.failing_since != 0;
}

// The conduit behind says so, or nothing has come of it for long.
bool is_lost(const Flow& flow, int p, uint64_t now) {
  const Path& path = flow.path[p];
  if (path.state == PathState::none) return true;
  if (path.failing_since == 0) return false;
  return (path.refused && !flow.is_up(p)) ||
         now - path.failing_since > flow.ep->front->options.peer_timeout_ns;
}

const char* why_lost(const Flow& flow) {
  return flow.path[0].why.empty() ? flow.path[1].why.c_str() : flow.path[0].why.c_str();
}

// The first attempt follows at once, for a connection may be gone and its network whole.
void try_later(Flow& flow, Path& path, uint64_t now) {
  const uint64_t retry_ns = flow.ep->front->options.retry_ns;
  path.backoff = path.backoff == 0
                     ? std::min(retry_ns, 100 * ms)
                     : std::min(longest_backoff_ns, std::max(retry_ns, 2 * path.backoff));
  path.retry_at = now + path.backoff;
  watch(flow);
}

// The path is of use. Where it has failed before it is on trial: there are conduits that call a
// peer connected which they have not heard.
void came_up(Flow& flow, int p) {
  Path& path = flow.path[p];
  path.state = PathState::up;
  path.hello_due = !flow.confirmed;
  path.on_trial = path.failing_since != 0;
  if (path.on_trial) {
    path.trial = uint64_t{1} << 63 | ++flow.trials;
    path.trial_sent_at = 0;
    watch(flow);
  } else {
    path.refused = false;
    path.backoff = 0;
  }
  if (!flow.is_up(flow.current) || (p == 0 && !path.on_trial)) flow.current = p;
  owe_acknowledgement(flow);
  finish_connect(flow, CWY_OK);
  want_attention(flow);
}

void failed_to_connect(Flow& flow, int p, cwy_status status, const char* why) {
  Path& path = flow.path[p];
  const uint64_t now = services->now();
  path.state = PathState::down;
  path.why = why;
  path.refused =
      status == CWY_ERR_UNREACHABLE || status == CWY_ERR_PEER_FAILED || status == CWY_ERR_TIMEOUT;
  if (path.failing_since == 0) path.failing_since = now;
  try_later(flow, path, now);
  want_attention(flow);
}

void connected(cwyc_op* op, uint32_t, cwy_status status, const cwy_detail* detail) {
  const auto* const mine = reinterpret_cast<Path::ConnectOp*>(op);
  Flow& flow = *mine->flow;
  Path& path = flow.path[mine->path];
  if (path.state != PathState::connecting || path.broken) return;  // it is given up
  if (status == CWY_OK) return came_up(flow, mine->path);
  failed_to_connect(flow, mine->path, status,
                    detail != nullptr && detail->text != nullptr ? detail->text : "no connection");
}

// A path on trial is asked again and again, and made anew when that is in vain.
void try_path(Flow& flow, int p, uint64_t now) {
  constexpr uint64_t again_ns = 1'000 * ms;
  Path& path = flow.path[p];
  if (path.trial_sent_at == 0 || now - path.trial_sent_at > again_ns) {
    if (send_control(flow, p, Kind::probe, path.trial)) path.trial_sent_at = now;
  }
  if (now - path.began_at > longest_attempt_ns) break_path(flow, p, path.why.c_str(), true);
}

}  // namespace

void finish_connect(Flow& flow, cwy_status status) {
  cwyc_op* const op = std::exchange(flow.connect_op, nullptr);
  if (op == nullptr) return;
  if (status != CWY_OK) {  // the core does not disconnect what never was connected
    flow.conn->priv = nullptr;
    flow.conn = nullptr;
  }
  const cwy_detail detail{CWY_HEAD(cwy_detail), 0, 0, why_lost(flow)};
  op->fn(op, CWYC_DONE_REMOTE, status, status != CWY_OK ? &detail : nullptr);
}

void trust(Flow& flow, int p) {
  Path& path = flow.path[p];
  Endpoint& ep = *flow.ep;
  path.on_trial = path.refused = path.tell_broken = path.tell_loss = false;
  path.failing_since = path.backoff = 0;
  flow.suspected = false;
  ep.returns.add(1);
  if (std::exchange(path.told, false))
    log(CWY_LOG_INFO, "rank %u is reached over %s again", flow.peer.rank, ep.behind_name(p));
  if (p == 0 || !flow.is_trusted(flow.current)) flow.current = p;
  want_attention(flow);
}

void tell_loss(Flow& flow, uint64_t now) {
  if (flow.over() || flow.reported || !flow.described) return;
  if (!is_failing(flow.path[0]) || !is_failing(flow.path[1])) return;
  const bool lost = is_lost(flow, 0, now) && is_lost(flow, 1, now);
  if (flow.conn == nullptr && !flow.keeps()) {  // nobody's
    if (lost) flow.owed = 0;
    return;
  }
  watch(flow);
  if (lost && flow.connect_op != nullptr) return finish_connect(flow, CWY_ERR_UNREACHABLE);
  const auto tell = [&flow](cwy_peer_state state) {
    conduit::tell_peer_state(flow.ep->params, flow.peer, state, why_lost(flow));
  };
  if (!std::exchange(flow.suspected, true)) {
    flow.lost_at = now;
    tell(CWY_PEER_SUSPECT);
  }
  if (!lost || now - flow.lost_at < grace_ns) return;
  flow.reported = true;
  tell(CWY_PEER_FAILED);
}

void connect_path(Flow& flow, int p) {
  Path& path = flow.path[p];
  Endpoint& ep = *flow.ep;
  if (!flow.confirmed) make_hello(flow, p);
  cwyc_conn* const conn = fresh_connection(flow, p);
  const cwyc_peer_desc desc = seen_by(flow, p);
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

// Messages go over the other path from now on, if there is one.
static void leave_path(Flow& flow, int p) {
  if (flow.current != p || !flow.is_up(1 - p)) return;
  flow.current = 1 - p;
  flow.ep->switches.add(1);
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
  path.tell_loss = path.state == PathState::up && !path.on_trial;
  path.on_trial = path.answer_due = false;
  if (path.failing_since == 0) path.failing_since = services->now();
  flow.probed_at = 0;
  post_again(flow);
  leave_path(flow, p);
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
  leave_path(flow, p);
  const cwyc_module& behind = flow.ep->behind(p);
  if (!in_order || was == PathState::connecting) behind.purge(path.conn());
  behind.disconnect(path.conn());
}

static void tend_path(Flow& flow, int p, uint64_t now) {
  Path& path = flow.path[p];
  if (path.broken || flow.purged) {
    const bool was_used = path.state != PathState::none && path.state != PathState::down;
    close_path(flow, p, false);
    if (was_used && !flow.over()) try_later(flow, path, now);
  }
  if (flow.over() || !flow.described || flow.ep->closing) return;
  if (path.tell_broken && flow.is_up(1 - p))
    path.tell_broken = !send_control(flow, 1 - p, Kind::broken, word_of(p, path.breaks));
  if (path.state == PathState::connecting && path.failing_since != 0 &&
      now - path.began_at > longest_attempt_ns) {
    close_path(flow, p, false);
    try_later(flow, path, now);
  }
  if (flow.is_up(p) && path.on_trial) try_path(flow, p, now);
  if (path.state == PathState::down && now >= path.retry_at && flow.is_wanted())
    connect_path(flow, p);
  if (path.answer_due && flow.is_up(p))
    path.answer_due = !send_control(flow, p, Kind::answer, path.to_answer);
  if (path.broken || (path.tell_broken && flow.is_up(1 - p)) || (path.answer_due && flow.is_up(p)))
    want_attention(flow);
}

void tend_paths(Flow& flow, uint64_t now) {
  if (flow.described && !flow.over()) choose_paths(flow);
  for (int p = 0; p < paths; ++p) tend_path(flow, p, now);
  tell_loss(flow, now);
}

void look_for_silence(Flow& flow, uint64_t now) {
  if (!flow.keeps() || flow.over() || !flow.has_path()) return;
  const Options& options = flow.ep->front->options;
  uint64_t moved_at = now;
  for (const Lane& lane : flow.lane)
    if (lane.count != 0) moved_at = std::min(moved_at, lane.moved_at);
  if (flow.probed_at != 0 && moved_at > flow.probed_at) flow.probed_at = 0;
  if (flow.probed_at == 0) {
    if (now - moved_at < options.probe_after_ns) return;
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
  flow.probed_at = 0;
  bool all = true;
  for (int p = 0; p < paths; ++p) {
    const Path& path = flow.path[p];
    if (!flow.is_trusted(p) || path.answered) continue;
    all = false;
    break_path(flow, p, "it does not answer, while the other path does", true);
  }
  if (!all) return;
  // All that are up work. Where the acknowledgement has not come all the same, messages went down
  // with a connection that the peer gave up after this side had made it anew.
  post_again(flow);
  for (Lane& lane : flow.lane) lane.moved_at = now;
}

}  // namespace causeway::failover
