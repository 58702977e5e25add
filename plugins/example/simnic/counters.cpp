// Counters, which are outside of the interface's freeze (causeway/experimental.h): memory that
// arrivals raise, and puts that start when it has been raised far enough. The adapter looks at the
// counters of such puts in each turn, as hardware does.

#include "atomic.h"
#include "conduit.h"

using namespace simnic;

uint32_t cwyc_ep::start_waiting() {
  uint32_t ended = 0;
  // A put leaves the list before its post: the post reports, and its op may be used again.
  for (size_t at = 0; at < waiting.size();) {
    const Waiting put = waiting[at];
    cwy_status status = may_post(put.conn);
    const bool due = read_counter(put.when->at) >= put.threshold && ::has_room(put.conn);
    if (status == CWY_RETRY || (status == CWY_OK && !due)) {
      ++at;
      continue;
    }
    waiting.erase(waiting.begin() + static_cast<ptrdiff_t>(at));
    ++ended;
    if (status == CWY_OK) status = post_put(put.conn, put.bytes, {}, 0, put.op);
    if (status != CWY_INPROGRESS)
      put.op->fn(put.op, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, status, nullptr);
  }
  return ended;
}

void cwyc_ep::give_up(const cwyc_conn* conn, const cwyx_counter* counter, cwy_status status,
                      const cwy_detail* detail) {
  const auto kept = std::stable_partition(waiting.begin(), waiting.end(), [&](const Waiting& put) {
    return (conn != nullptr && put.conn != conn) || (counter != nullptr && put.when != counter);
  });
  const std::vector<Waiting> ended(kept, waiting.end());
  waiting.erase(kept, waiting.end());
  for (const Waiting& put : ended)
    put.op->fn(put.op, CWYC_DONE_LOCAL | CWYC_DONE_REMOTE, status, detail);
}

namespace simnic {
namespace {

cwy_status open_counter(cwyc_ep* ep, cwyc_mem* mem, uint64_t address, cwyx_counter** out,
                        cwy_err* err) {
  if (address % 8 != 0)
    return fail(err, CWY_ERR_INVALID, "a counter's 8 bytes are aligned to 8 bytes");
  if (mem == nullptr || !ep->domain.memory.with(mem->key, address, 8, [](char*) {}))
    return fail(err, CWY_ERR_INVALID, "the counter does not lie in the memory that it came with");
  *out = new cwyx_counter{ep, reinterpret_cast<const uint64_t*>(address)};
  return CWY_OK;
}

void close_counter(cwyx_counter* counter) {
  cwy_detail said{};
  said.head = CWY_HEAD(cwy_detail);
  said.code = 3;
  said.text = "the counter was closed";
  counter->ep->give_up(nullptr, counter, CWY_ERR_INVALID, &said);
  delete counter;
}

cwy_status put_add(cwyc_conn* conn, const void* src, cwyc_mem*, uint64_t raddr, cwyc_rkey* rkey,
                   size_t length, uint64_t signal, cwyc_rkey* signal_rkey, uint64_t add,
                   cwyc_op* op) {
  if (rkey == nullptr || signal_rkey == nullptr || signal % 8 != 0) return CWY_ERR_INVALID;
  return post_put(conn, {src, raddr, rkey->key, length}, {kPutAdd, signal_rkey->key, add, signal},
                  0, op);
}

cwy_status put_when(cwyc_conn* conn, const void* src, cwyc_mem*, uint64_t raddr, cwyc_rkey* rkey,
                    size_t length, cwyx_counter* when, uint64_t threshold, cwyc_op* op) {
  cwyc_ep* const ep = conn->ep;
  if (rkey == nullptr || when == nullptr || when->ep != ep ||
      length > rma_max(ep->domain.traits, conn->table))
    return CWY_ERR_INVALID;
  const cwy_status status = may_post(conn);
  if (status != CWY_OK && status != CWY_RETRY) return status;  // RETRY: progress ends the put
  ep->waiting.push_back({conn, {src, raddr, rkey->key, length}, when, threshold, op});
  return CWY_INPROGRESS;
}

cwyx_counters make_counters() {
  cwyx_counters c{};
  c.head = CWY_HEAD(cwyx_counters);
  c.open = open_counter;
  c.close = close_counter;
  c.read = [](const cwyx_counter* counter) { return read_counter(counter->at); };
  c.put_add = put_add;
  c.put_when = put_when;
  return c;
}

}  // namespace

const cwyx_counters counters = make_counters();

}  // namespace simnic
