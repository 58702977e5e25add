#include "select/tsan_ops.h"

#include "object/peer.h"
#include "progress/thread_state.h"
#include "select/conduit_set.h"

namespace causeway {
namespace {

const cwyc_ops& native_of(cwyc_conn* conn) {
  return Connection::of(conn).cep->conduit->plugin().ops[conn->table];
}

// Around a native call that sends. A handler in the library's own thread has done before it what it
// did for the client; the call itself stores a long message's payload, and is told when it is over.
class Leaves {
 public:
  Leaves() {
    note_sent();
    if (replies_) note_replied();
  }
  ~Leaves() {
    if (replies_) note_replied();
  }
  Leaves(const Leaves&) = delete;
  Leaves& operator=(const Leaves&) = delete;

 private:
  static bool in_own_handler() {
    const ThreadState* const thread = tls_thread_state;
    return thread != nullptr && thread->internal && thread->context != Context::client;
  }
  const bool replies_ = in_own_handler();
};

template <auto Entry, typename... Args>
cwy_status told(cwyc_conn* conn, Args... args) {
  const Leaves leaves;
  return (native_of(conn).*Entry)(conn, args...);
}

void told_commit(cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
                 uint32_t nargs, size_t length) {
  const Leaves leaves;
  native_of(conn).am_commit(conn, slot, word, args, nargs, length);
}

template <auto Entry>
void tell(cwyc_ops& ops) {
  if (ops.*Entry != nullptr) ops.*Entry = told<Entry>;
}

}  // namespace

void tell_what_leaves(cwyc_ops& native) {
  tell<&cwyc_ops::put_small>(native);
  tell<&cwyc_ops::put>(native);
  tell<&cwyc_ops::put_notify>(native);
  tell<&cwyc_ops::putv>(native);
  tell<&cwyc_ops::atomic>(native);
  tell<&cwyc_ops::am_short>(native);
  tell<&cwyc_ops::am_medium>(native);
  tell<&cwyc_ops::am_long>(native);
  if (native.am_commit != nullptr) native.am_commit = told_commit;
}

}  // namespace causeway
