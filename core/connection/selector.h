// Selector: which conduits serve a peer, by which rule, and why not the others. Pure: depends on
// the configuration, the open conduits and the peer's description only, so `causeway explain`
// asks the same code without a job.
#pragma once

#include <causeway/conduit.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "config/config.h"
#include "connection/addresses.h"
#include "connection/conduit_set.h"

namespace causeway {

// The facts that the core knows of a peer when it chooses.
struct PeerFacts {
  cwyc_peer_desc desc{};
  Locality locality = Locality::remote;
  std::string host;
  // The conduits that the peer opened; NULL in a dry run, which supposes all.
  std::shared_ptr<const Addresses> addresses;
  // As another rank sees the peer, from nearer or from farther: conduits are not asked about its
  // addresses, which say how it lies to this rank.
  bool supposed = false;
  uint32_t pair = 0;  // the sum of the two ranks: which lane they use
};

struct Refusal {
  std::string conduit;
  std::string reason;
};

// The kinds of operations that a rule can direct to different conduits.
enum class OperationKind : unsigned { put, get, atomic, am };
inline constexpr size_t kOperationKinds = 4;
const char* operation_kind_word(OperationKind kind);

// The server of a span: one conduit, or those conduits of a rail that reach the peer.
struct Carrier {
  const RailSpec* rail = nullptr;
  std::vector<Conduit*> conduits;  // at least one, in the file's order
  bool is_rail() const { return conduits.size() > 1; }
  std::string name() const;  // "net", or "both (net0+net1)"
  bool operator==(const Carrier&) const = default;
};

// The sizes up to `to`, from the end of the span before.
struct SizeSpan {
  uint64_t to = UINT64_MAX;  // bytes, inclusive
  Carrier carrier;
  std::string by;  // the part of the rule that says so: "use", "operations.put", "sizes[0]"
};

// The answer for one peer.
struct Choice {
  Conduit* general = nullptr;  // what `use:` gives, the first conduit of a rail
  // The conduits of the smallest sizes. Atomics have no sizes and no rails: they must not meet on
  // two ways.
  Conduit* put = nullptr;
  Conduit* get = nullptr;
  Conduit* atomic = nullptr;
  Conduit* am = nullptr;
  // By OperationKind: every size is in one span.
  std::array<std::vector<SizeSpan>, kOperationKinds> spans;
  const PeerRule* rule = nullptr;
  std::vector<Refusal> refused;  // in the order tried
  std::string warning;           // that on_fallback asks for; empty: none

  const std::vector<SizeSpan>& of(OperationKind kind) const {
    return spans[static_cast<size_t>(kind)];
  }
  // The conduit that serves every size of the kind, or NULL.
  Conduit* only(OperationKind kind) const;
  // Does anything go through it?
  bool uses(const Conduit* conduit) const;
  // "shm", or "am shm; put shm, from 1048577 bytes net; get ...": for people.
  std::string summary() const;
};

// The first rule of `peers:` that matches, or nullptr.
const PeerRule* rule_for(const Config& config, const PeerFacts& peer);

// The error of choose(): its text names the peer.
struct Unreachable : Error {
  Unreachable(std::string text, std::string why, const PeerRule* by, std::vector<Refusal> refusals)
      : Error(CWY_ERR_UNREACHABLE, std::move(text)),
        reason(std::move(why)),
        rule(by),
        refused(std::move(refusals)) {}
  // The text without the peer, so that it is the same for every peer of a rule.
  std::string reason;
  const PeerRule* rule;  // NULL: none matches the peer
  std::vector<Refusal> refused;
};

// Throws Unreachable listing every reason when nothing fits, or the rule forbids what fits.
Choice choose(const Config& config, const ConduitSet& set, const PeerFacts& peer);

// The largest message that a conduit of limit(conduit) bytes can take in every span up to it.
template <typename Limit>
uint64_t largest_message(const std::vector<SizeSpan>& spans, Limit limit) {
  uint64_t from = 0, largest = 0;
  for (const SizeSpan& span : spans) {
    uint64_t least = UINT64_MAX;
    for (const Conduit* conduit : span.carrier.conduits) {
      const uint64_t takes = limit(*conduit);
      if (takes < least) least = takes;
    }
    if (least < from) return largest;
    if (least < span.to) return least;
    largest = span.to;
    from = span.to + 1;
  }
  return largest;
}

}  // namespace causeway
