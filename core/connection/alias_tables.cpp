#include "connection/alias_tables.h"

#include <causeway/operations.h>

#include "connection/conduit_set.h"
#include "connection/fallbacks.h"
#include "connection/peer.h"

namespace causeway {
namespace {

const Connection& alias_of(cwyc_conn* conn) {
  return Connection::of(conn);
}

template <auto Entry, typename Result, typename... Args>
void pass_on(Result (*&entry)(cwyc_conn*, Args...)) {
  entry = [](cwyc_conn* conn, Args... args) -> Result {
    cwyc_conn* const base = alias_of(conn).base;
    return (base->ops->*Entry)(base, args...);
  };
}
// Messages carry the route.
template <auto Entry, typename... Args>
void pass_on(cwy_status (*&entry)(cwyc_conn*, uint64_t, const int32_t*, uint32_t, Args...)) {
  entry = [](cwyc_conn* conn, uint64_t word, const int32_t* values, uint32_t nargs,
             Args... args) -> cwy_status {
    const Connection& a = alias_of(conn);
    return (a.base->ops->*Entry)(a.base, word | a.route, values, nargs, args...);
  };
}
template <auto Entry>
void pass_on(void (*&entry)(cwyc_conn*, cwyc_am_slot*, uint64_t, const int32_t*, uint32_t,
                            size_t)) {
  entry = [](cwyc_conn* conn, cwyc_am_slot* slot, uint64_t word, const int32_t* args,
             uint32_t nargs, size_t length) {
    const Connection& a = alias_of(conn);
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
    if (is_native<kMember>(base)) {
      pass_on<kMember>(ops.*kMember);
    } else {
      ops.*kMember = fallbacks.emulated->*kMember;
    }
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

void make_alias_tables(ConduitEp& cep) {
  for (const cwyc_ops& base : cep.inner) {
    cep.alias.push_back(alias_table(base));
    cep.device.push_back(device_table(cep.alias.back()));
  }
}

}  // namespace causeway
