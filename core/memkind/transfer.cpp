#include "memkind/transfer.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "am/emulated_long.h"
#include "diag/error.h"
#include "memkind/bounce.h"
#include "memkind/device.h"
#include "memkind/places.h"
#include "memkind/remote.h"
#include "object/endpoint.h"
#include "object/fatal.h"
#include "object/runtime.h"
#include "object/segment.h"
#include "rma/emulation.h"
#include "rma/local.h"

namespace causeway {
namespace {

using Staging = KindPolicy::Staging;

const char* call_name(bool put) {
  return put ? "gex_RMA_Put*()" : "gex_RMA_Get*()";
}

// Both ends of a transfer, as far as this process knows them.
struct Ends {
  cwyc_conn* conn;
  bool put;
  char* local;
  Device* local_device;  // NULL: host memory
  uint64_t raddr;
  size_t length;
  uint32_t flags;
  char* there = nullptr;           // the remote end in this process' reach
  Device* there_device = nullptr;  //   and whose it is
  RemoteDevice* remote = nullptr;  // the remote end is device memory of another process

  const Connection& connection() const { return Connection::of(conn); }
};

bool always_staged(const Ends& e) {
  const Device* device = e.local_device != nullptr ? e.local_device : e.there_device;
  return device != nullptr && device->policy().staging == Staging::always;
}

void find_remote(Ends& e) {
  const Peer& peer = *e.connection().peer;
  if (peer.rank == runtime().rank()) {
    e.there = reinterpret_cast<char*>(e.raddr);
    e.there_device = device_at(call_name(e.put), e.raddr, e.length);
    return;
  }
  if (!in_bound_segment(peer, e.raddr, e.length)) return;  // for its owner to judge
  e.remote = peer.segment.device;
  intptr_t delta = 0;
  if (e.remote != nullptr) {
    e.there_device = e.remote->mapped(&delta);
    if (e.there_device != nullptr) e.there = reinterpret_cast<char*>(e.raddr) + delta;
  } else if (peer.segment.direct && !always_staged(e)) {
    e.there = reinterpret_cast<char*>(e.raddr) + peer.segment.delta;
  }
}

// ---- one copy of the kind: both ends are in its reach ----

// A device copy costs microseconds, so an allocation for each does not count.
struct DirectCopy : PendingCopy {
  cwyc_op* client = nullptr;
  uint32_t what = 0;
};

cwy_status copy_directly(const Ends& e, Device& mover, cwyc_op* op) {
  auto copy = std::make_unique<DirectCopy>();
  copy->client = op;
  copy->what = e.put ? CWYC_DONE_LOCAL | CWYC_DONE_REMOTE : CWYC_DONE_REMOTE;
  copy->fn = [](PendingCopy& self, cwy_status status) {
    const std::unique_ptr<DirectCopy> own(static_cast<DirectCopy*>(&self));
    if (status != CWY_OK) own->device->copy_failed(status, own->dst, own->src, own->length);
    emulations_waiting.fetch_sub(1, std::memory_order_relaxed);
    own->client->fn(own->client, own->what, CWY_OK);
  };
  emulations_waiting.fetch_add(1, std::memory_order_relaxed);
  const cwy_status status =
      start_copy(mover, e.put ? e.there : e.local, e.put ? e.local : e.there, e.length, *copy);
  if (status == CWY_INPROGRESS) {
    (void)copy.release();  // the report's now
  } else {
    emulations_waiting.fetch_sub(1, std::memory_order_relaxed);
  }
  return status;
}

// The device whose one copy moves the bytes, or NULL.
Device* mover_of(const Ends& e) {
  if (e.local_device == nullptr) return e.there_device;
  if (e.there_device == nullptr || e.there_device->copies_with(*e.local_device)) {
    return e.local_device;
  }
  return nullptr;
}

// ---- the conduit ----

// Put or get between host memory here, or memory the conduit knows, and the peer: by the conduit if
// it reaches that, else over active messages.
cwy_status by_conduit(const Ends& e, char* local, cwyc_mem* lmem, uint64_t raddr, size_t length,
                      cwyc_op* op) {
  const Connection& c = e.connection();
  cwyc_rkey* const rkey = c.rkey.load(std::memory_order_acquire);
  const bool reached =
      rkey != nullptr || (e.remote == nullptr && (c.cep->caps & CWYC_CAP_UNREGISTERED) != 0);
  if (reached && length <= c.cep->attr.rma_max && in_bound_segment(*c.peer, raddr, length)) {
    const cwyc_ops& ops = host_table(c);
    const cwy_status status = e.put
                                  ? ops.put(e.conn, local, lmem, raddr, rkey, length, e.flags, op)
                                  : ops.get(e.conn, local, lmem, raddr, rkey, length, e.flags, op);
    if (status != CWY_ERR_UNSUPPORTED) return status;
  }
  return e.put ? emulated_put(e.conn, local, nullptr, raddr, nullptr, length, e.flags, op)
               : emulated_get(e.conn, local, nullptr, raddr, nullptr, length, e.flags, op);
}

// A get by the conduit into device memory: what the network wrote is made visible before the client
// hears of it.
struct FlushedGet {
  cwyc_op op{};  // first
  cwyc_op* client = nullptr;
  Device* device = nullptr;
  void* addr = nullptr;
  size_t length = 0;

