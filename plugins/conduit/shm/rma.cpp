// One-sided operations: done when the call returns.
#include "rma.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "../common/cpu_atomics.h"
#include "../common/scatter_gather.h"

namespace causeway::shm {
namespace {

void count(const cwyc_conn* conn, OneSidedCount which, uint64_t amount) {
  if (conn->ep->multithreaded.load(std::memory_order_relaxed))
    conn->ep->one_sided.add(which, amount);
  else
    conn->ep->one_sided.add_alone(which, amount);
}

void count_put(const cwyc_conn* conn, size_t length) {
  count(conn, count_puts, 1);
  count(conn, count_put_bytes, length);
}
void count_get(const cwyc_conn* conn, size_t length) {
  count(conn, count_gets, 1);
  count(conn, count_get_bytes, length);
}

// The call moves at most MAX_RW_COUNT bytes, stops at a page that is not there, and restarts
// nothing by itself.
template <class Call>
cwy_status transfer(Call call, uint32_t pid, uint64_t raddr, char* local, size_t length) {
  while (length != 0) {
    const iovec here{local, length};
    const iovec there{reinterpret_cast<void*>(raddr), length};
    const ssize_t n = call(static_cast<pid_t>(pid), &here, 1ul, &there, 1ul, 0ul);
    if (n <= 0) {
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == ESRCH) {
        const uint32_t other = living_thread(pid);
        if (other == 0 || other == std::exchange(pid, other)) return CWY_ERR_PEER_FAILED;
        continue;
      }
      if (n < 0 && errno == ENOMEM) return CWY_ERR_NOMEM;
      if (n < 0 && (errno == EPERM || errno == ENOSYS)) return CWY_ERR_UNSUPPORTED;
      return CWY_ERR_INVALID;
    }
    local += n;
    raddr += static_cast<uint64_t>(n);
    length -= static_cast<size_t>(n);
  }
  return CWY_OK;
}

// Pieces of one list on their way through cross-memory attach, many to a system call.
template <class Call>
class Batch {
 public:
  Batch(Call call, uint32_t pid) : call_(call), pid_(pid) {}

  cwy_status add(void* local, uint64_t remote, size_t length) {
    if (count_ == kMost) {
      const cwy_status status = flush();
      if (status != CWY_OK) return status;
    }
    here_[count_] = {local, length};
    there_[count_] = {reinterpret_cast<void*>(remote), length};
    ++count_;
    return CWY_OK;
  }

  // Moves what has been added; nothing is left afterwards, whatever the answer. The call moves at
  // most MAX_RW_COUNT bytes and stops in front of a page that is not there, within a piece too: the
  // rest of that piece goes alone, and its answer counts.
  cwy_status flush() {
    size_t first = 0;
    cwy_status status = CWY_OK;
    while (first < count_ && status == CWY_OK) {
      const ssize_t n = call_(static_cast<pid_t>(pid_), here_ + first, count_ - first,
                              there_ + first, count_ - first, 0ul);
      size_t moved = n > 0 ? static_cast<size_t>(n) : 0;
      for (; first < count_ && here_[first].iov_len <= moved; ++first)
        moved -= here_[first].iov_len;
      if (first == count_) break;
      status =
          transfer(call_, pid_, reinterpret_cast<uint64_t>(there_[first].iov_base) + moved,
                   static_cast<char*>(here_[first].iov_base) + moved, here_[first].iov_len - moved);
      ++first;
    }
    count_ = 0;
    return status;
  }

