#include "vis/vis.h"

#include "am/send.h"
#include "base/call_arguments.h"
#include "base/context.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "kinds/places.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "object/local.h"
#include "object/team.h"
#include "progress/poll.h"
#include "progress/waiter.h"
#include "staging/transfer.h"
#include "thread/event_checks.h"
#include "vis/checks.h"
#include "vis/copy.h"
#include "vis/nest.h"
#include "vis/peer_completion.h"
#include "vis/transfer.h"

namespace causeway {
namespace {

// A form made ready to be copied or sent: two lists as they are, or a folded nest.
template <typename Form>
class Ready {
 public:
  Ready(const VectorForm& f)
      : dst_(Side::of_vector(f.dstlist, f.dstcount)),
        src_(Side::of_vector(f.srclist, f.srccount)) {}
  Ready(const IndexedForm& f)
      : dst_(Side::of_indexed(f.dstlist, f.dstcount, f.dstlen)),
        src_(Side::of_indexed(f.srclist, f.srccount, f.srclen)) {}

  bool fold(const char*) const { return dst_.runs != 0 && src_.runs != 0; }
  void check(const VisCall& call) const { check_totals(call, dst_, src_); }
  void copy(uintptr_t dst_bias, uintptr_t src_bias) {
    dst_.bias = dst_bias;
    src_.bias = src_bias;
    copy_lists(dst_, src_);
  }
  // Vectors may consist of empty pieces.
  bool has_bytes() const {
    size_t longest = 0;
    dst_.total(&longest);
    return longest != 0;
  }
  Side dst() const { return dst_; }
  Side src() const { return src_; }

 private:
  Side dst_, src_;
};

template <>
class Ready<StridedForm> {
 public:
  Ready(const StridedForm& form) : form_(form) {}

  bool fold(const char* call) {
    return nest_.fold(call, form_.dstaddr, form_.dststrides, form_.srcaddr, form_.srcstrides,
                      form_.elemsz, form_.count, form_.stridelevels);
  }
  void check(const VisCall&) const {}
  void copy(uintptr_t dst_bias, uintptr_t src_bias) { copy_nest(nest_, dst_bias, src_bias); }
  bool has_bytes() const { return true; }
  Side dst() { return nest_.dst_side(dst_levels_); }
  Side src() { return nest_.src_side(src_levels_); }

