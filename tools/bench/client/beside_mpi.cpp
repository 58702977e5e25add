// The rows that MPI libraries are measured with too (mpi/mpi_collectives.c), and the bounds that
// the memory sets, or bare sockets. Same operations, same placement, same statistics on every side:
// the fastest repetition of a launch, for whatever disturbs can only slow down, and it slows ranks
// that spin without end more than ours.
#include <gasnet_coll.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "../raw/socket_ring.h"
#include "measure.h"
#include "session.h"

namespace causeway::bench {
namespace {

constexpr size_t kMost = 8u << 20;
constexpr double kRowNs = 400e6;  // no more repetitions of a row after this time

class Rows {
 public:
  explicit Rows(Session& session) : session_(session), job_(session.job()) {}

  void measure(const std::string& name, const std::function<void()>& once) {
    if (!session_.wants(name)) return;
    timed(once, 2);
    const uint64_t turns = job_.from_root(turns_for(session_.aim_ns(), timed(once, 4), 1 << 14));
    double fastest = timed(once, turns);
    const double begun = now_ns();
    for (unsigned i = 1; i < session_.repetitions(); ++i) {
      fastest = std::min(fastest, timed(once, turns));
      if (job_.from_root(now_ns() - begun > kRowNs) != 0) break;
    }
    session_.report({name, fastest, std::nullopt, "", ""});
  }

 private:
  // The time of the slowest rank: one that was away between the barrier and its look at the clock
  // would see the others' work done.
  double timed(const std::function<void()>& once, uint64_t count) {
    job_.sync();
    double slowest = each_ns(count, once);
    gex_Event_Wait(gex_Coll_ReduceToAllNB(job_.tm(), &slowest, &slowest, GEX_DT_DBL, sizeof slowest,
                                          1, GEX_OP_MAX, nullptr, nullptr, 0));
    return slowest;
  }

  Session& session_;
  Job& job_;
};

void wait(gex_Event_t event) {
  gex_Event_Wait(event);
}

// Every byte of the sources is read once and every byte of the results written once, by ranks that
// copy at the same time: no sum of them can be faster.
void copy_own_part(Job& job, size_t bytes, size_t half) {
  const size_t from = bytes * job.rank() / job.size(), to = bytes * (job.rank() + 1) / job.size();
  constexpr size_t kChunk = 32 << 10;
  for (size_t at = from; at < to; at += kChunk) {
    const size_t n = std::min(kChunk, to - at);
    for (uint32_t r = 0; r < job.size(); ++r) {
      unsigned char* const peer = job.mapped_address(r);
      memcpy(peer + half + at, peer + at, n);
    }
  }
}

// Every rank's value, by rank, on every rank.
std::vector<uint64_t> exchange(Job& job, uint64_t value) {
  const std::vector<uint64_t> gathered = job.gather(value);
  std::vector<uint64_t> all(job.size());
  for (uint32_t r = 0; r < job.size(); ++r)
    all[r] = job.from_root(gathered.empty() ? 0 : gathered[r]);
  return all;
}

// Between processes of one host that map nothing of each other: bare sockets over loopback.
void socket_bounds(Rows& rows, Job& job, double* dst, const double* src) {
  gex_Rank_t here = 0;
  gex_System_QueryHostInfo(nullptr, &here, nullptr);
  if (here != job.size()) return;
  raw::SocketRing ring(job.rank(), job.size(), [&](uint16_t port) {
    return static_cast<uint16_t>(exchange(job, port)[(job.rank() + 1) % job.size()]);
  });
  const auto all_reduce = [&](const char* name, size_t bytes) {
    const size_t count = bytes / sizeof(double) / job.size() * job.size();
    rows.measure(name, [&ring, dst, src, count] { ring.all_reduce(dst, src, count); });
  };
  all_reduce("sockets.allreduce.64KiB", 64 << 10);
  all_reduce("sockets.allreduce.1MiB", 1 << 20);
  all_reduce("sockets.allreduce.8MiB", kMost);
}

// Memory that no segment holds; beside it what the kernel takes to copy as much between the same
// processes without any library, every receiver beginning elsewhere.
void from_the_heap(Rows& rows, Job& job) {
  std::vector<unsigned char> from(kMost), to(kMost);
  rows.measure("heap.broadcast.8MiB",
               [&] { wait(gex_Coll_BroadcastNB(job.tm(), 0, to.data(), from.data(), kMost, 0)); });
  const auto root = static_cast<pid_t>(job.from_root(static_cast<uint64_t>(getpid())));
  const uint64_t source = job.from_root(reinterpret_cast<uint64_t>(from.data()));
  const auto copy = [&](size_t at, size_t bytes) {
    iovec local{to.data() + at, bytes};
    iovec remote{reinterpret_cast<void*>(source + at), bytes};
    return process_vm_readv(root, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
  };
  for (const uint64_t may : exchange(job, copy(0, 1) ? 1 : 0))
    if (may == 0) return;
  const size_t first = kMost / job.size() * job.rank() & ~size_t{4095};
  rows.measure("bound.heap.broadcast.8MiB", [&] {
    if (job.rank() != 0) {
      copy(first, kMost - first);
      copy(0, first);
    }
    job.sync();
  });
}

void bounds(Rows& rows, Job& job, size_t half) {
  const auto all_reduce = [&](const char* name, size_t bytes) {
    rows.measure(name, [&job, bytes, half] {
      copy_own_part(job, bytes, half);
      job.sync();
    });
  };
  all_reduce("bound.allreduce.64KiB", 64 << 10);
  all_reduce("bound.allreduce.1MiB", 1 << 20);
  all_reduce("bound.allreduce.8MiB", kMost);
  rows.measure("bound.broadcast.8MiB", [&job, half] {
    if (job.rank() != 0)
      memcpy(job.mapped_address(job.rank()) + half, job.mapped_address(0), kMost);
    job.sync();
  });
}

}  // namespace

void measure_beside_mpi(Session& session) {
  Job& job = session.job();
  Rows rows(session);
  const size_t half = job.segment_bytes() / 2;
  unsigned char* const own = job.owner_address(job.rank());
  if (half < kMost) return;
  memset(own, 0, 2 * kMost);
  auto* const src = reinterpret_cast<double*>(own);
  auto* const dst = reinterpret_cast<double*>(own + half);
  uint32_t turn = 0;
  rows.measure("barrier", [&] { wait(gex_Coll_BarrierNB(job.tm(), 0)); });
  rows.measure("broadcast.8", [&] {
    const gex_Rank_t root = turn++ % job.size();
    wait(gex_Coll_BroadcastNB(job.tm(), root, dst, src, 8, 0));
  });
  const auto all_reduce = [&](const char* name, size_t bytes) {
    rows.measure(name, [=, &job] { wait(start_sum(job, dst, src, bytes / sizeof(double))); });
  };
  all_reduce("allreduce.8", 8);
  all_reduce("allreduce.64KiB", 64 << 10);
  all_reduce("allreduce.1MiB", 1 << 20);
  all_reduce("allreduce.8MiB", kMost);
  rows.measure("broadcast.8MiB",
               [&] { wait(gex_Coll_BroadcastNB(job.tm(), 0, dst, src, kMost, 0)); });
  if (MappedHalves(job, half).all) {
    bounds(rows, job, half);
    from_the_heap(rows, job);
  } else {
    socket_bounds(rows, job, dst, src);
  }
}

}  // namespace causeway::bench
