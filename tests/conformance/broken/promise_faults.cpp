// Faults that show after long use, in what is told of a message, and in what outlives its end.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "front.h"

namespace broken {
namespace {

using Args = const int32_t*;

// ---- who sent what

void reply_from_another_rank(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, Args args,
                             uint32_t n, void* payload, size_t length) {
  if (word >> 63 != 0) from.rank ^= 1;
  deliver_on(core_ep, from, word, kind, args, n, payload, length);
}

void first_epoch_always(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, Args args,
                        uint32_t n, void* payload, size_t length) {
  deliver_on(core_ep, {from.rank, 1}, word, kind, args, n, payload, length);
}

// ---- where a payload lies

void payload_at_8(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, Args args, uint32_t n,
                  void* payload, size_t length) {
  if (kind != CWYC_AM_MEDIUM || length == 0)
    return deliver_on(core_ep, from, word, kind, args, n, payload, length);
  std::vector<uint64_t> frame(length / 8 + 4);
  char* const place = reinterpret_cast<char*>(frame.data() + 1);
  std::memcpy(place, payload, length);
  deliver_on(core_ep, from, word, kind, args, n, place, length);
}

// What is being delivered has one place.
void one_buffer(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind, Args args, uint32_t n,
                void* payload, size_t length) {
  static char place[4096];
  if (kind == CWYC_AM_MEDIUM && length <= sizeof place) {
    std::memcpy(place, payload, length);
    payload = place;
  }
  deliver_on(core_ep, from, word, kind, args, n, payload, length);
}

// ---- after long use

cwy_status numbers_of_16_bits(cwyc_conn* c, uint64_t word, Args args, uint32_t n, uint32_t flags) {
  if (tick() > 65'535) return CWY_RETRY;
  return g_ops->am_short(c, word, args, n, flags);
}

// Waits for a peer that reads no more.
void patient_close(cwyc_ep* ep) {
  usleep(3'500'000);
  g_inner->ep_close(ep);
}
uint32_t sleepy_progress(cwyc_ep* ep, uint32_t budget, uint32_t lane) {
  const uint32_t found = g_inner->progress(ep, budget, lane);
  if (found == 0) usleep(20'000);
  return found;
}

cwy_status heap_per_rkey(cwyc_ep* ep, const cwyc_peer_desc* peer, const void* buf, uint64_t length,
                         cwyc_rkey** out, cwy_err* err) {
  [[maybe_unused]] static void* volatile kept;
  kept = std::malloc(48);
  return g_inner->rkey_open(ep, peer, buf, length, out, err);
}

// ---- what is not the conduit's

// As if its structure were a later minor's.
cwy_status reads_further(cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out,
                         cwy_err* err) {
  [[maybe_unused]] static volatile uint32_t later;
  later = *reinterpret_cast<const uint32_t*>(params + 1);
  return g_inner->ep_open(domain, params, out, err);
}

cwy_status whole_attributes(cwyc_ep* ep, cwyc_ep_attr* attr) {
  cwyc_ep_attr all{};
  all.head = CWY_HEAD(cwyc_ep_attr);
  const cwy_status status = g_inner->ep_query(ep, &all);
  *attr = all;
  return status;
}

cwy_status err_believed(const cwy_options* opts, const cwyc_domain_params* params,
                        cwyc_domain** out, cwy_err* err) {
  const cwy_status status = g_inner->domain_open(opts, params, out, err);
  if (status != CWY_OK) *static_cast<volatile cwy_status*>(&err->status) = status;
  return status;
}

// Marks the record of an operation as free when its caller has had the last word on it.
cwy_status ends_and_marks(cwyc_conn* c, const void* src, cwyc_mem* mem, uint64_t raddr,
                          cwyc_rkey* rkey, size_t length, uint32_t flags, cwyc_op* op) {
  const cwy_status status = g_ops->put(c, src, mem, raddr, rkey, length, flags, op);
  if (status != CWY_OK || op == nullptr) return status;
  op->fn(op, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, CWY_OK, nullptr);
  op->state = 0;
  return CWY_INPROGRESS;
}

// Looks at no right.
cwy_status writes_anyway(cwyc_conn*, const void* src, cwyc_mem*, uint64_t raddr, cwyc_rkey*,
                         size_t length, uint32_t, cwyc_op*) {
  std::memmove(reinterpret_cast<void*>(raddr), src, length);
  return CWY_OK;
}

// Bytes that are no key are taken for the one that was opened last, and nothing is checked in use.
cwy_status taken_for_the_last(cwyc_ep* ep, const cwyc_peer_desc* peer, const void* buf,
                              uint64_t length, cwyc_rkey** out, cwy_err* err) {
  static std::vector<char> last;
  const auto* const bytes = static_cast<const char*>(buf);
  if (g_inner->rkey_open(ep, peer, buf, length, out, nullptr) == CWY_OK) {
    last.assign(bytes, bytes + length);
    return CWY_OK;
  }
  if (length != last.size()) return g_inner->rkey_open(ep, peer, buf, length, out, err);
  return g_inner->rkey_open(ep, peer, last.data(), last.size(), out, err);
}
cwy_status cut_key_taken(cwyc_ep* ep, const cwyc_peer_desc* peer, const void* buf, uint64_t length,
                         cwyc_rkey** out, cwy_err* err) {
  static std::string last;
  if (length > 8) last.resize(std::max<size_t>(last.size(), length));
  std::memcpy(last.data(), buf, length);
  return g_inner->rkey_open(ep, peer, last.data(), last.size(), out, err);
}
cwy_status reads_anyway(cwyc_conn*, void* dst, cwyc_mem*, uint64_t raddr, cwyc_rkey*, size_t length,
                        uint32_t, cwyc_op*) {
  std::memmove(dst, reinterpret_cast<const void*>(raddr), length);
  return CWY_OK;
}

// ---- loss

int64_t g_loss = 0;  // of 1000 messages
bool lost() {
  return g_loss != 0 && tick() * 7919 % 1000 < static_cast<uint64_t>(g_loss);
}
cwy_status domain_with_loss(const cwy_options* opts, const cwyc_domain_params* params,
                            cwyc_domain** out, cwy_err* err) {
  g_loss = 0;
  g_services.opt_int(opts, "inject_loss", &g_loss);
  return g_inner->domain_open(opts, params, out, err);
}

cwy_status sent_once(cwyc_conn* c, uint64_t word, Args args, uint32_t n, uint32_t flags) {
  return lost() ? CWY_OK : g_ops->am_short(c, word, args, n, flags);
}
cwy_status sent_again(cwyc_conn* c, uint64_t word, Args args, uint32_t n, uint32_t flags) {
  if (!lost()) return g_ops->am_short(c, word, args, n, flags);
  g_later.add(5, [=, copy = std::vector<int32_t>(args, args + n)] {
    return g_ops->am_short(c, word, copy.data(), n, flags) != CWY_RETRY;
  });
  return CWY_OK;
}

// ---- a device that fails

int64_t g_lasts = 0;  // messages
bool g_tells = false;
void* g_core_ep = nullptr;
void use_failing_device(bool tells) {
  g_tells = tells;
  g_module.domain_open = [](const cwy_options* opts, const cwyc_domain_params* params,
                            cwyc_domain** out, cwy_err* err) {
    g_lasts = 0;
    g_services.opt_int(opts, "fail_after", &g_lasts);
    return g_inner->domain_open(opts, params, out, err);
  };
  g_module.ep_open = [](cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out,
                        cwy_err* err) {
    g_core_ep = params->core_ep;
    return g_inner->ep_open(domain, params, out, err);
  };
  g_table.am_short = [](cwyc_conn* c, uint64_t word, Args args, uint32_t n, uint32_t flags) {
    if (g_lasts == 0 || --g_lasts > 0) return g_ops->am_short(c, word, args, n, flags);
    g_lasts = 1;
    if (std::exchange(g_tells, false))
      g_services.device_state(g_core_ep, "self0", CWYC_DEVICE_DOWN, "it was told to");
    return cwy_status{CWY_ERR_DEVICE_FAILED};
  };
}

const Faults faults{
    {"silent_device", [] { use_failing_device(false); }},
    {"told_device", [] { use_failing_device(true); }},
    {"reply_from_another_rank", [] { take_deliveries(reply_from_another_rank); }},
    {"first_epoch_always", [] { take_deliveries(first_epoch_always); }},
    {"payload_at_8", [] { take_deliveries(payload_at_8); }},
    {"one_buffer", [] { take_deliveries(one_buffer); }},
    {"numbers_of_16_bits", [] { g_table.am_short = numbers_of_16_bits; }},
    {"patient_close", [] { g_module.ep_close = patient_close; }},
    {"sleepy_progress", [] { g_module.progress = sleepy_progress; }},
    {"heap_per_rkey", [] { g_module.rkey_open = heap_per_rkey; }},
    {"reads_further", [] { g_module.ep_open = reads_further; }},
    {"whole_attributes", [] { g_module.ep_query = whole_attributes; }},
    {"err_believed", [] { g_module.domain_open = err_believed; }},
    {"ends_and_marks", [] { g_table.put = ends_and_marks; }},
    {"writes_anyway", [] { g_table.put = writes_anyway; }},
    {"writes_anyway_to_clients", [] { g_table.put = writes_anyway; }},
    {"writes_elsewhere", [] { g_table.put = writes_anyway; }},
    {"writes_with_old_key", [] { g_table.put = writes_anyway; }},
    {"reads_elsewhere", [] { g_table.get = reads_anyway; }},
    {"reads_with_old_key", [] { g_table.get = reads_anyway; }},
    {"taken_for_the_last",
     [] { g_module.rkey_open = taken_for_the_last, g_table.put = writes_anyway; }},
    {"cut_key_taken", [] { g_module.rkey_open = cut_key_taken; }},
    {"sent_once", [] { g_module.domain_open = domain_with_loss, g_table.am_short = sent_once; }},
    {"sent_again",
     [] {
       use_later();
       g_module.domain_open = domain_with_loss;
       g_table.am_short = sent_again;
     }},
};

}  // namespace
}  // namespace broken
