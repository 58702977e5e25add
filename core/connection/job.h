// JobFacts: who takes part and where each rank runs. Built from the cards that ranks exchange
// through the bootstrap, and constant afterwards, but for ranks that failed and have been replaced.
// The object keeps a Place of each rank; cards stay as they were sent, in a table that the ranks of
// a host share.
#pragma once

#include <causeway/plugin.h>
#include <gasnetex.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/bootstrap.h"
#include "bootstrap/card_table.h"
#include "config/config.h"
#include "connection/am_limits.h"
#include "connection/selector.h"

namespace causeway {

using RankInfo = cwy_rank_info;

// The part of a card that many ranks have in common. Kept once for these.
struct CardKind {
  std::string hostname;
  std::string interface;    // of its first client
  std::string maps;         // mapping_words(), connection/mapping.h
  std::string opened;       // Addresses::list(); empty: the rank has no process now
  bool everything = false;  // built with GASNET_SEGMENT_EVERYTHING
  uint64_t config_id = 0;   // of the configuration's text, which is not sent
  std::map<std::string, AmLimits> am_limits;  // by conduit: what it takes
  auto operator<=>(const CardKind&) const = default;
};

// A rank's card: what it tells the others of itself. Extended by name, so versions may differ.
struct Card : CardKind {
  uint64_t host_id = 0;     // the operating system instance
  uint64_t sharing_id = 0;  // equal for ranks that the system lets map each other's memory
  uint64_t cpus_id = 0;     // equal for ranks of a host that may run on the same processors
  uint32_t pid = 0;
  uint32_t epoch = 1;
  uint64_t segment_max = 0;  // bytes of segment that this rank can offer
  Addresses addresses;       // of its endpoint in each conduit

  void set_configuration(const std::string& text);
  std::string pack() const;
  static Card unpack(std::string_view bytes);  // throws Error(CWY_ERR_INVALID)
  // With what the launcher says of its host and epoch, where there is one.
  static Card of_this_process(const Bootstrap* bootstrap = nullptr);
};

class JobFacts {
 public:
  JobFacts(const Bootstrap& bootstrap);

  uint32_t rank() const { return facts_.rank; }
  uint32_t size() const { return facts_.size; }
  const cwy_job& facts() const { return facts_; }

  // Sets what is known before the cards are exchanged, so that plugins can be initialised.
  void set_own_card(const Card& card) { facts_.host_id = card.host_id; }
  // `can_map`: some conduit maps memory here. `nbrhd_most`: of neighbors; 0 for any number.
  void set_cards(CardTable cards, bool can_map, uint32_t nbrhd_most);
  // By rank: the lowest rank of its neighborhood. After the cards; nbrhd() and what follows it is
  // known from then on.
  void set_neighborhoods(std::vector<uint32_t> nbrhd_of);

  // The rank has a new process. Called by one thread at a time. What was said of neighborhoods and
  // hosts (nbrhd_of(), nbrhd() and what follows it) stays as it was at the start.
  void replace_card(uint32_t rank, Card card);

  // Locks and unpacks, in microseconds: not for handlers of signals. Its sharing_id is as sent.
  Card card(uint32_t rank) const;
  // How the rank is addressed there, by its card of the start.
  std::optional<std::string> address(uint32_t rank, std::string_view name) const;
  uint64_t host_id(uint32_t rank) const { return get(places_[rank].where)->first; }
  uint64_t sharing_id(uint32_t rank) const { return get(places_[rank].where)->second; }
  uint32_t epoch(uint32_t rank) const { return get(places_[rank].epoch); }
  // The rank's process where pids mean the same to it and to this one; else 0.
  uint32_t pid_here(uint32_t rank) const;
  const CardKind& kind(uint32_t rank) const { return *get(places_[rank].kind); }
  // False: the rank has no process now (a replacement starts while another rank is dead).
  bool present(uint32_t rank) const { return !kind(rank).opened.empty(); }
  // Any thread; as if all were possible before the cards are there.
  uint32_t newest_epoch(uint32_t rank) const {
    return have_cards_.load(std::memory_order_acquire) ? epoch(rank) : UINT32_MAX;
  }
  // Rules of peers: go by it: `nbrhd` is a rank that could be mapped, if what serves it does so.
  Locality locality(uint32_t rank) const;
  // A rank as others see it that are `locality` of it, without its addresses: enough for
  // rule_for(), and cheap.
  PeerFacts facts_for_rules(uint32_t rank, Locality locality) const;
  // With the addresses, and the one in `conduit`; as seen from here, or from a rank that is
  // `supposed` of it.
  PeerFacts facts_of(uint32_t rank, const Conduit* conduit,
                     std::optional<Locality> supposed = std::nullopt) const;

  // Equal for ranks that are `nbrhd` to each other.
  uint64_t locality_key(uint32_t rank) const { return can_map_ ? sharing_id(rank) : rank; }
  // This rank as a peer sees it when it chooses a conduit towards it, as far as rules look at it.
  // Reaching is mutual, so the conduits are asked about the peer.
  PeerFacts facts_seen_from(uint32_t rank) const;

  uint64_t segment_max() const { return segment_max_; }
  uint64_t least_segment_max() const { return least_segment_max_; }

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

  // The memory of this process that all this takes.
  uint64_t bytes() const { return size() * sizeof(Place) + cards_.own_bytes(); }

 private:
  cwy_job facts_{};
  std::string job_id_, session_dir_;
  std::vector<uint32_t> local_ranks_;
  uint32_t sharers_ = 1;  // this rank included
  // A part of the card; neighborhood.ranks divides those of one sharing_id. Written when the cards
  // come and by replace_card(), release: the pid becomes 0 first, the epoch changes last. Acquire
  // when read, so that a reader of a new epoch finds where that process is.
  using Where = std::pair<uint64_t, uint64_t>;  // host_id, sharing_id
  struct Place {
    std::atomic<const Where*> where{nullptr};
    std::atomic<const CardKind*> kind{nullptr};
    std::atomic<uint32_t> pid{0}, epoch{1};
  };
  std::unique_ptr<Place[]> places_;  // by rank
  CardTable cards_;                  // of the start
  mutable std::mutex mutex_;         // guards replaced_; behind the start kinds_ and wheres_ too
  std::map<uint32_t, Card> replaced_;
  std::set<CardKind> kinds_;  // none is ever erased: places refer to them
  std::set<Where> wheres_;    // likewise
  uint64_t segment_max_ = 0, least_segment_max_ = UINT64_MAX;
  std::vector<uint32_t> nbrhd_of_;
  std::vector<RankInfo> nbrhd_, host_;
  uint32_t nbrhd_index_ = 0, host_index_ = 0, nbrhd_set_size_ = 1, nbrhd_set_rank_ = 0;
  uint32_t host_set_size_ = 1, host_set_rank_ = 0;
  bool can_map_ = false;
  std::atomic<bool> have_cards_{false};  // release behind places_

  template <typename T>
  static T get(const std::atomic<T>& of) {
    return of.load(std::memory_order_acquire);
  }
  void place(uint32_t rank, const Card& card);
  void publish_local_ranks();
};

// Processors this process may run on.
uint32_t usable_cpus();

}  // namespace causeway
