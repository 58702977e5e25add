// A conduit that breaks one promise on purpose, in front of a good one: it proves that the suite
// can fail. BROKEN_INNER names the good conduit's file, BROKEN_FAULT the fault.
// Everything else is passed through: connections, endpoints and memory are the inner conduit's own.
// Further faults, by what they are about, stand in *_faults.cpp.
#include <causeway/conduit.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "../cases/atomic_model.h"
#include "front.h"

// The inner conduit's own manifest, extracted by the build: same options, same name.
asm(".section cwy_manifest,\"a\",@progbits\n.incbin \"" BROKEN_MANIFEST "\"\n.previous");

namespace broken {

const cwyc_module* g_inner = nullptr;
const cwyc_ops* g_ops = nullptr;
cwyc_module g_module;
cwyc_ops g_table;
cwy_services g_services;
std::atomic<uint64_t> g_count{0};

namespace {
std::vector<Fault>& all_faults() {
  static std::vector<Fault> faults;
  return faults;
}
cwyc_deliver_fn g_suite = nullptr, g_instead = nullptr;
void* g_latest_endpoint = nullptr;
}  // namespace
void* g_previous_endpoint = nullptr;
cwyc_place_fn g_place = nullptr;

Faults::Faults(std::initializer_list<Fault> faults) {
  all_faults().insert(all_faults().end(), faults);
}

void take_deliveries(cwyc_deliver_fn deliver) {
  g_instead = deliver;
  g_module.ep_open = [](cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out,
                        cwy_err* err) {
    cwyc_ep_params ours = *params;
    g_suite = params->deliver;
    g_place = params->place;
    ours.deliver = g_instead;
    g_previous_endpoint = std::exchange(g_latest_endpoint, params->core_ep);
    return g_inner->ep_open(domain, &ours, out, err);
  };
}
void deliver_on(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, const int32_t* args,
                uint32_t nargs, void* payload, size_t length) {
  g_suite(core_ep, from, word, kind, args, nargs, payload, length);
}

}  // namespace broken

