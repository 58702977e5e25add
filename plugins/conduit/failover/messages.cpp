// Messages on their way out: kept, handed to a path, acknowledged, given up.
#include <cstring>
#include <new>

#include "calls.h"
#include "module.h"

namespace causeway::failover {
namespace {

void free_if_done(Frame* frame) {
  if (frame->done && frame->reading == 0) frame->ep->frames.give(frame);
}

// The conduit behind has read the message, or will not read it any more.
void end_reading(Frame* frame, int path) {
  frame->reading = static_cast<uint8_t>(frame->reading & ~(1u << path));
  --frame->ep->reading;
  free_if_done(frame);
}
void was_read(cwyc_op* op, uint32_t, cwy_status, const cwy_detail*) {
  const auto* const post = reinterpret_cast<Frame::Post*>(op);
  end_reading(post->frame, post->path);
}

uint32_t flags_of(uint32_t lane) {
  return lane == 1 ? uint32_t{CWYC_LANE_REPLY} : 0;
}

struct Args {
  int32_t words[wire_args];
};
Args args_of(const Flow& flow, const First& first) {
  Args args{};
  std::memcpy(args.words, &first, sizeof first);
  args.words[1] = static_cast<int32_t>(flow.ep->name);
  for (uint32_t lane = 0; lane < lanes; ++lane)
    args.words[2 + lane] = static_cast<int32_t>(static_cast<uint32_t>(flow.lane[lane].expected));
  return args;
}

const cwyc_ops& ops_of(const Flow& flow, int path) {
  return flow.ep->front->behind[path]->ops[flow.path[path].conn()->table].table();
}

// Hands a message to the conduit behind, which may deliver to this process meanwhile.
template <class Call>
cwy_status hand_over(Flow& flow, int path, const First& first, Call&& call) {
  const Args args = args_of(flow, first);
  ++flow.ep->depth;
  const cwy_status status = call(ops_of(flow, path), flow.path[path].conn(), args.words);
  --flow.ep->depth;
  return status;
}
void give_up_if_refused(Flow& flow, int path, cwy_status status) {
  if (!wrapping::accepted(status) && status != CWY_RETRY)
    break_path(flow, path, "a message was refused", true);
}

cwy_status post(Flow& flow, int path, Frame* frame) {
  Frame::Post& mine = frame->posts[path];
  mine.op.fn = was_read;
  frame->reading =
      static_cast<uint8_t>(frame->reading | 1u << path);  // the report may come at once
  ++flow.ep->reading;
  const cwy_status status = hand_over(
      flow, path, frame->first, [&](const cwyc_ops& ops, cwyc_conn* conn, const int32_t* args) {
        return ops.am_medium(conn, frame->number, args, wire_args, frame->bytes(), nullptr,
                             frame->length, flags_of(frame->first.lane), &mine.op);
      });
  if (status != CWY_INPROGRESS) end_reading(frame, path);
  return status;
}

// Until the path takes no more, or has been given up.
void push_lane(Flow& flow, uint32_t which) {
  Lane& lane = flow.lane[which];
  while (lane.posted < lane.count) {
    const int path = flow.current;
    Frame* const frame = lane.at(lane.posted);
    // A conduit that still reads it for an earlier post gets it when it has done so.
    if ((frame->reading & 1u << path) != 0) {
      flow.wants_room = true;
      return;
    }
    // Counted first: a message to oneself may be acknowledged before its post returns.
    ++lane.posted;
    const cwy_status status = post(flow, path, frame);
    if (wrapping::accepted(status)) {
      flow.owed = 0;
      continue;
    }
    --lane.posted;
    flow.wants_room = status == CWY_RETRY;
    give_up_if_refused(flow, path, status);
    return;
  }
}

// The oldest that are kept will not be sent any more.
void drop_oldest(Lane& lane, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    Frame* const frame = lane.at(i);
    frame->done = true;
    free_if_done(frame);
  }
  lane.base += count;
  lane.count -= count;
  lane.posted = lane.posted > count ? lane.posted - count : 0;
}

}  // namespace

void push(Flow& flow) {
  if (flow.pushing || flow.over() || !flow.is_up(flow.current)) return;
  flow.pushing = true;
  flow.wants_room = false;
  const bool inside = flow.ep->depth != 0;
  const int path = flow.current;
  // A peer that the sender has not been introduced to could not answer.
  if (!flow.path[path].hello_due || send_hello(flow, path)) {
    push_lane(flow, 1);
    if (!inside) push_lane(flow, 0);
  } else {
    flow.wants_room = true;
  }
  flow.pushing = false;
  if (flow.lane[0].posted < flow.lane[0].count || flow.lane[1].posted < flow.lane[1].count)
    want_attention(flow);
}

bool send_control(Flow& flow, int path, Kind kind, uint64_t word) {
  if (!flow.is_up(path)) return false;
  const cwy_status status = hand_over(
      flow, path, {kind, 0, 0, 0}, [&](const cwyc_ops& ops, cwyc_conn* conn, const int32_t* args) {
        return ops.am_short(conn, word, args, wire_args, CWYC_LANE_REPLY);
      });
  give_up_if_refused(flow, path, status);
  return wrapping::accepted(status);
}

