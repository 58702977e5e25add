// The conduit `trace`: stands in front of another one and records every operation.
//
// SPDX-License-Identifier: BSD-3-Clause
#include <causeway/conduit.h>
#include <causeway/operations.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "../../common/guard.h"
#include "../../common/plugin_error.h"
#include "../common/wrapping.h"
#include "recorder.h"

CWY_MANIFEST(
    "causeway_manifest: 1\n"
    "kind: conduit\n"
    "name: trace\n"
    "version: 1.0.0\n"
    "api: '2.0'\n"
    "min_core_minor: 0\n"
    "summary: in front of another conduit, records every operation in a file per rank\n"
    "license: BSD-3-Clause\n"
    "options:\n"
    "  over: {type: string, default: shm, help: 'the conduit behind: a configured name, or a "
    "plugin'}\n"
    "  file: {type: string, default: causeway-trace.%r, help: 'where; %r is the rank'}\n"
    "  size: {type: size, default: 16MiB, min: 64KiB, max: 1TiB, help: 'of one file; the newest "
    "records are kept'}\n"
    "  direct: {type: bool, default: false, help: 'leave loads and stores to mapped peers, which "
    "nobody records'}\n");

namespace causeway::trace {
namespace {

using wrapping::Front;
using wrapping::local_bit;
using wrapping::remote_bit;

using conduit::services;

struct TraceFront : wrapping::Front {
  using Front::Front;
  std::string path;
  uint64_t bytes = 0;
  std::unique_ptr<Recorder> owner;
  // Release by whoever opened the file, acquire by whoever records. NULL: nothing is recorded yet.
  std::atomic<Recorder*> recorder{nullptr};
};

struct Relay;

struct Endpoint {
  TraceFront* front = nullptr;
  void* core_ep = nullptr;
  cwyc_deliver_fn deliver = nullptr;
  wrapping::RelayPool<Relay> relays;
};

// The core's operation while the conduit behind has ours.
struct Relay {
  cwyc_op op{};  // first: report() finds the object by its address
  Relay* next = nullptr;
  cwyc_op* theirs = nullptr;
  Endpoint* ep = nullptr;
  Recorder* recorder = nullptr;
  uint64_t posted = 0, size = 0;
  uint32_t last_bit = 0, peer = 0;
  uint8_t operation = 0;
};

using Fronts = wrapping::Fronts<TraceFront>;
wrapping::EndpointTable<Endpoint> endpoints;

// ---- recording ------------------------------------------------------------------------------

void report_through(cwyc_op* op, uint32_t what, cwy_status status, const cwy_detail* detail) {
  auto* relay = reinterpret_cast<Relay*>(op);
  cwyc_op* theirs = relay->theirs;
  if (status != CWY_OK || (what & relay->last_bit) != 0) {
    const uint64_t now = relay->recorder->now();
    relay->recorder->record({relay->operation, CWYT_DONE, relay->peer, relay->size, 0, status, now,
                             now - relay->posted});
    relay->ep->relays.give(relay);
  }
  theirs->fn(theirs, what, status, detail);
}

// The operation as it is recorded.
struct Subject {
  uint8_t operation;
  uint64_t size = 0, tag = 0;
};

void note(const cwyc_conn* conn, const Subject& subject, cwy_status status, uint64_t begin) {
  Recorder* recorder = endpoints.by_ep(conn->ep).front->recorder.load(std::memory_order_acquire);
  if (recorder == nullptr) return;
  const uint64_t now = recorder->now();
  recorder->record({subject.operation, CWYT_POSTED, conn->peer.rank, subject.size, subject.tag,
                    status, now, now - begin});
}

// A post that cannot be completed later.
template <class Call>
cwy_status plain(cwyc_conn* conn, const Subject& subject, Call&& call) {
  const uint64_t begin = services->now();
  const cwy_status status = call(endpoints.by_ep(conn->ep).front->ops(conn));
  note(conn, subject, status, begin);
  return status;
}

// A post that may be completed later. Without an operation of the core's, or without memory for a
// relay, only the post is recorded.
template <class Call>
cwy_status relayed(cwyc_conn* conn, const Subject& subject, uint32_t last_bit, cwyc_op* theirs,
                   Call&& call) {
  Endpoint& ep = endpoints.by_ep(conn->ep);
  Recorder* recorder = ep.front->recorder.load(std::memory_order_acquire);
  Relay* relay = theirs != nullptr && recorder != nullptr ? ep.relays.take() : nullptr;
  const uint64_t begin = services->now();
  cwyc_op* op = theirs;
  if (relay != nullptr) {
    relay->op.fn = report_through;
    relay->theirs = theirs;
    relay->ep = &ep;
    relay->recorder = recorder;
    relay->posted = begin;
    relay->size = subject.size;
    relay->last_bit = last_bit;
    relay->peer = conn->peer.rank;
    relay->operation = subject.operation;
    op = &relay->op;
  }
  const cwy_status status = call(ep.front->ops(conn), op);
  // After INPROGRESS the relay may have been reported, and be somebody else's, already.
  if (relay != nullptr && status != CWY_INPROGRESS) ep.relays.give(relay);
  note(conn, subject, status, begin);
  return status;
}

// ---- hot operations -------------------------------------------------------------------------

uint64_t total(const cwyc_vector& v) {
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < v.local_count; ++i) bytes += v.local[i].length;
  return bytes;
}

// The payload of an operation: the argument that says so, what a list covers, the width of a word.
template <auto Entry, typename First, typename... Rest>
uint64_t size_of(const First& first, const Rest&... rest) {
  constexpr int8_t kAt = operation_of<Entry>().length_at;
  if constexpr (kAt >= 0) {
    return std::get<kAt>(std::tie(first, rest...));
  } else if constexpr (std::is_same_v<First, const cwyc_vector*>) {
    return total(*first);
  } else if constexpr (std::is_same_v<First, const cwyc_atomic*>) {
    constexpr uint32_t four_bytes = CWY_DT_I32 | CWY_DT_U32 | CWY_DT_FLT;
    return (first->dt & four_bytes) != 0 ? 4 : 8;
  } else {
    return 0;
  }
}

// A number that the sender and the receiver of a message find alike. Equal messages between two
// ranks are told apart by their order.
uint64_t tag_of(uint64_t word, const int32_t* args, uint32_t nargs, uint64_t size) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, by words
  const auto mix = [&hash](uint64_t value) { hash = (hash ^ value) * 0x100000001b3; };
  mix(word);
  mix(size);
  for (uint32_t i = 0; i < nargs; ++i) mix(static_cast<uint32_t>(args[i]));
  return hash | 1;  // 0 is no message
}
// The same from the arguments of an entry that sends a message, which has them from the word on.
template <typename First, typename... Rest>
uint64_t sent_tag(uint64_t size, const First& first, const Rest&... rest) {
  if constexpr (std::is_same_v<First, cwyc_am_slot*>) {
    return sent_tag(size, rest...);
  } else {
    const auto all = std::tie(first, rest...);
    return tag_of(std::get<0>(all), std::get<1>(all), std::get<2>(all), size);
  }
}
template <auto Entry, typename... Args>
Subject subject_of(const Args&... args) {
  constexpr auto kLine = operation_of<Entry>();
  const uint64_t size = size_of<Entry>(args...);
  constexpr auto kNumber = static_cast<uint8_t>(number_of<Entry>());
  if constexpr (kLine.lane == Lane::am && kLine.reaches_peer)
    return {kNumber, size, sent_tag(size, args...)};
  else
    return {kNumber, size};
}