namespace {

using namespace broken;
using namespace causeway::conformance;  // the numbers of types and operations

const cwyc_ops* g_tables[] = {&g_table};
std::string g_fault;

// ---- active messages ------------------------------------------------------------------------

cwy_status drop_short(cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t n,
                      uint32_t flags) {
  return tick() % 1000 == 0 ? CWY_OK : g_ops->am_short(c, word, args, n, flags);
}

cwy_status duplicate_short(cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t n,
                           uint32_t flags) {
  const cwy_status status = g_ops->am_short(c, word, args, n, flags);
  if (status == CWY_OK && tick() % 997 == 0) g_ops->am_short(c, word, args, n, flags);
  return status;
}

cwy_status retry_but_post(cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t n,
                          uint32_t flags) {
  const cwy_status status = g_ops->am_short(c, word, args, n, flags);
  return status == CWY_OK && tick() % 500 == 0 ? CWY_RETRY : status;
}

cwy_status lose_word_bit(cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t n,
                         uint32_t flags) {
  return g_ops->am_short(c, word & ~(1ull << 47), args, n, flags);
}

cwy_status lose_last_argument(cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t n,
                              uint32_t flags) {
  int32_t copy[CWYC_AM_MAX_ARGS] = {};
  if (n != 0 && n <= CWYC_AM_MAX_ARGS) std::memcpy(copy, args, n * sizeof *copy);
  copy[CWYC_AM_MAX_ARGS - 1] = 0;
  return g_ops->am_short(c, word, n == CWYC_AM_MAX_ARGS ? copy : args, n, flags);
}

// Requests and replies share one lane.
cwy_status one_lane_short(cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t n,
                          uint32_t f) {
  return g_ops->am_short(c, word, args, n, f & ~uint32_t{CWYC_LANE_REPLY});
}

cwy_status corrupt_medium(cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t n,
                          const void* payload, cwyc_mem* mem, size_t length, uint32_t flags,
                          cwyc_op* op) {
  if (length != 63) {
    return g_ops->am_medium(c, word, args, n, payload, mem, length, flags, op);
  }
  char copy[63];
  std::memcpy(copy, payload, sizeof copy);
  copy[61] ^= 1;
  return g_ops->am_medium(c, word, args, n, copy, nullptr, length, flags | CWYC_SRC_VOLATILE, op);
}

cwy_status retry_touches_op(cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t n,
                            const void* payload, cwyc_mem* mem, size_t length, uint32_t flags,
                            cwyc_op* op) {
  if (op != nullptr && tick() % 20 == 0) {
    op->scratch[3] = 1;
    return CWY_RETRY;
  }
  return g_ops->am_medium(c, word, args, n, payload, mem, length, flags, op);
}

// ---- one-sided ------------------------------------------------------------------------------

cwy_status complete_twice(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr,
                          cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  const cwy_status status = g_ops->put(c, src, mem, raddr, rkey, length, flags, op);
  if (status != CWY_OK) return status;
  op->fn(op, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, CWY_OK, nullptr);
  op->fn(op, CWYC_DONE_REMOTE, CWY_OK, nullptr);
  return CWY_INPROGRESS;
}

// Statuses that this interface has no name for.
cwy_status report_a_number(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr,
                           cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  const cwy_status status = g_ops->put(c, src, mem, raddr, rkey, length, flags, op);
  if (status != CWY_OK) return status;
  op->fn(op, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, 7, nullptr);
  return CWY_INPROGRESS;
}

cwy_status answer_a_number(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr,
                           cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  const cwy_status status = g_ops->put(c, src, mem, raddr, rkey, length, flags, op);
  return status == CWY_OK ? 7 : status;
}

cwy_status complete_after_ok(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr,
                             cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  const cwy_status status = g_ops->put(c, src, mem, raddr, rkey, length, flags, op);
  if (status == CWY_OK) op->fn(op, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, CWY_OK, nullptr);
  return status;
}

// The 300th put is accepted and never reported.
cwy_status never_complete(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr,
                          cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  const cwy_status status = g_ops->put(c, src, mem, raddr, rkey, length, flags, op);
  return status == CWY_OK && tick() == 300 ? CWY_INPROGRESS : status;
}

struct Late {
  cwyc_conn* conn;
  std::vector<char> data;
  uint64_t raddr;
  cwyc_rkey* rkey;
};
std::deque<Late> g_late;

// Says REMOTE now and writes with the next put: however long the peer takes to look, the last one
// is not there.
cwy_status remote_early(cwyc_conn* c, const void* src, cwyc_mem*, uint64_t raddr, cwyc_rkey* rkey,
                        size_t length, uint32_t, cwyc_op*) {
  for (; !g_late.empty(); g_late.pop_front()) {
    const Late& late = g_late.front();
    g_ops->put(late.conn, late.data.data(), nullptr, late.raddr, late.rkey, late.data.size(), 0,
               nullptr);
  }
  const auto* bytes = static_cast<const char*>(src);
  g_late.push_back({c, std::vector<char>(bytes, bytes + length), raddr, rkey});
  return CWY_OK;
}
void late_disconnect(cwyc_conn* conn) {
  g_late.clear();
  g_inner->disconnect(conn);
}

// Says LOCAL now and reads the source 3 calls of progress later.
struct LateSource {
  cwyc_conn* conn;
  const void* src;
  uint64_t raddr;
  cwyc_rkey* rkey;
  size_t length;
  cwyc_op* op;
  unsigned delay;
};
std::deque<LateSource> g_late_sources;

cwy_status source_late(cwyc_conn* c, const void* src, cwyc_mem*, uint64_t raddr, cwyc_rkey* rkey,
                       size_t length, uint32_t, cwyc_op* op) {
  g_late_sources.push_back({c, src, raddr, rkey, length, op, 3});
  op->fn(op, CWYC_DONE_LOCAL, CWY_OK, nullptr);
  return CWY_INPROGRESS;
}
uint32_t source_late_progress(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  while (!g_late_sources.empty() && g_late_sources.front().delay-- == 0) {
    const LateSource late = g_late_sources.front();
    g_late_sources.pop_front();
    g_ops->put(late.conn, late.src, nullptr, late.raddr, late.rkey, late.length, 0, nullptr);
    late.op->fn(late.op, CWYC_DONE_REMOTE, CWY_OK, nullptr);
  }
  return g_inner->progress(ep, budget, lane);
}

// A path of its own for more than 64 KiB, which begins one byte too late.
cwy_status wrong_switch(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr,
                        cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  return g_ops->put(c, src, mem, raddr, rkey, length == 65537 ? 65536 : length, flags, op);
}

cwy_status refuse_zero(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr,
                       cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  if (length == 0) return CWY_ERR_INVALID;
  return g_ops->put(c, src, mem, raddr, rkey, length, flags, op);
}

// Nothing is sent after purge, and the caller is not told.
cwy_status silent_after_purge(cwyc_conn* c, uint64_t word, const int32_t* args, uint32_t n,
                              uint32_t flags) {
  const cwy_status status = g_ops->am_short(c, word, args, n, flags);
  return status == CWY_ERR_PEER_FAILED ? CWY_OK : status;
}

cwy_status get_one_short(cwyc_conn* c, void* dst, cwyc_mem* mem, uint64_t raddr, cwyc_rkey* rkey,
                         size_t length, uint32_t flags, cwyc_op* op) {
  const size_t cut = length > 64 && length % 2 == 1 ? length - 1 : length;
  return g_ops->get(c, dst, mem, raddr, rkey, cut, flags, op);
}

// A read and a write: what an atomic is not.
cwy_status torn_atomic(cwyc_conn* c, const cwyc_atomic* a, cwyc_rkey* rkey, uint32_t flags,
                       cwyc_op* op) {
  const bool add = a->opcode == 1u << kAdd || a->opcode == 1u << (kFetching + kAdd);
  if (!add || a->dt != 1u << kU64) return g_ops->atomic(c, a, rkey, flags, op);
  uint64_t value = 0;
  g_ops->get(c, &value, nullptr, a->raddr, rkey, 8, 0, op);
  if (a->result != nullptr) std::memcpy(a->result, &value, 8);
  value += a->operand1;
  if (tick() % 8 == 0) sched_yield();
  return g_ops->put(c, &value, nullptr, a->raddr, rkey, 8, 0, op);
}

cwy_status spurious_cas(cwyc_conn* c, const cwyc_atomic* a, cwyc_rkey* rkey, uint32_t flags,
                        cwyc_op* op) {
  if (a->opcode == 1u << kFcas && tick() % 1000 == 0) {
    cwyc_atomic never = *a;
    never.operand2 = never.operand1;  // writes back what is there
    return g_ops->atomic(c, &never, rkey, flags, op);
  }
  return g_ops->atomic(c, a, rkey, flags, op);
}

// ---- cold -----------------------------------------------------------------------------------

cwy_status small_medium(cwyc_ep* ep, cwyc_ep_attr* attr) {
  const cwy_status status = g_inner->ep_query(ep, attr);
  attr->am_medium_max = 256;
  return status;
}

cwy_status false_capability(cwyc_ep* ep, cwyc_ep_attr* attr) {
  const cwy_status status = g_inner->ep_query(ep, attr);
  attr->caps |= uint64_t{CWYC_CAP_VECTOR};
  return status;
}

cwy_status leak_descriptor(cwyc_domain* d, const cwyc_ep_params* p, cwyc_ep** out, cwy_err* err) {
  [[maybe_unused]] const int leaked = open("/dev/null", O_RDONLY | O_CLOEXEC);
  return g_inner->ep_open(d, p, out, err);
}

void forget_purge(cwyc_conn*) {}

void deaf_nap(cwyc_ep*, uint64_t max_ns) {
  timespec t{static_cast<time_t>(max_ns / 1'000'000'000),
             static_cast<long>(max_ns % 1'000'000'000)};
  nanosleep(&t, nullptr);
}

uint32_t deliver_all_lanes(cwyc_ep* ep, uint32_t budget, uint32_t) {
  return g_inner->progress(ep, budget, CWYC_PROGRESS_ALL);
}

uint32_t crash(cwyc_ep*, uint32_t, uint32_t) {
  raise(SIGSEGV);
  return 0;
}

// Its own end, with a status that looks like success.
uint32_t exits(cwyc_ep*, uint32_t, uint32_t) {
  std::exit(0);
}
uint32_t ends_at_once(cwyc_ep*, uint32_t, uint32_t) {
  _exit(0);
}

cwy_status wrong_delta(cwyc_rkey* rkey, intptr_t* delta) {
  const cwy_status status = g_inner->rkey_direct(rkey, delta);
  *delta += 64;
  return status;
}

cwy_status silent_reach(cwyc_domain* d, const cwyc_peer_desc* peer, cwy_err*) {
  return g_inner->reach(d, peer, nullptr) == CWY_OK ? CWY_OK : CWY_ERR_UNREACHABLE;
}

bool apply_listed(const std::string& name) {
  for (const Fault& fault : all_faults()) {
    if (name != fault.name) continue;
    fault.apply();
    return true;
  }
  return name == "none";
}

bool apply_fault() {
  const std::string& f = g_fault;
  if (f == "drop_am")
    g_table.am_short = drop_short;
  else if (f == "duplicate_am")
    g_table.am_short = duplicate_short;
  else if (f == "retry_but_post")
    g_table.am_short = retry_but_post;
  else if (f == "lose_word_bit")
    g_table.am_short = lose_word_bit;
  else if (f == "lose_last_argument")
    g_table.am_short = lose_last_argument;
  else if (f == "one_lane")
    g_table.am_short = one_lane_short;
  else if (f == "corrupt_medium")
    g_table.am_medium = corrupt_medium;
  else if (f == "retry_touches_op")
    g_table.am_medium = retry_touches_op;
  else if (f == "complete_twice")
    g_table.put = complete_twice;
  else if (f == "report_a_number")
    g_table.put = report_a_number;
  else if (f == "answer_a_number")
    g_table.put = answer_a_number;
  else if (f == "complete_after_ok")
    g_table.put = complete_after_ok;
  else if (f == "never_complete")
    g_table.put = never_complete;
  else if (f == "remote_early")
    g_table.put = remote_early, g_module.disconnect = late_disconnect;
  else if (f == "source_late")
    g_table.put = source_late, g_module.progress = source_late_progress;
  else if (f == "wrong_switch")
    g_table.put = wrong_switch;
  else if (f == "refuse_zero")
    g_table.put = refuse_zero;
  else if (f == "silent_after_purge")
    g_table.am_short = silent_after_purge;
  else if (f == "get_one_short")
    g_table.get = get_one_short;
  else if (f == "torn_atomic" || f == "beside_the_processor")
    g_table.atomic = torn_atomic;
  else if (f == "spurious_cas")
    g_table.atomic = spurious_cas;
  else if (f == "small_medium")
    g_module.ep_query = small_medium;
  else if (f == "false_capability")
    g_module.ep_query = false_capability, g_table.putv = nullptr, g_table.getv = nullptr;
  else if (f == "leak_descriptor")
    g_module.ep_open = leak_descriptor;
  else if (f == "forget_purge")
    g_module.purge = forget_purge;
  else if (f == "deaf_nap")
    g_module.nap = deaf_nap;
  else if (f == "deliver_all_lanes")
    g_module.progress = deliver_all_lanes;
  else if (f == "crash")
    g_module.progress = crash;
  else if (f == "exits")
    g_module.progress = exits;
  else if (f == "ends_at_once")
    g_module.progress = ends_at_once;
  else if (f == "wrong_delta")
    g_module.rkey_direct = wrong_delta;
  else if (f == "silent_reach")
    g_module.reach = silent_reach;
  else
    return apply_listed(f);
  return true;
}

cwy_status refuse(cwy_err* err, const std::string& text) {
  err->status = CWY_ERR_INVALID;
  std::strncpy(err->text, text.c_str(), sizeof err->text - 1);
  return CWY_ERR_INVALID;
}

}  // namespace

extern "C" CWY_EXPORT cwy_status CWY_CONDUIT_INIT(const cwy_services* services,
                                                  const cwyc_module** module, cwy_err* err) {
  const char* path = std::getenv("BROKEN_INNER");
  const char* fault = std::getenv("BROKEN_FAULT");
  if (path == nullptr || fault == nullptr) {
    return refuse(err, "set BROKEN_INNER and BROKEN_FAULT");
  }
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return refuse(err, dlerror());
  const auto init = reinterpret_cast<cwy_conduit_init_fn>(dlsym(library, CWY_CONDUIT_INIT_NAME));
  if (init == nullptr) return refuse(err, "the inner conduit exports no init function");
  g_services = *services;
  const cwy_status status = init(&g_services, &g_inner, err);
  if (status != CWY_OK) return status;
  g_module = *g_inner;
  g_ops = g_inner->ops[0];
  g_table = *g_ops;
  g_module.ops = g_tables;
  g_module.ops_count = 1;
  g_fault = fault;
  if (!apply_fault()) return refuse(err, "unknown fault " + g_fault);
  *module = &g_module;
  return CWY_OK;
}
