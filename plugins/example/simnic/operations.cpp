// Hot operations: each makes one entry of a send queue. A queue that is full, or as many requests
// under way as the completion queue has entries, is CWY_RETRY.
#include <cstring>

#include "atomic.h"
#include "conduit.h"

namespace simnic {
namespace {

// A doorbell costs a write to the device: beside what is being sent it is rung once for so many.
constexpr size_t kBatch = 8;

Lane lane_of(uint32_t flags) {
  return (flags & CWYC_LANE_REPLY) != 0 ? kAnswers : kRequests;
}

struct Post {
  cwyc_ep* ep = nullptr;
  Flow* flow = nullptr;
  Lane lane = kRequests;
  Work* work = nullptr;
};

Traffic& traffic_of(const Post& post) {
  return post.ep->traffic[post.flow->peer.rank];
}

cwy_status retry(const Post& post) {
  ++post.ep->retries;
  post.ep->starved = true;
  traffic_of(post).add(CWYC_RETRIES, 1);
  return CWY_RETRY;
}

cwy_status prepare(cwyc_conn* conn, uint32_t flags, uint16_t verb, Post& post) {
  const Link& link = link_of(conn);
  post = {conn->ep, link.flow, lane_of(flags), nullptr};
  const cwy_status status = may_post(conn);
  if (status != CWY_OK) return status == CWY_RETRY ? retry(post) : status;
  SendQueue& queue = post.flow->queue[post.lane];
  post.work = queue.next();
  if (post.work == nullptr) return retry(post);
  post.work->header = post.ep->adapter.header(verb);
  post.work->source = nullptr;
  post.work->sent_ticket = 0;
  const int64_t delay = post.ep->domain.traits.delay;
  post.work->turns =
      delay == 0 ? 0
                 : static_cast<int64_t>(post.ep->adapter.random() % static_cast<uint64_t>(delay));
  return CWY_OK;
}

// A request that the adapter completes. `op` is reported by it.
cwy_status prepare(cwyc_conn* conn, uint32_t flags, uint16_t verb, cwyc_op* op, uint32_t bits,
                   Post& post, Request** request) {
  cwy_status status = prepare(conn, flags, verb, post);
  if (status != CWY_OK) return status;
  *request = post.ep->begin(post.flow, op, bits, &post.work->header.ticket);
  return *request != nullptr ? CWY_OK : retry(post);
}

void copy_in(Work& work, const void* source, size_t length) {
  const char* const bytes = static_cast<const char*>(source);
  work.copy.assign(bytes, bytes + length);
}

void hand_over(Post& post) {
  SendQueue& queue = post.flow->queue[post.lane];
  const Header& h = post.work->header;
  traffic_of(post).add(CWYC_SENT, 1);
  traffic_of(post).add(CWYC_SENT_BYTES, h.verb == kGet ? 0 : h.length);
  const bool first = queue.idle();
  queue.post();
  if (!first && queue.unrung() < kBatch) return;
  queue.ring();
  ++post.ep->adapter.doorbells;
  post.ep->adapter.work(*post.flow);
}

cwy_status send_message(cwyc_conn* conn, uint16_t verb, uint64_t word, const int32_t* args,
                        uint32_t nargs, const void* payload, size_t length, uint64_t raddr,
                        uint64_t key, uint32_t flags, cwyc_op* op) {
  if (nargs > CWYC_AM_MAX_ARGS) return CWY_ERR_INVALID;
  Post post;
  cwy_status status = prepare(conn, flags, verb, post);
  if (status != CWY_OK) return status;
  // A reply waits for nothing that requests use up.
  const bool copied = length <= kCopied || (flags & (CWYC_SRC_VOLATILE | CWYC_LANE_REPLY)) != 0;
  if (!copied) {
    if (post.ep->begin(post.flow, op, CWYC_DONE_LOCAL, &post.work->sent_ticket) == nullptr)
      return retry(post);
    post.work->source = payload;
  } else {
    copy_in(*post.work, payload, length);
  }
  Header& h = post.work->header;
  h.word = word;
  h.raddr = raddr;
  h.key = key;
  h.length = static_cast<uint32_t>(length);
  h.nargs = static_cast<uint16_t>(nargs);
  if (nargs != 0) std::memcpy(h.args, args, nargs * sizeof *args);
  hand_over(post);
  return copied ? CWY_OK : CWY_INPROGRESS;
}

cwy_status am_short(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                    uint32_t flags) {
  return send_message(conn, kShort, word, args, nargs, nullptr, 0, 0, 0, flags, nullptr);
}

cwy_status am_medium(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                     const void* payload, cwyc_mem*, size_t length, uint32_t flags, cwyc_op* op) {
  if (length > kMediumMax[conn->table]) return CWY_ERR_INVALID;
  return send_message(conn, kMedium, word, args, nargs, payload, length, 0, 0, flags, op);
}

cwy_status am_long(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                   const void* payload, cwyc_mem*, size_t length, uint64_t raddr, cwyc_rkey* rkey,
                   uint32_t flags, cwyc_op* op) {
  if (length > rma_max(conn->ep->domain.traits, conn->table) || rkey == nullptr)
    return CWY_ERR_INVALID;
  return send_message(conn, kLong, word, args, nargs, payload, length, raddr, rkey->key, flags, op);
}

cwy_status put(cwyc_conn* conn, const void* src, cwyc_mem*, uint64_t raddr, cwyc_rkey* rkey,
               size_t length, uint32_t flags, cwyc_op* op) {
  if (rkey == nullptr) return CWY_ERR_INVALID;
  return post_put(conn, {src, raddr, rkey->key, length}, {}, flags, op);
}

cwy_status get(cwyc_conn* conn, void* dst, cwyc_mem*, uint64_t raddr, cwyc_rkey* rkey,
               size_t length, uint32_t flags, cwyc_op* op) {
  if (length > rma_max(conn->ep->domain.traits, conn->table) || rkey == nullptr)
    return CWY_ERR_INVALID;
  Post post;
  Request* request = nullptr;
  const cwy_status status = prepare(conn, flags, kGet, op, CWYC_DONE_REMOTE, post, &request);
  if (status != CWY_OK) return status;
  request->result = dst;
  request->length = static_cast<uint32_t>(length);
  Header& h = post.work->header;
  h.raddr = raddr;
  h.key = rkey->key;
  h.length = request->length;
  hand_over(post);
  return CWY_INPROGRESS;
}

cwy_status atomic(cwyc_conn* conn, const cwyc_atomic* a, cwyc_rkey* rkey, uint32_t flags,
                  cwyc_op* op) {
  if (rkey == nullptr || a->raddr % 8 != 0) return CWY_ERR_INVALID;
  Post post;
  Request* request = nullptr;
  const cwy_status status = prepare(conn, flags, kAtomic, op, CWYC_DONE_REMOTE, post, &request);
  if (status != CWY_OK) return status;
  request->result = a->result;
  request->length = 8;
  Header& h = post.work->header;
  h.raddr = a->raddr;
  h.key = rkey->key;
  h.opcode = a->opcode;
  h.operand1 = a->operand1;
  h.operand2 = a->operand2;
  hand_over(post);
  return CWY_INPROGRESS;
}

cwyc_ops make_operations(uint32_t table) {
  cwyc_ops ops{};
  ops.head = CWY_HEAD(cwyc_ops);
  ops.concurrency = CWYC_SERIAL;
  ops.put = put;
  ops.get = get;
  if (table == 0) ops.atomic = atomic;
  ops.am_short = am_short;
  ops.am_medium = am_medium;
  ops.am_long = am_long;
  return ops;
}

}  // namespace

cwy_status may_post(cwyc_conn* conn) {
  const Link& link = link_of(conn);
  if (link.purged) return CWY_ERR_PEER_FAILED;
  if (conn->ep->failed) return CWY_ERR_DEVICE_FAILED;
  if (link.flow->refused) return CWY_RETRY;  // until progress reports the peer
  return link.flow->from == nullptr || link.flow->left ? CWY_ERR_PEER_FAILED : CWY_OK;
}

bool has_room(cwyc_conn* conn) {
  return conn->ep->has_room() && link_of(conn).flow->queue[kRequests].next() != nullptr;
}

cwy_status post_put(cwyc_conn* conn, const Bytes& bytes, const Rider& rider, uint32_t flags,
                    cwyc_op* op) {
  if (bytes.length > rma_max(conn->ep->domain.traits, conn->table)) return CWY_ERR_INVALID;
  const bool copied = bytes.length <= kCopied;
  Post post;
  Request* request = nullptr;
  const cwy_status status =
      prepare(conn, flags, rider.verb, op, CWYC_DONE_REMOTE | (copied ? 0 : CWYC_DONE_LOCAL), post,
              &request);
  if (status != CWY_OK) return status;
  Header& h = post.work->header;
  h.raddr = bytes.raddr;
  h.key = bytes.key;
  h.length = static_cast<uint32_t>(bytes.length);
  h.word = rider.word;
  h.operand1 = rider.operand1;
  h.operand2 = rider.operand2;
  if (copied)
    copy_in(*post.work, bytes.source, bytes.length);
  else
    post.work->source = bytes.source;
  if (copied) op->fn(op, CWYC_DONE_LOCAL, CWY_OK, nullptr);
  hand_over(post);
  return CWY_INPROGRESS;
}

const cwyc_ops operations[] = {make_operations(0), make_operations(1)};

}  // namespace simnic