 private:
  const StridedForm& form_;
  Nest nest_;
  Level dst_levels_[Nest::kMaxLevels], src_levels_[Nest::kMaxLevels];
};

uintptr_t local_bias(const VisCall& call) {
  if (!(call.flags & GEX_FLAG_SELF_SEG_OFFSET)) return 0;
  return reinterpret_cast<uintptr_t>(local_address(*Team::of(call.tm), nullptr, call.flags));
}
uintptr_t remote_bias(const VisCall& call, const Peer& peer) {
  return reinterpret_cast<uintptr_t>(remote_address(peer, nullptr, call.flags));
}

Peer& peer_of(const VisCall& call) {
  return Team::of(call.tm)->member(call.rank);
}

// An armed handler is for puts that may not answer "no-op".
__attribute__((cold, noinline)) void require_completable(const VisCall& call) {
  if (call.operation == Operation::get)
    fatal(call.name, "a peer-completion handler is armed, and only puts can have one");
  if (call.flags & GEX_FLAG_IMMEDIATE)
    fatal(call.name, "GEX_FLAG_IMMEDIATE and a peer-completion handler exclude each other");
}

// A transfer of nothing ignores its team and rank. A handler that was armed for it shall run all
// the same: whoever armed it waits for it, and has named a peer.
void nothing_to_move(const VisCall& call) {
  if (!peer_completion_armed()) return;
  const PeerCompletion completion = take_peer_completion();
  if (call.tm == GEX_TM_INVALID || call.rank >= call.tm->size) return;
  notify(peer_of(call), completion);
}

// For diagnoses: the arguments in the order in which the client passed them.
void note_form(const VisCall& c, const VectorForm& f) {
  if (c.operation == Operation::put) {
    note_call(c.name, "tm, rank, dstcount, dstlist, srccount, srclist, flags", c.tm, c.rank,
              f.dstcount, f.dstlist, f.srccount, f.srclist, c.flags);
  } else {
    note_call(c.name, "tm, dstcount, dstlist, rank, srccount, srclist, flags", c.tm, f.dstcount,
              f.dstlist, c.rank, f.srccount, f.srclist, c.flags);
  }
}
void note_form(const VisCall& c, const IndexedForm& f) {
  if (c.operation == Operation::put) {
    note_call(c.name, "tm, rank, dstcount, dstlist, dstlen, srccount, srclist, srclen, flags", c.tm,
              c.rank, f.dstcount, f.dstlist, f.dstlen, f.srccount, f.srclist, f.srclen, c.flags);
  } else {
    note_call(c.name, "tm, dstcount, dstlist, dstlen, rank, srccount, srclist, srclen, flags", c.tm,
              f.dstcount, f.dstlist, f.dstlen, c.rank, f.srccount, f.srclist, f.srclen, c.flags);
  }
}
void note_form(const VisCall& c, const StridedForm& f) {
  if (c.operation == Operation::put) {
    note_call(c.name,
              "tm, rank, dstaddr, dststrides, srcaddr, srcstrides, elemsz, count, stridelevels, "
              "flags",
              c.tm, c.rank, f.dstaddr, f.dststrides, f.srcaddr, f.srcstrides, f.elemsz, f.count,
              f.stridelevels, c.flags);
  } else {
    note_call(c.name,
              "tm, dstaddr, dststrides, rank, srcaddr, srcstrides, elemsz, count, stridelevels, "
              "flags",
              c.tm, f.dstaddr, f.dststrides, c.rank, f.srcaddr, f.srcstrides, f.elemsz, f.count,
              f.stridelevels, c.flags);
  }
}

// Does what needs no operation: transfers of nothing, and peers whose memory is mapped here.
template <typename Form>
inline bool done_at_once(const VisCall& call, const Form& form, Ready<Form>& ready, bool blocking) {
  if (__builtin_expect(g_checks, 0)) note_form(call, form);
  require_client_context(call.name, thread_state());
  if (peer_completion_armed()) require_completable(call);
  if (__builtin_expect(context().checks(), 0)) {
    check_flags(call, blocking);
    check_arrays(call, form);
    ready.check(call);
  }
  if (!ready.fold(call.name)) {
    nothing_to_move(call);
    return true;
  }
  if (__builtin_expect(context().checks(), 0) && call.tm == GEX_TM_INVALID)
    fatal(call.name, "the team is GEX_TM_INVALID");
  // Where the bound segment is mapped says nothing of memory beyond it.
  if (__builtin_expect(may_be_elsewhere(call.flags), 0)) return false;
  const intptr_t delta = cwy_direct_delta(call.tm, call.rank, 0);  // never, with checks
  if (!cwy_is_direct(delta)) return false;
  uintptr_t remote = static_cast<uintptr_t>(delta);
  if (call.flags & GEX_FLAG_PEER_SEG_OFFSET) remote += remote_bias(call, peer_of(call));
  const bool put = call.operation == Operation::put;
  const uintptr_t local = local_bias(call);
  ready.copy(put ? remote : local, put ? local : remote);
  cwy_direct_done(__ATOMIC_ACQ_REL);
  if (peer_completion_armed()) notify(peer_of(call), take_peer_completion());
  return true;
}

// Where the flags allow memory beyond the bound segment: is any of it?
Reach reach_of(const VisCall& call, const Peer& peer, const Side& remote) {
  if (__builtin_expect(!may_be_elsewhere(call.flags), 1)) return Reach::bound;
  for (Cursor at(remote); at.left() != 0; at.advance(at.left())) {
    const auto addr = reinterpret_cast<uint64_t>(at.addr());
    if (in_known_segment(peer, addr, at.left(), kUnbound)) continue;
    return call.flags & GEX_FLAG_PEER_SEG_UNKNOWN ? Reach::anywhere : Reach::segments;
  }
  return Reach::bound;
}

// Pieces of one side are all host memory, or all in the segment of device memory that is bound
// there: the specification knows no address that may be either.
void require_one_kind(const VisCall& call, const Side& local) {
  bool any = false, any_host = false;
  for (Cursor at(local); at.left() != 0; at.advance(at.left())) {
    const bool on_device = device_at(call.name, at.addr(), at.left()) != nullptr;
    any |= on_device;
    any_host |= !on_device;
    if (any && any_host) {
      fatal(call.name,
            "the local pieces lie in memory of different kinds ({} is {}); one call has one kind "
            "on each side",
            static_cast<void*>(at.addr()), on_device ? "device memory" : "not device memory");
    }
  }
}
void require_device_side(const VisCall& call, const Peer& peer, const Side& remote) {
  if (peer.segment.device == nullptr || may_be_elsewhere(call.flags)) return;
  for (Cursor at(remote); at.left() != 0; at.advance(at.left())) {
    if (in_bound_segment(peer, reinterpret_cast<uint64_t>(at.addr()), at.left())) continue;
    fatal(call.name,
          "the remote pieces lie in memory of different kinds ({} is outside of the segment of "
          "device memory of rank {}); one call has one kind on each side",
          static_cast<void*>(at.addr()), peer.rank);
  }
}

// Begins what done_at_once() left: as start_transfer(), having polled before a CWY_RETRY.
template <typename Form>
cwy_status start(const VisCall& call, Ready<Form>& ready, cwyc_op* op) {
  if (__builtin_expect(context().checks(), 0)) {
    require_rank(call.name, call.tm, call.rank);
    require_capability(call.name, *Team::of(call.tm)->ep(), GEX_EP_CAPABILITY_VIS, "VIS");
  }
  Peer& peer = peer_of(call);
  Side dst = ready.dst(), src = ready.src();
  const bool put = call.operation == Operation::put;
  (put ? src : dst).bias = local_bias(call);
  (put ? dst : src).bias = remote_bias(call, peer);
  if (__builtin_expect(context().checks(), 0)) check_places(call, peer, dst, src);
  if (!ready.has_bytes()) {
    nothing_to_move(call);
    return CWY_OK;
  }
  const bool device = has_device_end(peer);
  if (__builtin_expect(device, 0)) {
    require_one_kind(call, put ? src : dst);
    require_device_side(call, peer, put ? dst : src);
  }
  const PeerCompletion completion =
      peer_completion_armed() ? take_peer_completion() : PeerCompletion{};
  const cwy_status status =
      start_transfer({call.name, call.operation, peer, put ? src : dst, put ? dst : src,
                      reach_of(call, peer, put ? dst : src), (call.flags & GEX_FLAG_IMMEDIATE) != 0,
                      device && is_in_reach(peer), completion},
                     op);
  if (status == CWY_RETRY) poll_for_client();
  return status;
}

constexpr uint32_t need_bits(Operation operation) {
  return operation == Operation::put ? CWYC_DONE_LOCAL | CWYC_DONE_REMOTE : CWYC_DONE_REMOTE;
}

}  // namespace

template <typename Form>
int vis_blocking(const VisCall& call, const Form& form) {
  Ready<Form> ready(form);
  if (done_at_once(call, form, ready, true)) return 0;
  ThreadState& thread = thread_state();
  Op* op = thread.ops.take();
  op->arm_explicit(need_bits(call.operation));
  const cwy_status status = start<Form>(call, ready, &op->conduit);
  if (status == CWY_INPROGRESS) {
    WaiterFor waiter(wait_for(call.name, Team::of(call.tm)->member(call.rank)));
    while (!op->complete()) waiter.step();
  }
  thread.ops.give(op);
  return status == CWY_RETRY;
}

template <typename Form>
int vis_nbi(const VisCall& call, const Form& form) {
  Ready<Form> ready(form);
  if (done_at_once(call, form, ready, false)) return 0;
  ThreadState& thread = thread_state();
  Op* op = thread.ops.take();
  const bool put = call.operation == Operation::put;
  const bool group = put && (call.flags & GEX_FLAG_ENABLE_LEAF_LC);
  const unsigned category = put ? kCategoryPut : kCategoryGet;
  ImplicitOps* const set = thread.nbi;
  op->arm_implicit(set, category, group, kCategoryLc, need_bits(call.operation));
  const cwy_status status = start<Form>(call, ready, &op->conduit);
  if (status == CWY_INPROGRESS) {
    ++set->initiated[category];
    if (group) ++set->initiated[kCategoryLc];
    return 0;
  }
  thread.ops.give(op);
  return status == CWY_RETRY;
}

template <typename Form>
gex_Event_t vis_nb(const VisCall& call, const Form& form) {
  Ready<Form> ready(form);
  if (done_at_once(call, form, ready, false)) return GEX_EVENT_INVALID;
  ThreadState& thread = thread_state();
  Op* op = thread.ops.take();
  op->arm_explicit(need_bits(call.operation));
  const cwy_status status = start<Form>(call, ready, &op->conduit);
  if (status == CWY_INPROGRESS) {
    op->is_about(call.operation == Operation::put ? kCategoryPut : kCategoryGet,
                 Team::of(call.tm)->job_rank(call.rank));
    auto* const event = reinterpret_cast<gex_Event_t>(op);
    if (__builtin_expect(context().checks(), 0))
      note_event(call.name, event, call.flags & GEX_FLAG_ENABLE_LEAF_LC ? GEX_EC_LC : 0);
    return event;
  }
  thread.ops.give(op);
  return status == CWY_RETRY ? GEX_EVENT_NO_OP : GEX_EVENT_INVALID;
}

template int vis_blocking(const VisCall&, const VectorForm&);
template int vis_blocking(const VisCall&, const IndexedForm&);
template int vis_blocking(const VisCall&, const StridedForm&);
template int vis_nbi(const VisCall&, const VectorForm&);
template int vis_nbi(const VisCall&, const IndexedForm&);
template int vis_nbi(const VisCall&, const StridedForm&);
template gex_Event_t vis_nb(const VisCall&, const VectorForm&);
template gex_Event_t vis_nb(const VisCall&, const IndexedForm&);
template gex_Event_t vis_nb(const VisCall&, const StridedForm&);

void arm_peer_completion(gex_AM_Index_t handler, const void* source, size_t length,
                         gex_Flags_t flags) {
  constexpr const char* kCall = "gex_VIS_SetPeerCompletionHandler()";
  note_call(kCall, "handler, source_addr, nbytes, flags", handler, source, length, flags);
  if (handler == 0) {
    tls_peer_completion = PeerCompletion{};
    return;
  }
  if (handler < GEX_AM_INDEX_BASE)
    fatal(kCall, "handler {} is neither 0 nor in [{}, 255]", handler, GEX_AM_INDEX_BASE);
  if (length > kMaxPeerCompletion) {
    fatal(kCall, "a payload of {} bytes is over GEX_VIS_MAX_PEERCOMPLETION, {}", length,
          kMaxPeerCompletion);
  }
  if (length != 0 && source == nullptr)
    fatal(kCall, "source_addr is NULL, with a payload of {} bytes", length);
  require_no_flags(kCall, flags);
  tls_peer_completion = {handler, static_cast<uint32_t>(length), source};
}

}  // namespace causeway
