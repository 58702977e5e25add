#include "cases.h"

#include <fnmatch.h>

#include <algorithm>
#include <sstream>

#include "session.h"

namespace causeway::conformance {
namespace {

std::vector<Case>& registry() {
  static std::vector<Case> cases;
  return cases;
}

struct NeedInfo {
  uint32_t bit;
  const char* text;
  bool (*present)(const World& w);
};

bool cap(const World& w, uint64_t bit) {
  return (w.attr.caps & bit) != 0;
}

// In the order in which a missing capability is named.
const NeedInfo kNeeds[] = {
    {kShort, "am_short", [](const World& w) { return w.ops.am_short != nullptr; }},
    {kMedium, "am_medium", [](const World& w) { return w.ops.am_medium != nullptr; }},
    {kLong, "am_long", [](const World& w) { return w.ops.am_long != nullptr; }},
    {kPrepare, "am_prepare", [](const World& w) { return w.ops.am_prepare != nullptr; }},
    {kPut, "put", [](const World& w) { return w.ops.put != nullptr; }},
    {kGet, "get", [](const World& w) { return w.ops.get != nullptr; }},
    {kOrder, "order_put_am", [](const World& w) { return cap(w, CWYC_CAP_ORDER_PUT_AM); }},
    {kPutv, "putv", [](const World& w) { return w.ops.putv != nullptr; }},
    {kGetv, "getv", [](const World& w) { return w.ops.getv != nullptr; }},
    {kAtomic, "atomic", [](const World& w) { return w.ops.atomic != nullptr; }},
    {kDirect, "direct", [](const World& w) { return cap(w, CWYC_CAP_DIRECT); }},
    {kAlloc, "mem_alloc", [](const World& w) { return cap(w, CWYC_CAP_MEM_ALLOC); }},
    {kRegister, "mem_reg",
     [](const World& w) {
       return cap(w, CWYC_CAP_MEM_REG) && (w.attr.mem_forms & CWY_FORM_HOST_VA) != 0;
     }},
    {kMemory, "mem_alloc or mem_reg",
     [](const World& w) { return cap(w, CWYC_CAP_MEM_ALLOC | CWYC_CAP_MEM_REG); }},
    {kWaitFd, "wait_fd", [](const World& w) { return cap(w, CWYC_CAP_WAIT_FD); }},
    {kNap, "nap", [](const World& w) { return cap(w, CWYC_CAP_NAP); }},
    {kMulti, "concurrency MULTI or LOCKED",
     [](const World& w) { return w.ops.concurrency != CWYC_SERIAL; }},
    {kNoProgress, "no_progress", [](const World& w) { return cap(w, CWYC_CAP_NO_PROGRESS); }},
    {kPeerFailure, "peer_failure", [](const World& w) { return cap(w, CWYC_CAP_PEER_FAILURE); }},
    {kLossy, "option inject_loss", [](const World&) { return lossy_options() != nullptr; }},
    {kFailing, "option fail_after", [](const World&) { return failing_options() != nullptr; }},
    {kWiring, "wiring", [](const World& w) { return cap(w, CWYC_CAP_WIRING); }},
    {kSharedKeys, "shared_keys", [](const World& w) { return cap(w, CWYC_CAP_SHARED_KEYS); }},
    {kRevoked, "memory out of reach after mem_release (not under reaches_released)",
     [](const World& w) { return !cap(w, CWYC_CAP_REACHES_RELEASED); }},
    {kProcess, "a peer in another process",
     [](const World& w) { return w.mode == Mode::two_processes; }},
};

bool matches_one(const std::string& globs, const std::string& name) {
  std::istringstream in(globs);
  for (std::string glob; std::getline(in, glob, ':');)
    if (fnmatch(glob.c_str(), name.c_str(), FNM_NOESCAPE) == 0) return true;
  return false;
}

}  // namespace

Cases::Cases(std::initializer_list<Case> cases) {
  registry().insert(registry().end(), cases);
}

const std::vector<Case>& all_cases() {
  // By group and then in the order of writing, whatever the linker did; in front of all the limits
  // that the others build on.
  const auto place = [](const Case& c) {
    const bool limits = full_name(c) == limits_case;
    return (limits ? "0" : "1") + std::string(c.group);
  };
  std::stable_sort(registry().begin(), registry().end(),
                   [&](const Case& a, const Case& b) { return place(a) < place(b); });
  return registry();
}

std::string full_name(const Case& c) {
  return std::string(c.group) + '.' + c.name;
}

std::vector<Case> matching(const std::vector<Case>& cases, const std::string& filter) {
  const size_t dash = std::min(filter.find('-'), filter.size());
  const std::string wanted = filter.substr(0, dash), but = filter.substr(dash);
  std::vector<Case> chosen;
  for (const Case& c : cases) {
    const std::string name = full_name(c);
    const bool taken = wanted.empty() || matches_one(wanted, name);
    if (taken && (but.empty() || !matches_one(but.substr(1), name))) chosen.push_back(c);
  }
  return chosen;
}

std::string missing(uint32_t needs) {
  const World& w = world();
  const bool no_domain = w.attr.head.struct_size == 0;
  if ((needs & kDomain) != 0 && no_domain) return "a domain";
  if ((needs & kNoPeer) == 0 && w.mode == Mode::nothing) return "a peer it can reach";
  for (const NeedInfo& need : kNeeds) {
    if ((needs & need.bit) != 0 && !need.present(w)) return need.text;
  }
  return "";
}

std::string needs_text(uint32_t needs) {
  std::string text;
  for (const NeedInfo& need : kNeeds) {
    if ((needs & need.bit) == 0) continue;
    if (!text.empty()) text += ", ";
    text += need.text;
  }
  return text;
}

}  // namespace causeway::conformance
