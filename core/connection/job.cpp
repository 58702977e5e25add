#include "connection/job.h"

#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/error.h"
#include "base/fields.h"
#include "base/regular_file.h"
#include "spawn/limits.h"

namespace causeway {
namespace {

constexpr std::string_view kAddress = "address.";  // before the name of a conduit

uint64_t hash_text(const std::string& text, uint64_t seed) {
  uint64_t h = 0xcbf29ce484222325ull ^ seed;  // FNV-1a
  for (const unsigned char c : text) h = (h ^ c) * 0x100000001b3ull;
  return h;
}

std::string namespace_id(const char* name) {
  struct stat st {};
  const std::string path = std::string("/proc/self/ns/") + name;
  return ::stat(path.c_str(), &st) == 0 ? std::to_string(st.st_ino) : std::string("?");
}

std::vector<RankInfo> rank_list(const std::vector<uint32_t>& ranks) {
  std::vector<RankInfo> out;
  out.reserve(ranks.size());
  for (const uint32_t r : ranks) out.push_back(RankInfo{r});
  return out;
}

}  // namespace

void Card::set_configuration(const std::string& text) {
  config_id = hash_text(text, 4);
}

std::string Card::pack() const {
  std::string out;
  put_field(out, "host", hostname);
  put_field(out, "host_id", std::to_string(host_id));
  put_field(out, "sharing_id", std::to_string(sharing_id));
  put_field(out, "cpus_id", std::to_string(cpus_id));
  put_field(out, "pid", std::to_string(pid));
  put_field(out, "epoch", std::to_string(epoch));
  put_field(out, "segment_max", std::to_string(segment_max));
  put_field(out, "everything", everything ? "1" : "0");
  put_field(out, "interface", interface);
  put_field(out, "maps", maps);
  put_field(out, "config_id", std::to_string(config_id));
  for (const auto& [name, address] : addresses.all())
    put_field(out, std::string(kAddress) + name, address);
  for (const auto& [name, limits] : am_limits)
    put_field(out, "am." + name, fmt::format("{} {}", limits.medium, limits.long_max));
  return out;
}

Card Card::unpack(std::string_view bytes) {
  Card card;
  while (!bytes.empty()) {
    const auto [name, text] = take_field(bytes);
    const std::string value(text);
    const uint64_t number = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "host") card.hostname = value;
    if (name == "host_id") card.host_id = number;
    if (name == "sharing_id") card.sharing_id = number;
    if (name == "cpus_id") card.cpus_id = number;
    if (name == "pid") card.pid = static_cast<uint32_t>(number);
    if (name == "epoch") card.epoch = static_cast<uint32_t>(number);
    if (name == "segment_max") card.segment_max = number;
    if (name == "everything") card.everything = value == "1";
    if (name == "interface") card.interface = value;
    if (name == "maps") card.maps = value;
    if (name == "config_id") card.config_id = number;
    if (name.starts_with(kAddress)) card.addresses.add(name.substr(kAddress.size()), value);
    if (name.starts_with("am.")) {
      char* rest = nullptr;
      AmLimits& limits = card.am_limits[std::string(name.substr(3))];
      limits.medium = std::strtoull(value.c_str(), &rest, 10);
      limits.long_max = std::strtoull(rest, nullptr, 10);
    }
  }
  card.opened = card.addresses.list();
  return card;
}

namespace {

// Equal for processes of one host. GASNET_HOST_DETECT names another sign than the running kernel's
// number: containers on one kernel may want to count as hosts, and hosts as one. `launchers_host`:
// what the launcher tells hosts apart by. It separates what the system would take for one host
// (network namespaces); it does not join what the system keeps apart. Without a number of the
// kernel's, as in some sandboxes, the name stands for it.
uint64_t own_host_id(const std::string& hostname, const std::string& launchers_host) {
  const char* wish = std::getenv("GASNET_HOST_DETECT");
  const std::string way = wish != nullptr ? wish : "";
  if (way == "hostname") return hash_text(hostname, 2);
  if (way == "gethostid") return hash_text(std::to_string(::gethostid()), 3);
  if (!way.empty() && way != "conduit") {
    throw Error(CWY_ERR_INVALID,
                "GASNET_HOST_DETECT='{}' is not one of hostname, gethostid, conduit", way);
  }
  const std::string kernel = first_line_of("/proc/sys/kernel/random/boot_id");
  if (kernel.empty() && errno == EMFILE)
    throw Error(CWY_ERR_NOMEM, "which host this is: {}; raise it", shortage(EMFILE));
  return hash_text((kernel.empty() ? hostname : kernel) + launchers_host, 1);
}

}  // namespace