  static void report(cwyc_op* reported, uint32_t what, cwy_status status) {
    const std::unique_ptr<FlushedGet> own(reinterpret_cast<FlushedGet*>(reported));
    if (status == CWY_OK) {
      status = own->device->module().flush(own->device->kind(), own->addr, own->length);
    }
    own->client->fn(own->client, what, status);
  }
};

cwy_status native_get(const Ends& e, cwyc_mem* lmem, cwyc_op* op) {
  auto flushed = std::make_unique<FlushedGet>();
  flushed->op.fn = FlushedGet::report;
  flushed->client = op;
  flushed->device = e.local_device;
  flushed->addr = e.local;
  flushed->length = e.length;
  const cwy_status status = by_conduit(e, e.local, lmem, e.raddr, e.length, &flushed->op);
  if (status == CWY_INPROGRESS) {
    (void)flushed.release();  // the report's now
  } else if (status == CWY_OK) {
    return e.local_device->module().flush(e.local_device->kind(), e.local, e.length);
  }
  return status;
}

// ---- the pipeline through host buffers ----

// Chunks of a transfer go through a buffer each: out of their source, then into their destination,
// several at once, so that both hops of a transfer overlap.
//
// Who may touch what: everything belongs to the thread that holds g_mutex, but for the `state` of a
// part that is on one of its hops: the report of that hop stores it with release, once.
class Pipeline {
 public:
  Pipeline(const Ends& ends, Device& device, cwyc_op* op)
      : ends_(ends), device_(device), client_(op), parts_(device.policy().depth) {
    chunk_ = std::min<uint64_t>(device.policy().chunk, ends.connection().cep->attr.rma_max);
    for (Part& part : parts_) part.pipeline = this;
  }

  // Starts what can be started. True when something is on its way or all is done.
  bool advance(uint32_t& moved);
  bool finished() const { return done_ == ends_.length; }
  // Tells the client what it does not know yet. After the last report the object is deleted, by the
  // caller.
  uint32_t news();
  cwyc_op* client() const { return client_; }

 private:
  enum State : uint32_t { idle, loading, loaded, storing, stored };
  struct Part {
    PendingCopy copy;  // first: reports find the part by its address
    cwyc_op op{};
    Pipeline* pipeline = nullptr;
    char* buffer = nullptr;
    size_t at = 0, bytes = 0;
    std::atomic<uint32_t> state{idle};
    // CWYC_DONE_* still to be reported; reports of one operation may come from several threads.
    std::atomic<uint32_t> awaits{0};
    void passed() {
      const uint32_t now = state.load(std::memory_order_relaxed);  // only this report changes it
      state.store(now + 1, std::memory_order_release);
    }
  };
  static void copied(PendingCopy& copy, cwy_status status) {
    if (status != CWY_OK) copy.device->copy_failed(status, copy.dst, copy.src, copy.length);
    reinterpret_cast<Part*>(&copy)->passed();
  }
  static void transferred(cwyc_op* op, uint32_t what, cwy_status status) {
    if (status != CWY_OK) operation_failed(op, status);
    auto* bytes = reinterpret_cast<char*>(op) - offsetof(Part, op);
    Part& part = *reinterpret_cast<Part*>(bytes);
    // acq_rel: the last report passes on what the others saw.
    if (part.awaits.fetch_and(~what, std::memory_order_acq_rel) == what) part.passed();
  }

