#include "connection/op_tables.h"

#include <causeway/operations.h>

#include <mutex>

#include "connection/conduit_set.h"
#include "connection/fallbacks.h"
#include "connection/peer.h"
#include "thread/thread_state.h"
#include "thread/tsan_annotations.h"

namespace causeway {

constinit Fallbacks fallbacks;

namespace {

// ---- annotated ----

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

[[maybe_unused]] void annotate_sends(cwyc_ops& native) {
  for_each_operation([&]<typename Each>(const Each& operation) {
    if (operation.reaches_peer) annotate<Each::member>(native.*Each::member);
  });
}

void clear_forbidden(cwyc_ops& ops, uint64_t caps) {
  for_each_operation([&]<typename Each>(const Each& operation) {
    const bool required = operation.capability == 0;
    if (!required && !(caps & operation.capability)) ops.*Each::member = nullptr;
  });
}

// ---- locked ----

const cwyc_ops& inner_of(cwyc_conn* conn) {
  return Connection::of(conn).cep->inner[conn->table];
}

template <auto Entry, typename... Args>
void lock(cwy_status (*&entry)(cwyc_conn*, Args...)) {
  entry = [](cwyc_conn* conn, Args... args) -> cwy_status {
    const std::lock_guard guard(Connection::of(conn).cep->mutex);
    return (inner_of(conn).*Entry)(conn, args...);
  };
}

// A negotiated send keeps the endpoint from prepare to commit or cancel: SERIAL conduits promise
// nothing about what others do in between.
cwy_status locked_prepare(cwyc_conn* conn, size_t least, size_t most, uint32_t nargs,
                          uint32_t flags, cwyc_am_slot* slot) {
  EntryLock& mutex = Connection::of(conn).cep->mutex;
  mutex.lock();
  const cwy_status status = inner_of(conn).am_prepare(conn, least, most, nargs, flags, slot);
  if (status != CWY_OK) mutex.unlock();
  return status;
}
// Commit or cancel.
template <auto Entry, typename... Args>
void lock(void (*&entry)(cwyc_conn*, Args...)) {
  entry = [](cwyc_conn* conn, Args... args) {
    (inner_of(conn).*Entry)(conn, args...);
    Connection::of(conn).cep->mutex.unlock();
  };
}

cwyc_ops locking_table() {
  cwyc_ops ops{};
  ops.head = CWY_HEAD(cwyc_ops);
  ops.concurrency = CWYC_SERIAL;
  for_each_operation([&]<typename Each>(const Each&) { lock<Each::member>(ops.*Each::member); });
  ops.am_prepare = locked_prepare;
  return ops;
}

// Fallbacks are made of messages, each of which takes the lock. They may not have it on the way
// there: they wait for room, and have locks of their own around other threads' messages.
void keep_unlocked(cwyc_ops& locking, const cwyc_ops& inner) {
  for_each_operation([&]<typename Each>(const Each&) {
    constexpr auto kMember = Each::member;
    if (!is_native<kMember>(inner)) locking.*kMember = fallbacks.emulated->*kMember;
  });
}

// ---- of aliases ----

template <auto Entry, typename Result, typename... Args>
void pass_on(Result (*&entry)(cwyc_conn*, Args...)) {
  entry = [](cwyc_conn* conn, Args... args) -> Result {
    cwyc_conn* const base = Connection::of(conn).base;
    return (base->ops->*Entry)(base, args...);
  };
}
// Messages carry the route.
template <auto Entry, typename... Args>
void pass_on(cwy_status (*&entry)(cwyc_conn*, uint64_t, const int32_t*, uint32_t, Args...)) {
  entry = [](cwyc_conn* conn, uint64_t word, const int32_t* values, uint32_t nargs,
             Args... args) -> cwy_status {
    const Connection& a = Connection::of(conn);
    return (a.base->ops->*Entry)(a.base, word | a.route, values, nargs, args...);
  };
}
template <auto Entry>
void pass_on(void (*&entry)(cwyc_conn*, cwyc_am_slot*, uint64_t, const int32_t*, uint32_t,
                            size_t)) {
  entry = [](cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
             uint32_t nargs, size_t length) {
    const Connection& a = Connection::of(conn);
    (a.base->ops->*Entry)(a.base, slot, word | a.route, args, nargs, length);
  };
}

// Fallbacks start at the alias, so that the messages they are made of are routed.
cwyc_ops alias_table(const cwyc_ops& base) {
  cwyc_ops ops{};
  ops.head = CWY_HEAD(cwyc_ops);
  ops.concurrency = CWYC_MULTI;
  for_each_operation([&]<typename Each>(const Each&) {
    constexpr auto kMember = Each::member;
    if (is_native<kMember>(base))
      pass_on<kMember>(ops.*kMember);
    else
      ops.*kMember = fallbacks.emulated->*kMember;
  });
  return ops;
}

cwyc_ops device_table(const cwyc_ops& alias) {
  cwyc_ops ops = alias;
  for_each_operation([&]<typename Each>(const Each&) {
    constexpr auto kMember = Each::member;
    if (fallbacks.device->*kMember != nullptr) ops.*kMember = fallbacks.device->*kMember;
  });
  return ops;
}

}  // namespace

void fill_with_emulation(cwyc_ops& ops) {
  for_each_operation([&]<typename Each>(const Each&) {
    if (ops.*Each::member == nullptr) ops.*Each::member = fallbacks.emulated->*Each::member;
  });
}

void make_tables(ConduitEp& cep) {
  for (size_t i = 0; i < cep.classes.size(); ++i) {
    cwyc_ops ops = cep.conduit->plugin().ops[i];
    if constexpr (kThreadSanitizer) annotate_sends(ops);
    clear_forbidden(ops, cep.classes[i].caps);
    fill_with_emulation(ops);
    cep.inner.push_back(ops);
    cep.ops.push_back(ops);
    cep.alias.push_back(alias_table(ops));
    cep.device.push_back(device_table(cep.alias.back()));
  }
}

void admit_threads(ConduitEp& cep) {
  cep.takes_over = cep.inner[0].concurrency != CWYC_MULTI;
  for (size_t i = 0; i < cep.ops.size(); ++i) {
    if (cep.inner[i].concurrency != CWYC_SERIAL) continue;
    cep.serial = true;
    cep.ops[i] = locking_table();
    keep_unlocked(cep.ops[i], cep.inner[i]);
  }
}

}  // namespace causeway
