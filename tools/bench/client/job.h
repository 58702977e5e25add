// The measuring program's job: one client, one endpoint, one segment, and what the ranks need to
// agree on before they measure.
#pragma once

#include <gasnet_coll.h>

#include <cstdint>
#include <vector>

#include "../raw/barrier.h"
#include "../raw/collective.h"
#include "../raw/exchange.h"
#include "../raw/line.h"
#include "../raw/ring.h"
#include "../raw/stream.h"
#include "start.h"

namespace causeway::bench {

// Memory that all ranks share without the library's help: where the raw loops run.
struct SharedBlock {
  raw::Line line;
  raw::LinePair lines;
  raw::Barrier barrier;
  raw::Ring ring;
  raw::Exchange exchange;
  raw::Stream stream;
  raw::Board board;
  alignas(4096) unsigned char data[8 << 20];
};

class Job {
 public:
  // Joins the job and attaches `segment_bytes`; with `pin`, binds this rank to a core of its own
  // in between, when there are enough. Ends the process with one line when the library refuses.
  Job(int* argc, char*** argv, size_t segment_bytes, bool pin, bool count_peers = false);

  uint32_t rank() const { return rank_; }
  uint32_t size() const { return size_; }
  gex_TM_t tm() const { return tm_; }
  // The other rank of the measured pair; ranks 2 and up only keep in step.
  uint32_t peer() const { return rank_ == 0 ? 1 : 0; }
  bool is_first() const { return rank_ == 0; }
  bool is_second() const { return rank_ == 1; }

  unsigned cores() const { return place_.cores; }
  bool pinned() const { return place_.pinned; }
  bool oversubscribed() const { return cores() < size_; }
  double init_attach_ns() const { return init_attach_ns_; }

  // All ranks have come here.
  void sync() const;
  // Rank 0's value, on every rank. Collective.
  uint64_t from_root(uint64_t value) const;
  // Every rank's value, by rank, on rank 0; empty elsewhere. Collective.
  std::vector<uint64_t> gather(uint64_t value) const;

  unsigned char* owner_address(uint32_t rank) const;
  // That rank's segment in this process, or nullptr.
  unsigned char* mapped_address(uint32_t rank) const;
  size_t segment_bytes() const { return segment_bytes_; }
  // Do puts and gets to the peer compile to stores and loads?
  bool peer_is_direct() const;

  // Collective at first use; nullptr when the system does not let ranks share a mapping.
  SharedBlock* shared() const { return shared_; }
  void map_shared();

 private:
  gex_Client_t client_ = GEX_CLIENT_INVALID;
  gex_EP_t ep_ = GEX_EP_INVALID;
  gex_TM_t tm_ = GEX_TM_INVALID;
  gex_Segment_t segment_ = GEX_SEGMENT_INVALID;
  uint32_t rank_ = 0;
  uint32_t size_ = 1;
  size_t segment_bytes_ = 0;
  OwnCore place_;
  double init_attach_ns_ = 0;
  SharedBlock* shared_ = nullptr;
};

// Sums of doubles over all ranks, on all of them.
inline gex_Event_t start_sum(const Job& job, void* to, const void* from, size_t count) {
  return gex_Coll_ReduceToAllNB(job.tm(), to, from, GEX_DT_DBL, sizeof(double), count, GEX_OP_ADD,
                                nullptr, nullptr, 0);
}

// The other halves of the ranks' segments as raw loops see them: sources in front, results behind.
struct MappedHalves {
  MappedHalves(const Job& job, size_t half) {
    for (uint32_t r = 0; r < job.size(); ++r) {
      unsigned char* const at = job.mapped_address(r);
      all = all && at != nullptr;
      sources.push_back(reinterpret_cast<const double*>(at));
      results.push_back(at != nullptr ? reinterpret_cast<double*>(at + half) : nullptr);
    }
  }
  std::vector<const double*> sources;
  std::vector<double*> results;
  bool all = true;  // are mapped
};

// The active messages of the measurements: what their handlers have counted.
struct Counters {
  volatile uint64_t pings = 0;
  volatile uint64_t pongs = 0;
  volatile uint64_t floods = 0;
  volatile uint64_t flood_ends = 0;
  unsigned char* block = nullptr;  // where a medium's payload is copied to
  unsigned char* back = nullptr;   // where the answer to a long message goes
};
extern Counters counters;

enum Handler : uint8_t {
  kValue = GEX_AM_INDEX_BASE,  // a value for from_root() and gather()
  kPing,
  kPong,
  kPingBlock,
  kPongBlock,
  kFlood,
  kFloodEnd,
  kFloodBlock,
  kPingShort,
  kPongShort,
  kFloodShort,
  kPingLong,
  kPongLong,
  kFloodLong
};

}  // namespace causeway::bench
