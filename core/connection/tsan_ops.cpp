#include "connection/tsan_ops.h"

#include "connection/conduit_set.h"
#include "connection/peer.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

const cwyc_ops& native_of(cwyc_conn* conn) {
  return Connection::of(conn).cep->conduit->plugin().ops[conn->table];
}

// Stands around a native call that sends. A handler in the library's own thread has accessed the
// client's memory before the call, so the reply is annotated before it. The call itself stores the
// payload of a long message, so the reply is annotated again after it.
class SendAnnotation {
 public:
  SendAnnotation() {
    annotate_send();
    if (replies_) annotate_reply();
  }
  ~SendAnnotation() {
    if (replies_) annotate_reply();
  }
  SendAnnotation(const SendAnnotation&) = delete;
  SendAnnotation& operator=(const SendAnnotation&) = delete;

 private:
  static bool in_own_handler() {
    const ThreadState* const thread = tls_thread_state;
    return thread != nullptr && thread->internal && thread->context != Context::client;
  }
  const bool replies_ = in_own_handler();
};

template <auto Entry, typename... Args>
cwy_status annotated(cwyc_conn* conn, Args... args) {
  const SendAnnotation annotation;
  return (native_of(conn).*Entry)(conn, args...);
}

void annotated_commit(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
                      uint32_t nargs, size_t length) {
  const SendAnnotation annotation;
  native_of(conn).am_commit(conn, slot, word, args, nargs, length);
}

template <auto Entry>
void annotate(cwyc_ops& ops) {
  if (ops.*Entry != nullptr) ops.*Entry = annotated<Entry>;
}

}  // namespace

void annotate_sends(cwyc_ops& native) {
  annotate<&cwyc_ops::put_small>(native);
  annotate<&cwyc_ops::put>(native);
  annotate<&cwyc_ops::put_notify>(native);
  annotate<&cwyc_ops::putv>(native);
  annotate<&cwyc_ops::atomic>(native);
  annotate<&cwyc_ops::am_short>(native);
  annotate<&cwyc_ops::am_medium>(native);
  annotate<&cwyc_ops::am_long>(native);
  if (native.am_commit != nullptr) native.am_commit = annotated_commit;
}

}  // namespace causeway