// The conduit's entry and what is recorded of each call. Its last argument may be the core's
// operation; an entry without one completes on return.
template <auto Entry, typename... Args>
void record(Front& front, cwy_status (*cwyc_ops::*)(cwyc_conn*, Args...)) {
  front.replace(
      Entry, +[](cwyc_conn* c, Args... args) -> cwy_status {
        constexpr uint32_t kReports = operation_of<Entry>().reports;
        const Subject subject = subject_of<Entry>(args...);
        if constexpr (kReports == 0) {
          return plain(c, subject, [&](const cwyc_ops& o) { return (o.*Entry)(c, args...); });
        } else {
          constexpr uint32_t kLast = (kReports & remote_bit) != 0 ? remote_bit : local_bit;
          return [&]<size_t... I>(std::index_sequence<I...>) {
            const auto all = std::tie(args...);
            return relayed(c, subject, kLast, std::get<sizeof...(I)>(all),
                           [&](const cwyc_ops& o, cwyc_op* mine) {
                             return (o.*Entry)(c, std::get<I>(all)..., mine);
                           });
          }
          (std::make_index_sequence<sizeof...(Args) - 1>());
        }
      });
}
template <auto Entry, typename... Args>
void record(Front& front, void (*cwyc_ops::*)(cwyc_conn*, Args...)) {
  front.replace(
      Entry, +[](cwyc_conn* c, Args... args) {
        plain(c, subject_of<Entry>(args...), [&](const cwyc_ops& o) {
          (o.*Entry)(c, args...);
          return CWY_OK;
        });
      });
}

// ---- upcalls --------------------------------------------------------------------------------

void deliver(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, const int32_t* args,
             uint32_t nargs, void* payload, size_t length) {
  Endpoint& ep = endpoints.by_core_ep(core_ep);
  Recorder* const recorder = ep.front->recorder.load(std::memory_order_acquire);
  if (recorder == nullptr)
    return ep.deliver(core_ep, from, word, kind, args, nargs, payload, length);
  const auto operation = static_cast<uint8_t>(CWYT_RECEIVED_SHORT + kind);
  const uint64_t tag = tag_of(word, args, nargs, length), begin = recorder->now();
  recorder->record({operation, CWYT_POSTED, from.rank, length, tag, CWY_OK, begin, 0});
  ep.deliver(core_ep, from, word, kind, args, nargs, payload, length);
  const uint64_t end = recorder->now();
  recorder->record({operation, CWYT_DONE, from.rank, length, tag, CWY_OK, end, end - begin});
}

