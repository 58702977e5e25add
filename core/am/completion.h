// Local completion of a medium's or long's payload, as `lc_opt` asks for it: chooses the operation
// to post with, and settles the client's event once the message was accepted.
#pragma once

#include <gasnetex.h>

#include "am/send.h"
#include "base/context.h"
#include "base/fatal.h"
#include "progress/waiter.h"
#include "thread/event_checks.h"
#include "thread/op.h"
#include "thread/thread_state.h"

namespace causeway {

// For `checks: full`: the client has the event now.
inline void note_handed_out(const char* call, gex_Event_t event) {
  if (__builtin_expect(context().checks(), 0)) note_event(call, event, 0);
}

// GEX_EVENT_NOW, GEX_EVENT_GROUP or the address of an event.
class RequestCompletion {
 public:
  RequestCompletion(const char* call, ThreadState& thread, gex_Event_t* lc_opt)
      : call_(call), thread_(thread), lc_opt_(lc_opt), op_(thread.ops.take()) {
    if (lc_opt == GEX_EVENT_GROUP)
      op_->arm_implicit(thread.nbi, kCategoryAm, false, 0, CWYC_DONE_LOCAL);
    else if (lc_opt == GEX_EVENT_NOW || is_leaf_pointer(lc_opt))
      op_->arm_explicit(CWYC_DONE_LOCAL);
    else
      fatal(call, "lc_opt must be GEX_EVENT_NOW, GEX_EVENT_GROUP or the address of an event");
  }
  cwyc_op* op() { return &op_->conduit; }
  // A call that may not wait shall not wait for its payload to be read either.
  uint32_t flags(gex_Flags_t flags) const {
    return lc_opt_ == GEX_EVENT_NOW && (flags & GEX_FLAG_IMMEDIATE) ? uint32_t{CWYC_SRC_VOLATILE}
                                                                    : 0u;
  }

  // The message was accepted with `status` (CWY_OK or CWY_INPROGRESS).
  void accepted(cwy_status status) {
    const bool pending = status == CWY_INPROGRESS;
    if (lc_opt_ == GEX_EVENT_GROUP) {
      if (pending) {
        ++thread_.nbi->initiated[kCategoryAm];
        return;
      }
    } else if (lc_opt_ == GEX_EVENT_NOW) {
      if (pending) {
        WaiterFor waiter({call_});
        while (!op_->complete()) waiter.step();
      }
    } else {
      *lc_opt_ = pending ? reinterpret_cast<gex_Event_t>(op_) : GEX_EVENT_INVALID;
      if (pending) return note_handed_out(call_, *lc_opt_);
    }
    thread_.ops.give(op_);
  }
  void refused() { thread_.ops.give(op_); }

 private:
  const char* call_;
  ThreadState& thread_;
  gex_Event_t* lc_opt_;
  Op* op_;
};

// At once, or by an event that only a later call outside the handler may wait for.
class ReplyCompletion {
 public:
  ReplyCompletion(const char* call, ThreadState& thread, gex_Event_t* lc_opt)
      : call_(call), thread_(thread), lc_opt_(lc_opt) {
    if (lc_opt == GEX_EVENT_NOW) return;
    if (!is_leaf_pointer(lc_opt))
      fatal(call, "lc_opt must be GEX_EVENT_NOW or the address of an event");
    op_ = thread.ops.take();
    op_->arm_explicit(CWYC_DONE_LOCAL);
  }
  cwyc_op* op() { return op_ != nullptr ? &op_->conduit : nullptr; }
  // Inside a handler nothing may be waited for, so NOW means: copy the source.
  uint32_t flags(gex_Flags_t) const { return op_ == nullptr ? uint32_t{CWYC_SRC_VOLATILE} : 0u; }

  void accepted(cwy_status status) {
    if (op_ == nullptr) return;
    if (status == CWY_INPROGRESS) {
      *lc_opt_ = reinterpret_cast<gex_Event_t>(op_);
      return note_handed_out(call_, *lc_opt_);
    }
    *lc_opt_ = GEX_EVENT_INVALID;
    thread_.ops.give(op_);
  }
  void refused() {
    if (op_ != nullptr) thread_.ops.give(op_);
  }

 private:
  const char* call_;
  ThreadState& thread_;
  gex_Event_t* lc_opt_;
  Op* op_ = nullptr;
};

}  // namespace causeway