 private:
  static constexpr size_t kMost = 512;  // of IOV_MAX, 1024: 16 KiB of stack
  Call call_;
  uint32_t pid_;
  size_t count_ = 0;
  iovec here_[kMost], there_[kMost];
};

// The first failure ends it; `total` is what the lists have in common.
template <class Call>
cwy_status move_batched(Call call, const cwyc_vector& v, size_t& total) {
  Batch<Call> batch(call, v.rkey->pid);
  cwy_status status = CWY_OK;
  const bool equal = for_each_common_piece(v, [&](void* here, uint64_t there, size_t n) {
    if (status == CWY_OK) status = batch.add(here, there, n);
    total += n;
  });
  if (status == CWY_OK) status = batch.flush();
  return equal ? status : CWY_ERR_INVALID;
}

bool all_inside(const cwyc_vector& v) {
  return std::all_of(v.remote, v.remote + v.remote_count, [&](const cwyc_riov& piece) {
    return piece.length == 0 || inside(*v.rkey, piece.addr, piece.length);
  });
}

cwy_status may_move(cwyc_conn* conn, const cwyc_vector& v) {
  if (__builtin_expect(connection(conn).has_failed(), 0)) return CWY_ERR_PEER_FAILED;
  if (!v.rkey->mapped && !v.rkey->cross_memory) return CWY_ERR_UNSUPPORTED;
  return all_inside(v) ? CWY_OK : CWY_ERR_INVALID;
}

// `copy(local, there, n)` moves a piece where the peer's memory is mapped, `by_kernel` where not.
template <class Call, class Copy>
cwy_status move(cwyc_conn* conn, const cwyc_vector& v, Call by_kernel,
                void (*count)(const cwyc_conn*, size_t), Copy&& copy) {
  cwy_status status = may_move(conn, v);
  if (status != CWY_OK) return status;
  size_t total = 0;
  const auto each = [&](void* local, uint64_t remote, size_t n) {
    copy(local, local_pointer(*v.rkey, remote), n);
    total += n;
  };
  if (!v.rkey->mapped)
    status = move_batched(by_kernel, v, total);
  else if (!for_each_common_piece(v, each))
    status = CWY_ERR_INVALID;
  count(conn, total);
  return status;
}

}  // namespace

cwy_status cross_write(uint32_t pid, uint64_t raddr, const void* src, size_t length) {
  return transfer(process_vm_writev, pid, raddr, const_cast<char*>(static_cast<const char*>(src)),
                  length);
}

cwy_status cross_read(uint32_t pid, uint64_t raddr, void* dst, size_t length) {
  return transfer(process_vm_readv, pid, raddr, static_cast<char*>(dst), length);
}

cwy_status Conduit::put(cwyc_conn* conn, const void* src, cwyc_mem*, uint64_t raddr,
                        cwyc_rkey* rkey, size_t length, uint32_t, cwyc_op*) {
  Connection& c = connection(conn);
  if (__builtin_expect(c.has_failed(), 0)) return CWY_ERR_PEER_FAILED;
  if (length == 0) return CWY_OK;
  count_put(conn, length);
  return write_remote(*rkey, raddr, src, length);
}

cwy_status Conduit::get(cwyc_conn* conn, void* dst, cwyc_mem*, uint64_t raddr, cwyc_rkey* rkey,
                        size_t length, uint32_t, cwyc_op*) {
  Connection& c = connection(conn);
  if (__builtin_expect(c.has_failed(), 0)) return CWY_ERR_PEER_FAILED;
  if (length == 0) return CWY_OK;
  count_get(conn, length);
  return read_remote(*rkey, raddr, dst, length);
}

cwy_status Conduit::putv(cwyc_conn* conn, const cwyc_vector* v, uint32_t, cwyc_op*) {
  return move(conn, *v, process_vm_writev, count_put, [](void* local, char* there, size_t n) {
    std::memmove(there, local, n);  // a peer may be oneself
  });
}

cwy_status Conduit::getv(cwyc_conn* conn, const cwyc_vector* v, uint32_t, cwyc_op*) {
  return move(conn, *v, process_vm_readv, count_get,
              [](void* local, char* there, size_t n) { std::memmove(local, there, n); });
}

cwy_status Conduit::atomic(cwyc_conn* conn, const cwyc_atomic* a, cwyc_rkey* rkey, uint32_t,
                           cwyc_op*) {
  Connection& c = connection(conn);
  if (__builtin_expect(c.has_failed(), 0)) return CWY_ERR_PEER_FAILED;
  if (!inside(*rkey, a->raddr, cpu_atomics::width(*a))) return CWY_ERR_INVALID;
  if (!rkey->mapped) return CWY_ERR_UNSUPPORTED;
  count(conn, count_atomics, 1);
  return cpu_atomics::execute(local_pointer(*rkey, a->raddr), *a);
}

}  // namespace causeway::shm