Card Card::of_this_process(const Bootstrap* bootstrap) {
  const std::string host = bootstrap == nullptr ? "" : bootstrap->host_id();
  Card card;
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  card.hostname = name;
  card.host_id = own_host_id(card.hostname, host.empty() ? "" : "/" + host);
  // Mapping a neighbor's memory goes through /proc/<pid>/fd: same pid namespace and same user.
  card.sharing_id =
      hash_text(namespace_id("pid") + ":" + namespace_id("ipc") + ":" + std::to_string(::geteuid()),
                card.host_id);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  ::sched_getaffinity(0, sizeof cpus, &cpus);
  card.cpus_id = hash_text({reinterpret_cast<const char*>(&cpus), sizeof cpus}, 5);
  card.pid = static_cast<uint32_t>(::getpid());
  if (bootstrap == nullptr) return card;
  if (const std::string given = bootstrap->host_name(); !given.empty()) card.hostname = given;
  card.epoch = bootstrap->epoch();
  return card;
}

uint32_t usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<uint32_t>(CPU_COUNT(&set));
  const long n = ::sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? static_cast<uint32_t>(n) : 1;
}

JobFacts::JobFacts(const Bootstrap& bootstrap)
    : job_id_(bootstrap.job_id()), session_dir_(bootstrap.session_dir()) {
  facts_.head = CWY_HEAD(cwy_job);
  facts_.rank = bootstrap.rank();
  facts_.size = bootstrap.size();
  facts_.epoch = bootstrap.epoch();
  facts_.cpu_count = usable_cpus();
  facts_.job_id = job_id_.c_str();
  facts_.session_dir = session_dir_.c_str();
  local_ranks_ = bootstrap.local_ranks();
  publish_local_ranks();
  sharers_ = facts_.local_count;
}

void JobFacts::publish_local_ranks() {
  facts_.local_count = static_cast<uint32_t>(local_ranks_.size());
  for (uint32_t i = 0; i < facts_.local_count; ++i)
    if (local_ranks_[i] == facts_.rank) facts_.local_index = i;
}

void JobFacts::place(uint32_t rank, const Card& card) {
  Place& p = places_[rank];
  p.pid.store(0, std::memory_order_release);
  p.kind.store(&*kinds_.emplace(card).first, std::memory_order_release);
  const Where where{card.host_id, card.sharing_id};
  p.where.store(&*wheres_.insert(where).first, std::memory_order_release);
  p.pid.store(card.pid, std::memory_order_release);
  p.epoch.store(card.epoch, std::memory_order_release);
}

void JobFacts::set_cards(CardTable cards, bool can_map, uint32_t nbrhd_most) {
  cards_ = std::move(cards);
  can_map_ = can_map;
  places_.reset(new Place[facts_.size]);
  const Card own = Card::unpack(cards_[facts_.rank]);
  segment_max_ = own.segment_max;
  least_segment_max_ = UINT64_MAX;
  local_ranks_.clear();
  sharers_ = 0;
  std::map<uint64_t, uint32_t> hosts;  // id -> index, by lowest rank
  std::map<uint64_t, uint32_t> seen;   // sharing_id as sent -> ranks so far
  for (uint32_t r = 0; r < facts_.size; ++r) {
    Card card = Card::unpack(cards_[r]);
    if (!card.opened.empty() && card.everything != own.everything) {
      throw Error(CWY_ERR_INVALID,
                  "rank {} was built {} GASNET_SEGMENT_EVERYTHING and rank {} {} it; build all "
                  "programs of a job alike",
                  r, card.everything ? "with" : "without", facts_.rank,
                  own.everything ? "with" : "without");
    }
    // neighborhood.ranks: ranks that could share memory do so with the others of their portion
    // only, in the order of ranks.
    if (nbrhd_most != 0) {
      const uint32_t portion = seen[card.sharing_id]++ / nbrhd_most;
      card.sharing_id = hash_text(std::to_string(portion), card.sharing_id);
    }
    place(r, card);
    if (present(r)) least_segment_max_ = std::min(least_segment_max_, card.segment_max);
    hosts.emplace(card.host_id, static_cast<uint32_t>(hosts.size()));
    if (card.host_id == own.host_id) {
      if (r == facts_.rank) host_index_ = static_cast<uint32_t>(local_ranks_.size());
      local_ranks_.push_back(r);
      if (card.cpus_id == own.cpus_id) ++sharers_;
    }
  }
  have_cards_.store(true, std::memory_order_release);
  host_set_size_ = static_cast<uint32_t>(hosts.size());
  host_set_rank_ = hosts.at(own.host_id);
  publish_local_ranks();
  host_ = rank_list(local_ranks_);
}

