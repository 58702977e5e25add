// The tables that a conduit hands to the core, from a class whose static members are its calls.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>

#include "plugin_services.h"

namespace causeway::conduit {

// The type of the function that a member of cwyc_ops or cwyc_module points to: what declares a
// conduit's own.
template <auto Member>
struct Pointee;
template <class Table, class Function, Function* Table::*Member>
struct Pointee<Member> {
  using type = Function;
};
template <auto Member>
using Call = typename Pointee<Member>::type;

// `P` has the calls that every conduit has; of those that a conduit may lack, each that it has, and
// those of memory all or none. `P::concurrency` is how many threads may enter.
template <class P>
constexpr cwyc_ops operations_of() {
  cwyc_ops o{};
  o.head = CWY_HEAD(cwyc_ops);
  o.concurrency = P::concurrency;
  o.am_short = P::am_short;
  o.am_medium = P::am_medium;
  if constexpr (requires { &P::put; }) {
    o.put = P::put;
    o.get = P::get;
    o.atomic = P::atomic;
    o.am_long = P::am_long;
    o.am_prepare = P::am_prepare;
    o.am_commit = P::am_commit;
    o.am_cancel = P::am_cancel;
  }
  if constexpr (requires { &P::putv; }) o.putv = P::putv;
  if constexpr (requires { &P::getv; }) o.getv = P::getv;
  return o;
}

// Where a conduit has nothing else to do than to delete them. Templates, since the types are the
// conduit's.
template <class P, class Domain = cwyc_domain>
void close_domain(Domain* domain) {
  delete domain;
}
template <class P, class Rkey = cwyc_rkey>
void close_rkey(cwyc_ep*, Rkey* rkey) {
  delete rkey;
}

template <class P>
constexpr cwyc_module module_of(const cwyc_ops* const* tables) {
  cwyc_module m{};
  m.head = CWY_HEAD(cwyc_module);
  m.ops_count = 1;
  m.ops = tables;
  if constexpr (requires { &P::list_devices; }) m.list_devices = P::list_devices;
  m.domain_open = P::domain_open;
  if constexpr (requires { &P::domain_close; })
    m.domain_close = P::domain_close;
  else
    m.domain_close = close_domain<P>;
  m.ep_open = P::ep_open;
  m.ep_close = P::ep_close;
  m.ep_query = P::ep_query;
  m.ep_address = P::ep_address;
  if constexpr (requires { &P::ep_threads; }) m.ep_threads = P::ep_threads;
  m.reach = P::reach;
  m.connect = P::connect;
  m.disconnect = P::disconnect;
  m.purge = P::purge;
  if constexpr (requires { &P::mem_alloc; }) m.mem_alloc = P::mem_alloc;
  if constexpr (requires { &P::mem_reg; }) {
    m.mem_reg = P::mem_reg;
    m.mem_release = P::mem_release;
    m.rkey_pack = P::rkey_pack;
    m.rkey_open = P::rkey_open;
    m.rkey_close = close_rkey<P>;
  }
  if constexpr (requires { &P::rkey_close; }) m.rkey_close = P::rkey_close;
  if constexpr (requires { &P::rkey_direct; }) m.rkey_direct = P::rkey_direct;
  m.progress = P::progress;
  if constexpr (requires { &P::wait_fd; }) m.wait_fd = P::wait_fd;
  if constexpr (requires { &P::arm; }) m.arm = P::arm;
  if constexpr (requires { &P::nap; }) m.nap = P::nap;
  if constexpr (requires { &P::ep_stats; }) m.ep_stats = P::ep_stats;
  if constexpr (requires { &P::ep_traffic; }) m.ep_traffic = P::ep_traffic;
  if constexpr (requires { &P::wiring; }) m.wiring = P::wiring;
  if constexpr (requires { &P::configure; }) m.configure = P::configure;
  if constexpr (requires { &P::fini; }) m.fini = P::fini;
  if constexpr (requires { &P::am_retain; }) {
    m.am_retain = P::am_retain;
    m.am_release = P::am_release;
  }
  return m;
}

template <class P>
struct Tables {
  static constexpr cwyc_ops operations = operations_of<P>();
  static constexpr const cwyc_ops* list[] = {&operations};
  static constexpr cwyc_module module = module_of<P>(list);
  static cwy_status start(const cwy_services* core, const char* name, const cwyc_module** out) {
    conduit::start(core, name);
    *out = &module;
    return CWY_OK;
  }
};

}  // namespace causeway::conduit
