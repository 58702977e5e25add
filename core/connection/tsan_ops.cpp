#include "connection/tsan_ops.h"

#include <causeway/operations.h>

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

template <auto Entry, typename Result, typename... Args>
void annotate(Result (*&entry)(cwyc_conn*, Args...)) {
  if (entry == nullptr) return;
  entry = [](cwyc_conn* conn, Args... args) -> Result {
    const SendAnnotation annotation;
    return (native_of(conn).*Entry)(conn, args...);
  };
}

}  // namespace

void annotate_sends(cwyc_ops& native) {
  for_each_operation([&]<typename Each>(const Each& operation) {
    if (operation.reaches_peer) annotate<Each::member>(native.*Each::member);
  });
}

}  // namespace causeway