  cwy_status hop(Part& part, bool first);
  cwy_status move(Part& part, Device* device, void* dst, const void* src);

  Ends ends_;
  Device& device_;
  cwyc_op* client_;
  uint64_t chunk_;
  size_t next_ = 0, read_ = 0, done_ = 0;
  bool told_local_ = false;
  std::vector<Part> parts_;
};

cwy_status Pipeline::move(Part& part, Device* device, void* dst, const void* src) {
  if (device == nullptr) {
    std::memcpy(dst, src, part.bytes);
    return CWY_OK;
  }
  part.copy.fn = copied;
  return start_copy(*device, dst, src, part.bytes, part.copy);
}

// The first hop reads the source (ours of a put, the peer's of a get), the second one writes.
cwy_status Pipeline::hop(Part& part, bool first) {
  const bool ours = first == ends_.put;
  part.state.store(first ? loading : storing, std::memory_order_relaxed);
  cwy_status status;
  if (ours) {
    char* const place = ends_.local + part.at;
    status =
        move(part, ends_.local_device, first ? part.buffer : place, first ? place : part.buffer);
  } else if (ends_.there != nullptr) {
    char* const place = ends_.there + part.at;
    status =
        move(part, ends_.there_device, first ? part.buffer : place, first ? place : part.buffer);
  } else {
    part.op.fn = transferred;
    part.awaits.store(ends_.put ? CWYC_DONE_LOCAL | CWYC_DONE_REMOTE : CWYC_DONE_REMOTE,
                      std::memory_order_relaxed);
    cwyc_mem* const lmem =
        device_.bounces(!ends_.put).memory().registration(ends_.connection().cep->conduit);
    Ends piece = ends_;
    piece.flags &= ~uint32_t{CWYC_IMMEDIATE | CWYC_SRC_VOLATILE};
    status = by_conduit(piece, part.buffer, lmem, ends_.raddr + part.at, part.bytes, &part.op);
    if (status < 0 && status != CWY_RETRY) operation_failed(&part.op, status);
  }
  if (status == CWY_RETRY) {
    part.state.store(first ? idle : loaded, std::memory_order_relaxed);
  } else if (status == CWY_OK) {
    part.passed();
  }
  return status;
}

bool Pipeline::advance(uint32_t& moved) {
  bool under_way = false;
  for (Part& part : parts_) {
    for (bool again = true; again;) {
      again = false;
      // Acquire: what the hop wrote is there.
      switch (part.state.load(std::memory_order_acquire)) {
        case idle:
          if (part.buffer == nullptr) {
            if (next_ == ends_.length) break;
            part.buffer = device_.bounces(!ends_.put).take();
            if (part.buffer == nullptr) break;
            part.at = next_;
            part.bytes = std::min<size_t>(chunk_, ends_.length - next_);
            next_ += part.bytes;
          }
          again = hop(part, true) != CWY_RETRY;
          break;
        case loaded:
          // Counted here and not by the report, which may be another thread's.
          if (part.copy.length != SIZE_MAX) {
            read_ += part.bytes;
            part.copy.length = SIZE_MAX;
          }
          again = hop(part, false) != CWY_RETRY;
          break;
        case stored:
          device_.bounces(!ends_.put).give(part.buffer);
          part.buffer = nullptr;
          part.copy.length = 0;
          done_ += part.bytes;
          ++moved;
          part.state.store(idle, std::memory_order_relaxed);
          again = next_ != ends_.length;
          break;
        default:
          break;  // on a hop
      }
    }
    under_way |= part.buffer != nullptr;
  }
  return under_way || finished();
}

uint32_t Pipeline::news() {
  uint32_t what = 0;
  if (ends_.put && !told_local_ && read_ == ends_.length) {
    told_local_ = true;
    what |= CWYC_DONE_LOCAL;
  }
  if (finished()) what |= CWYC_DONE_REMOTE;
  return what;
}

// Pipelines: those with buffers, and those that wait for some, oldest first. Never held while a
// client's operation is completed.
std::mutex g_mutex;
std::vector<std::unique_ptr<Pipeline>> g_active;
std::deque<std::unique_ptr<Pipeline>> g_waiting;

struct Report {
  cwyc_op* op;
  uint32_t what;
};

// Under g_mutex: one pass over everything.
uint32_t pass(std::vector<Report>& reports) {
  uint32_t moved = 0;
  for (size_t i = 0; i < g_active.size();) {
    Pipeline& p = *g_active[i];
    p.advance(moved);
    const bool finished = p.finished();
    if (const uint32_t what = p.news()) reports.push_back({p.client(), what});
    if (!finished) {
      ++i;
      continue;
    }
    g_active[i] = std::move(g_active.back());
    g_active.pop_back();
    emulations_waiting.fetch_sub(1, std::memory_order_relaxed);
  }
  while (!g_waiting.empty() && g_waiting.front()->advance(moved)) {
    // Even a finished one: the next pass reports it.
    g_active.push_back(std::move(g_waiting.front()));
    g_waiting.pop_front();
    ++moved;
  }
  return moved;
}

void tell(const std::vector<Report>& reports) {
  for (const Report& r : reports) r.op->fn(r.op, r.what, CWY_OK);
}

cwy_status start_pipeline(const Ends& e, Device& device, cwyc_op* op) {
  auto pipeline = std::make_unique<Pipeline>(e, device, op);
  emulations_waiting.fetch_add(1, std::memory_order_relaxed);
  std::vector<Report> reports;
  {
    const std::lock_guard lock(g_mutex);
    g_waiting.push_back(std::move(pipeline));
    pass(reports);
  }
  tell(reports);
  return CWY_INPROGRESS;
}

// ---- which way ----

[[noreturn]] __attribute__((cold)) void staging_forbidden(const Ends& e, const std::string& kind,
                                                          const char* where) {
  const Connection& c = e.connection();
  std::string reason;
  if (e.remote != nullptr) reason = fmt::format(" ({})", e.remote->obstacle());
  fatal(call_name(e.put),
        "memory kind {} and conduit {}, which serves rank {}, share no form of memory{}, and "
        "memkinds.{}.staging is forbid{}",
        kind, c.cep->conduit->name(), c.peer->rank, reason, kind.substr(0, kind.find(':')), where);
}

void require_staging(const Ends& e) {
  for (const Device* device : {e.local_device, e.there_device}) {
    if (device != nullptr && device->policy().staging == Staging::forbid) {
      staging_forbidden(e, device->name(), "");
    }
  }
  if (e.remote != nullptr && !e.remote->facts().stageable) {
    staging_forbidden(e, e.remote->name(), " there");
  }
}

void require_local(const Ends& e) {
  const Segment* segment = e.connection().peer->ep->segment();
  if (segment == nullptr || segment->device() == nullptr || e.length <= sizeof(uint64_t)) return;
  if (segment->contains(reinterpret_cast<uint64_t>(e.local), e.length)) return;
  const auto at = reinterpret_cast<uint64_t>(e.local);
  const auto base = reinterpret_cast<uint64_t>(segment->addr());
  fatal(call_name(e.put),
        "the local endpoint is bound to a segment of {}, [{:#x}, {:#x}), and the local memory "
        "[{:#x}, {:#x}) is outside of it",
        segment->device()->name(), base, base + segment->size(), at, at + e.length);
}

cwy_status start(cwyc_conn* conn, bool put, void* local, uint64_t raddr, size_t length,
                 uint32_t flags, cwyc_op* op) {
  if (length == 0) return CWY_OK;
  Ends e{conn,   put,  static_cast<char*>(local), device_at(call_name(put), local, length), raddr,
         length, flags};
  require_local(e);
  find_remote(e);
  if (e.there != nullptr) {
    if (e.local_device == nullptr && e.there_device == nullptr) {
      std::memcpy(put ? e.there : e.local, put ? e.local : e.there, length);
      return CWY_OK;
    }
    Device* const mover = mover_of(e);
    if (mover != nullptr && !always_staged(e)) return copy_directly(e, *mover, op);
    require_staging(e);
    return start_pipeline(e, e.local_device != nullptr ? *e.local_device : *e.there_device, op);
  }
  const Connection& c = e.connection();
  cwyc_mem* const lmem = local_registration(conn, local, length);
  const bool native_there =
      e.remote == nullptr || c.rkey.load(std::memory_order_acquire) != nullptr;
  if (native_there && e.local_device != nullptr && lmem != nullptr && !always_staged(e) &&
      length <= c.cep->attr.rma_max) {
    return put ? by_conduit(e, e.local, lmem, raddr, length, op) : native_get(e, lmem, op);
  }
  if (!native_there || e.local_device != nullptr) require_staging(e);
  if (e.local_device == nullptr) return by_conduit(e, e.local, lmem, raddr, length, op);
  return start_pipeline(e, *e.local_device, op);
}

// A host copy of a payload that lies in device memory; empty for one that does not.
std::vector<char> host_copy(const void* payload, size_t length) {
  constexpr const char* kCall = "gex_AM_*()";
  if (length == 0 || device_at(kCall, payload, length) == nullptr) return {};
  std::vector<char> copy(length);
  copy_bytes(kCall, copy.data(), payload, length);
  return copy;
}

}  // namespace

bool has_device_end(const Peer& peer) {
  if (peer.segment.device != nullptr) return true;
  const Segment* segment = peer.ep->segment();
  return segment != nullptr && segment->device() != nullptr;
}

bool is_in_reach(const Peer& peer) {
  const Segment* segment = peer.ep->segment();
  const Device* local = segment != nullptr ? segment->device() : nullptr;
  if (local != nullptr && local->policy().staging == Staging::always) return false;
  if (peer.rank == runtime().rank()) return true;
  intptr_t delta = 0;
  if (peer.segment.device != nullptr) return peer.segment.device->mapped(&delta) != nullptr;
  return peer.segment.direct;
}

cwy_status device_put_small(cwyc_conn* conn, const void* src, uint64_t raddr, cwyc_rkey* rkey,
                            size_t length, uint32_t flags, cwyc_op* op) {
  return device_put(conn, src, nullptr, raddr, rkey, length, flags, op);
}

cwy_status device_put(cwyc_conn* conn, const void* src, cwyc_mem*, uint64_t raddr, cwyc_rkey*,
                      size_t length, uint32_t flags, cwyc_op* op) {
  return start(conn, true, const_cast<void*>(src), raddr, length, flags, op);
}

cwy_status device_get(cwyc_conn* conn, void* dst, cwyc_mem*, uint64_t raddr, cwyc_rkey*,
                      size_t length, uint32_t flags, cwyc_op* op) {
  return start(conn, false, dst, raddr, length, flags, op);
}

cwy_status device_medium(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                         const void* payload, cwyc_mem* lmem, size_t length, uint32_t flags,
                         cwyc_op* op) {
  const std::vector<char> copy = host_copy(payload, length);
  const cwyc_ops& ops = host_table(Connection::of(conn));
  if (copy.empty()) {
    return ops.am_medium(conn, word, args, nargs, payload, lmem, length, flags, op);
  }
  return ops.am_medium(conn, word, args, nargs, copy.data(), nullptr, length,
                       flags | CWYC_SRC_VOLATILE, op);
}

cwy_status device_long(cwyc_conn* conn, uint64_t word, const int32_t* args, uint32_t nargs,
                       const void* payload, cwyc_mem*, size_t length, uint64_t raddr, cwyc_rkey*,
                       uint32_t flags, cwyc_op* op) {
  const std::vector<char> copy = host_copy(payload, length);
  if (copy.empty()) {
    return emulated_long(conn, word, args, nargs, payload, nullptr, length, raddr, nullptr, flags,
                         op);
  }
  return emulated_long(conn, word, args, nargs, copy.data(), nullptr, length, raddr, nullptr,
                       flags | CWYC_SRC_VOLATILE, op);
}

uint32_t push_device_transfers() {
  uint32_t events = progress_devices();
  std::vector<Report> reports;
  {
    const std::unique_lock lock(g_mutex, std::try_to_lock);
    if (!lock.owns_lock() || (g_active.empty() && g_waiting.empty())) return events;
    events += pass(reports);
  }
  tell(reports);
  return events + static_cast<uint32_t>(reports.size());
}

}  // namespace causeway