bool send_hello(Flow& flow, int path) {
  Path& its = flow.path[path];
  its.hello_op.fn = [](cwyc_op*, uint32_t, cwy_status, const cwy_detail*) {};
  const cwy_status status =
      hand_over(flow, path, {Kind::hello, 0, 0, 0},
                [&](const cwyc_ops& ops, cwyc_conn* conn, const int32_t* args) {
                  return ops.am_medium(conn, 0, args, wire_args, its.hello.data(), nullptr,
                                       its.hello.size(), CWYC_LANE_REPLY, &its.hello_op);
                });
  give_up_if_refused(flow, path, status);
  if (wrapping::accepted(status)) its.hello_due = false;
  return wrapping::accepted(status);
}

void acknowledge(Flow& flow) {
  if (flow.owed == 0 || flow.over()) return;
  const int path = flow.is_up(flow.heard) ? flow.heard : 1 - flow.heard;
  if (send_control(flow, path, Kind::ack, 0)) flow.owed = 0;
}

void take_acknowledgements(Flow& flow, const int32_t* args) {
  for (uint32_t which = 0; which < lanes; ++which) {
    Lane& lane = flow.lane[which];
    const uint32_t more = static_cast<uint32_t>(args[2 + which]) - static_cast<uint32_t>(lane.base);
    if (more == 0 || more > lane.count) continue;  // nothing new, or older than what is known
    drop_oldest(lane, more);
    lane.moved_at = services->now();
  }
}

void drop_kept(Flow& flow) {
  for (Lane& lane : flow.lane) drop_oldest(lane, lane.count);
}

// ---- the table's part

namespace {

cwy_status accept(cwyc_conn* conn, uint8_t form, uint64_t word, const int32_t* args, uint32_t nargs,
                  const void* payload, size_t length, uint32_t flags) {
  auto* const flow = static_cast<Flow*>(conn->priv);
  if (flow == nullptr || flow->over() || flow->reported) return CWY_ERR_PEER_FAILED;
  Endpoint& ep = *flow->ep;
  if (nargs > CWYC_AM_MAX_ARGS || length > ep.medium_max) return CWY_ERR_INVALID;
  const uint32_t which = (flags & CWYC_LANE_REPLY) != 0 ? 1 : 0;
  Lane& lane = flow->lane[which];
  if (lane.count == lane.kept.size()) {
    push(*flow);
    return CWY_RETRY;
  }
  const size_t before = before_payload(nargs);
  Frame* const frame = ep.frames.take(before + length, most_before_payload + ep.medium_max);
  if (frame == nullptr) return lane.count != 0 ? CWY_RETRY : CWY_ERR_NOMEM;
  frame->ep = &ep;
  frame->done = false;
  frame->number = lane.base + lane.count;
  frame->first = {Kind::data, static_cast<uint8_t>(which), static_cast<uint8_t>(nargs), form};
  frame->length = before + length;
  const DataHeader header{word, 0};
  std::memcpy(frame->bytes(), &header, sizeof header);
  if (nargs != 0) std::memcpy(frame->bytes() + sizeof header, args, nargs * sizeof *args);
  if (length != 0) std::memcpy(frame->bytes() + before, payload, length);
  if (lane.count == 0) lane.moved_at = services->now();
  lane.at(lane.count++) = frame;
  watch(*flow);
  push(*flow);
  return CWY_OK;
}

}  // namespace

cwy_status Conduit::am_short(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                             uint32_t flags) {
  return accept(conn, CWYC_AM_SHORT, word, args, nargs, nullptr, 0, flags);
}

cwy_status Conduit::am_medium(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                              const void* payload, cwyc_mem*, size_t length, uint32_t flags,
                              cwyc_op*) {
  return accept(conn, CWYC_AM_MEDIUM, word, args, nargs, payload, length, flags);
}

// ---- frames

FramePool::~FramePool() {
  for (Frame* frame : all_) {
    frame->~Frame();
    ::operator delete (frame, std::align_val_t{16});
  }
}

Frame* FramePool::take(size_t length, size_t longest) try {
  const bool large = length > small_room;
  Frame*& list = free_[large ? 1 : 0];
  if (list != nullptr) {
    Frame* const frame = list;
    list = frame->next;
    return frame;
  }
  const size_t room = large ? longest : small_room;
  if (all_.size() == all_.capacity()) all_.reserve(2 * all_.size() + 16);
  auto* const frame =
      new (::operator new (padded(sizeof(Frame)) + room, std::align_val_t{16})) Frame;
  all_.push_back(frame);
  frame->room = room;
  for (uint8_t path = 0; path < paths; ++path) {
    frame->posts[path].frame = frame;
    frame->posts[path].path = path;
  }
  return frame;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void FramePool::give(Frame* frame) {
  Frame*& list = free_[frame->room > small_room ? 1 : 0];
  frame->next = list;
  list = frame;
}

}  // namespace causeway::failover
