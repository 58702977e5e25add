// JobFacts: who takes part and where each rank runs. Built from the cards that ranks exchange
// through the bootstrap, and constant afterwards, but for the cards of ranks that failed and have
// been replaced.
#pragma once

#include <causeway/plugin.h>
#include <gasnetex.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.h"
#include "config/config.h"
#include "connection/am_limits.h"
#include "connection/selector.h"

namespace causeway {

using RankInfo = cwy_rank_info;

// A rank's card: what it tells the others of itself. Extended by name, so versions may differ.
struct Card {
  std::string hostname;
  uint64_t host_id = 0;     // the operating system instance
  uint64_t sharing_id = 0;  // equal for ranks that the system lets map each other's memory
  uint64_t cpus_id = 0;     // equal for ranks of a host that may run on the same processors
  uint32_t pid = 0;
  uint32_t epoch = 1;
  uint64_t segment_max = 0;  // bytes of segment that this rank can offer
  bool everything = false;   // built with GASNET_SEGMENT_EVERYTHING
  std::string interface;     // of its first client
  std::string maps;          // mapping_words(), connection/mapping.h
  // Of the configuration, to find ranks that read another one: kilobytes that each rank would keep
  // of every other are a number here.
  uint64_t config_id = 0;
  std::string fingerprint;  // the text; not packed. Known of this rank, and where it differs
  Addresses addresses;      // of its endpoint in each conduit
  // Conduit name -> what it takes. One object where ranks agree.
  using Limits = std::map<std::string, AmLimits>;
  std::shared_ptr<const Limits> am_limits = std::make_shared<const Limits>();

  // False: the rank has no process now (a replacement starts while another rank is dead).
  bool present() const { return !addresses.empty(); }

  void set_configuration(std::string text);
  // Keeps what is the same on the other card once.
  void share(const Card& other);
  std::string pack() const;
  static Card unpack(const std::string& bytes);  // throws Error(CWY_ERR_INVALID)
  static Card of_this_process();
  // With what the launcher says of this process's host and epoch.
  static Card of_this_process(const Bootstrap& bootstrap);
};

class JobFacts {
 public:
  JobFacts(const Bootstrap& bootstrap);

  uint32_t rank() const { return facts_.rank; }
  uint32_t size() const { return facts_.size; }
  const cwy_job& facts() const { return facts_; }

  // Sets what is known before the cards are exchanged, so that plugins can be initialised.
  void set_own_card(const Card& card);
  // All cards, by rank.
  // `can_map`: some conduit maps memory here. `nbrhd_most`: of neighbors; 0 for any number.
  void set_cards(std::vector<Card> cards, bool can_map, uint32_t nbrhd_most);
  // By rank: the lowest rank of its neighborhood. After the cards; nbrhd() and what follows it is
  // known from then on.
  void set_neighborhoods(std::vector<uint32_t> nbrhd_of);

  // The rank has a new process. Called by one thread at a time. What was said of neighborhoods and
  // hosts (nbrhd_of(), nbrhd() and what follows it) stays as it was at the start.
  void replace_card(uint32_t rank, Card card);

  // Acquire: a card that has been replaced is complete. What it refers to stays.
  const Card& card(uint32_t rank) const { return *cards_[rank].load(std::memory_order_acquire); }
  // Any thread; as if all were possible before the cards are there.
  uint32_t newest_epoch(uint32_t rank) const {
    return have_cards_.load(std::memory_order_acquire) ? card(rank).epoch : UINT32_MAX;
  }
  // Rules of peers: go by it: `nbrhd` is a rank that could be mapped, if what serves it does so.
  Locality locality(uint32_t rank) const;
  PeerFacts facts_of(uint32_t rank, const Conduit* conduit) const;

  // Equal for ranks that are `nbrhd` to each other.
  uint64_t locality_key(uint32_t rank) const { return can_map_ ? card(rank).sharing_id : rank; }
  // This rank as a peer sees it when it chooses a conduit towards it, as far as rules look at it.
  // Reaching is mutual, so the conduits are asked about the peer.
  PeerFacts facts_seen_from(uint32_t rank) const;
  // A rank as others see it that are `locality` of it.
  PeerFacts facts_supposed(uint32_t rank, Locality locality) const;

  uint64_t segment_max() const { return card(facts_.rank).segment_max; }
  uint64_t least_segment_max() const;

  // Neighborhoods: ranks that map each other's segments. By its lowest rank; constant.
  uint32_t nbrhd_of(uint32_t rank) const { return nbrhd_of_[rank]; }
  bool in_nbrhd(uint32_t rank) const { return nbrhd_of_[rank] == nbrhd_of_[facts_.rank]; }
  const std::vector<RankInfo>& nbrhd() const { return nbrhd_; }
  const std::vector<RankInfo>& host() const { return host_; }
  uint32_t nbrhd_index() const { return nbrhd_index_; }
  uint32_t host_index() const { return host_index_; }
  uint32_t nbrhd_set_size() const { return nbrhd_set_size_; }
  uint32_t nbrhd_set_rank() const { return nbrhd_set_rank_; }
  // With more ranks than processors the rank that this one waits for may not be running. Launchers
  // bind ranks, so what counts are those with the processors of this one; all of the host before
  // the cards are there. Sets that overlap in part count as different.
  bool crowded() const { return sharers_ > facts_.cpu_count; }
  uint32_t ranks_per_cpu() const { return std::max(sharers_ / facts_.cpu_count, 1u); }
  uint32_t host_set_size() const { return host_set_size_; }
  uint32_t host_set_rank() const { return host_set_rank_; }

 private:
  cwy_job facts_{};
  std::string job_id_, session_dir_;
  std::vector<uint32_t> local_ranks_;
  uint32_t sharers_ = 1;  // this rank included
  // By rank; release when stored. Every card that ever was is kept, because others may read it.
  std::unique_ptr<std::atomic<const Card*>[]> cards_;
  std::vector<std::unique_ptr<const Card>> kept_;
  std::vector<uint32_t> nbrhd_of_;
  std::vector<RankInfo> nbrhd_, host_;
  uint32_t nbrhd_index_ = 0, host_index_ = 0, nbrhd_set_size_ = 1, nbrhd_set_rank_ = 0;
  uint32_t host_set_size_ = 1, host_set_rank_ = 0;
  bool can_map_ = false;
  std::atomic<bool> have_cards_{false};  // release behind cards_

  void publish_local_ranks();
};

// Processors this process may run on.
uint32_t usable_cpus();

}  // namespace causeway