Card JobFacts::card(uint32_t rank) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = replaced_.find(rank); found != replaced_.end()) return found->second;
  return Card::unpack(cards_[rank]);
}

uint32_t JobFacts::pid_here(uint32_t rank) const {
  const uint32_t pid = get(places_[rank].pid);
  const bool near = sharing_id(rank) == sharing_id(facts_.rank);
  // Read again: between the two a new process may have come.
  return near && get(places_[rank].pid) == pid ? pid : 0;
}

void JobFacts::set_neighborhoods(std::vector<uint32_t> nbrhd_of) {
  nbrhd_of_ = std::move(nbrhd_of);
  nbrhd_set_size_ = 0;
  std::vector<uint32_t> members;
  for (uint32_t r = 0; r < facts_.size; ++r) {
    // Numbered by their lowest ranks.
    if (r == nbrhd_of_[facts_.rank]) nbrhd_set_rank_ = nbrhd_set_size_;
    if (r == nbrhd_of_[r]) ++nbrhd_set_size_;
    if (!in_nbrhd(r)) continue;
    if (r == facts_.rank) nbrhd_index_ = static_cast<uint32_t>(members.size());
    members.push_back(r);
  }
  nbrhd_ = rank_list(members);
}

std::optional<std::string> JobFacts::address(uint32_t rank, std::string_view name) const {
  for (std::string_view bytes = cards_[rank]; !bytes.empty();) {
    const auto [field, value] = take_field(bytes);
    if (field.starts_with(kAddress) && field.substr(kAddress.size()) == name)
      return std::string(value);
  }
  return std::nullopt;
}

void JobFacts::replace_card(uint32_t rank, Card card) {
  // Portions of neighborhood.ranks are made of the first process of each rank.
  if (present(rank) && host_id(rank) == card.host_id) card.sharing_id = sharing_id(rank);
  const std::lock_guard lock(mutex_);
  place(rank, card);
  replaced_.insert_or_assign(rank, std::move(card));
}

Locality JobFacts::locality(uint32_t rank) const {
  if (rank == facts_.rank) return Locality::self;
  if (host_id(rank) != facts_.host_id) return Locality::remote;
  const bool maps = can_map_ && sharing_id(rank) == sharing_id(facts_.rank);
  return maps ? Locality::nbrhd : Locality::host;
}

PeerFacts JobFacts::facts_for_rules(uint32_t rank, Locality locality) const {
  PeerFacts facts;
  facts.locality = locality;
  facts.host = kind(rank).hostname;
  facts.desc.head = CWY_HEAD(cwyc_peer_desc);
  facts.desc.peer = {rank, epoch(rank)};
  facts.pair = facts_.rank + rank;
  facts.desc.same_process = locality == Locality::self;
  facts.desc.same_host = locality != Locality::remote;
  facts.desc.hostname = kind(rank).hostname.c_str();
  return facts;
}

PeerFacts JobFacts::facts_of(uint32_t rank, const Conduit* conduit,
                             std::optional<Locality> supposed) const {
  // The card first: where a new process comes meanwhile, its addresses never go with the old place.
  Card card = this->card(rank);
  PeerFacts facts = facts_for_rules(rank, supposed.value_or(locality(rank)));
  facts.supposed = supposed.has_value();
  const auto local = std::ranges::lower_bound(local_ranks_, rank);  // ascending
  if (local != local_ranks_.end() && *local == rank)
    facts.desc.local_index = static_cast<uint32_t>(local - local_ranks_.begin());
  facts.desc.peer.epoch = card.epoch;
  facts.desc.pid = card.pid;
  facts.addresses = std::make_shared<const Addresses>(std::move(card.addresses));
  if (conduit != nullptr) {
    if (const auto found = facts.addresses->find(conduit->name())) {
      facts.desc.address = found->data();
      facts.desc.address_len = found->size();
    }
  }
  return facts;
}

PeerFacts JobFacts::facts_seen_from(uint32_t rank) const {
  PeerFacts facts = facts_of(rank, nullptr);
  facts.host = kind(facts_.rank).hostname;
  facts.desc.peer.rank = facts_.rank;
  return facts;
}

}  // namespace causeway