// ---- cold calls -----------------------------------------------------------------------------

cwy_status ep_open(cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out, cwy_err* err) {
  return Fronts::open(endpoints, "trace", deliver, domain, params, out, err,
                      [](Endpoint&, cwyc_ep*) {});
}

void ep_close(cwyc_ep* raw) {
  Fronts::close(endpoints, raw);
}

cwy_status ep_query(cwyc_ep* ep, cwyc_ep_attr* attr) {
  const cwy_status status = endpoints.by_ep(ep).front->module().ep_query(ep, attr);
  attr->caps &= ~uint64_t{CWYC_CAP_DIRECT};
  return status;
}

cwy_status class_query(cwyc_ep* ep, uint32_t table, cwyc_class_attr* attr) {
  const cwy_status status = endpoints.by_ep(ep).front->module().class_query(ep, table, attr);
  attr->caps &= ~uint64_t{CWYC_CAP_DIRECT};
  return status;
}

// The file is made by the first rank that has something to record, and not by those that only ask
// what could be reached.
cwy_status open_file(TraceFront& front, cwy_err* err) {
  static std::mutex opening;  // of any front: each looks at the others' files
  if (front.recorder.load(std::memory_order_acquire) != nullptr) return CWY_OK;
  const std::lock_guard lock(opening);
  if (front.owner) return CWY_OK;
  for (const auto& other : Fronts::all()) {
    if (other->owner && other->path == front.path)
      return report(err, CWY_ERR_INVALID,
                    "trace: %s belongs to another conduit of this plugin; give each a file",
                    front.path.c_str());
  }
  std::string why;
  front.owner = Recorder::open(front.path, front.bytes, *services, front.plugin(), why);
  if (!front.owner) return report(err, CWY_ERR_INVALID, "trace: %s", why.c_str());
  front.recorder.store(front.owner.get(), std::memory_order_release);
  return CWY_OK;
}

cwy_status connect(cwyc_ep* raw, cwyc_conn* conn, const cwyc_peer_desc* peer, cwyc_op* op,
                   cwy_err* err) {
  return guarded(err, [&] {
    Endpoint& ep = endpoints.by_ep(raw);
    const cwy_status opened = open_file(*ep.front, err);
    if (opened != CWY_OK) return opened;
    return relayed(conn, {CWYT_CONNECT}, remote_bit, op, [&](const cwyc_ops&, cwyc_op* mine) {
      return ep.front->module().connect(raw, conn, peer, mine, err);
    });
  });
}

void disconnect(cwyc_conn* conn) {
  const uint64_t begin = services->now();
  endpoints.by_ep(conn->ep).front->module().disconnect(conn);
  note(conn, {CWYT_DISCONNECT}, CWY_OK, begin);
}

void purge(cwyc_conn* conn) {
  const uint64_t begin = services->now();
  endpoints.by_ep(conn->ep).front->module().purge(conn);
  note(conn, {CWYT_PURGE}, CWY_OK, begin);
}

// ---- configuring ----------------------------------------------------------------------------

std::string expanded(const char* pattern) {
  std::string path;
  for (const char* c = pattern; *c != '\0'; ++c) {
    if (c[0] == '%' && c[1] == 'r') {
      path += std::to_string(services->job->rank);
      ++c;
    } else {
      path += *c;
    }
  }
  return path;
}

void replace_entries(TraceFront& front, bool direct) {
  for_each_operation(
      [&]<typename Each>(const Each&) { record<Each::member>(front, Each::member); });
  front.replace(&cwyc_module::ep_open, ep_open);
  front.replace(&cwyc_module::ep_close, ep_close);
  front.replace(&cwyc_module::connect, connect);
  front.replace(&cwyc_module::disconnect, disconnect);
  front.replace(&cwyc_module::purge, purge);
  if (direct) return;
  front.replace(&cwyc_module::ep_query, ep_query);
  front.replace(&cwyc_module::class_query, class_query);
  front.replace(&cwyc_module::rkey_direct, wrapping::no_direct_rights);
}

cwy_status configure(const cwy_options* opts, const cwyc_module** out, cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    const char* file = "";
    uint64_t bytes = 0;
    int32_t direct = 0;
    services->opt_string(opts, "file", &file);
    services->opt_size(opts, "size", &bytes);
    services->opt_bool(opts, "direct", &direct);
    cwy_wrapped wrapped;
    const cwy_status status = wrapping::wrap(*services, opts, "over", wrapped, err);
    if (status != CWY_OK) return status;
    auto front = std::make_unique<TraceFront>(wrapped);
    front->path = expanded(file);
    front->bytes = bytes;
    replace_entries(*front, direct != 0);
    Fronts::keep(opts, std::move(front), out);
    return CWY_OK;
  });
}

using Idle = conduit::Tables<wrapping::Unconfigured<configure, Fronts::fini>>;

}  // namespace
}  // namespace causeway::trace

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* core,
                                                  const cwyc_module** module, cwy_err*) {
  return causeway::trace::Idle::start(core, "trace", module);
}
