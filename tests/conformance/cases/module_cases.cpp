// The tables, the attributes and the life of the conduit's objects.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/growth.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

const ConduitPlugin& plugin() {
  return PluginHost::load_conduit(world().settings);
}

// ---- cases ----------------------------------------------------------------------------------

// Catches tables without a version, without the three entries that every conduit must have, and
// entries that come in halves.
void tables() {
  const ConduitPlugin& p = plugin();
  ASSERT_GE(p.module.ops_count, 1u) << "no table of operations";
  ASSERT_GE(p.ops.size(), 1u);
  EXPECT_EQ(p.module.flags, 0u) << "no module flag is defined in this version";
  for (const cwyc_ops& ops : p.ops) {
    EXPECT_EQ(ops.head.major, CWY_PLUGIN_MAJOR);
    EXPECT_GE(ops.head.struct_size, sizeof(cwy_head) + 2 * sizeof(uint32_t));
    EXPECT_TRUE(ops.concurrency <= CWYC_LOCKED) << "concurrency " << ops.concurrency;
    EXPECT_EQ(ops.reserved, 0u) << "what is reserved is 0 until a later minor names it";
    const bool prepare = ops.am_prepare != nullptr;
    EXPECT_EQ(prepare, ops.am_commit != nullptr) << "am_prepare and am_commit come together";
    EXPECT_EQ(prepare, ops.am_cancel != nullptr) << "am_prepare and am_cancel come together";
  }
}

// The module as the plugin wrote it, in which what is missing is NULL.
cwyc_module as_written() {
  cwyc_module own{};
  if (plugin().own == nullptr) return plugin().module;
  std::memcpy(&own, plugin().own, std::min<size_t>(plugin().own->head.struct_size, sizeof own));
  return own;
}

void expect_calls(uint64_t caps) {
  const cwyc_module m = as_written();
  const bool rights = m.mem_release != nullptr && m.rkey_pack != nullptr && m.rkey_open != nullptr;
  const struct {
    uint64_t cap;
    bool present;
    const char* names;
  } calls[] = {
      {CWYC_CAP_WIRING, m.wiring != nullptr, "wiring"},
      {CWYC_CAP_MEM_ALLOC, m.mem_alloc != nullptr && rights, "mem_alloc and what goes with it"},
      {CWYC_CAP_MEM_REG, m.mem_reg != nullptr && rights, "mem_reg and what goes with it"},
      {CWYC_CAP_DIRECT, m.rkey_direct != nullptr, "rkey_direct"},
      {CWYC_CAP_WAIT_FD, m.wait_fd != nullptr && m.arm != nullptr, "wait_fd and arm"},
      {CWYC_CAP_NAP, m.nap != nullptr, "nap"},
  };
  for (const auto& call : calls) {
    EXPECT_TRUE((caps & call.cap) == 0 || call.present)
        << call.names << ": the capability is claimed, and the module lacks a call";
  }
}

// Catches a capability that is announced and not there.
void capabilities_match_entries() {
  expect_calls(world().attr.caps);
  const cwyc_ep_attr& a = world().attr;
  const cwyc_ops& o = world().ops;
  const struct {
    uint64_t cap;
    bool present;
    const char* name;
  } pairs[] = {
      {CWYC_CAP_PUT, o.put != nullptr, "put"},
      {CWYC_CAP_GET, o.get != nullptr, "get"},
      {CWYC_CAP_ATOMIC, o.atomic != nullptr, "atomic"},
      {CWYC_CAP_VECTOR, o.putv != nullptr && o.getv != nullptr, "putv and getv"},
      {CWYC_CAP_AM_LONG, o.am_long != nullptr, "am_long"},
      {CWYC_CAP_AM_PREPARE, o.am_prepare != nullptr, "am_prepare"},
  };
  for (const auto& pair : pairs) {
    EXPECT_EQ((a.caps & pair.cap) != 0, pair.present)
        << pair.name << ": the capability bit and the table entry disagree";
  }
}

// Catches limits below what the core builds on, and sizes that it does not take.
void attribute_minima() {
  if (world().unsupported) throw Skip{"a peer it can reach"};
  const cwyc_ep_attr& a = world().attr;
  const cwyc_ops& o = world().ops;
  EXPECT_EQ(a.reserved, 0u) << "what is reserved is 0 until a later minor names it";
  EXPECT_NE(o.am_short, nullptr) << "every conduit has am_short";
  EXPECT_NE(o.am_medium, nullptr) << "every conduit has am_medium";
  const auto at_least = [](bool applies, uint64_t value, uint64_t least, const char* what) {
    EXPECT_TRUE(!applies || value >= least) << what << " is " << value << ", below " << least;
  };
  at_least(o.am_medium != nullptr, a.am_medium_max, 512, "am_medium_max");
  at_least(o.am_long != nullptr, a.am_long_max, 512, "am_long_max");
  EXPECT_TRUE(o.am_long != nullptr || a.am_long_max == 0) << "am_long_max without am_long";
  at_least(o.putv != nullptr || o.getv != nullptr, a.iov_max, 1, "iov_max");
  at_least(true, a.ep_address_max, 1, "ep_address_max");
  const bool memory = (a.caps & (CWYC_CAP_MEM_ALLOC | CWYC_CAP_MEM_REG)) != 0;
  at_least(memory, a.rkey_max, 1, "rkey_max");
  EXPECT_LE(a.conn_size, kLargestObject);
  EXPECT_LE(a.ep_address_max, kLargestObject);
  EXPECT_LE(a.rkey_max, kLargestObject);
  EXPECT_TRUE((a.caps & CWYC_CAP_MEM_REG) == 0 || a.mem_forms != 0) << "mem_reg takes no form";
  uint64_t atomics = 0;
  for (const uint64_t ops : a.atomic_ops) atomics |= ops;
  EXPECT_EQ(o.atomic != nullptr, atomics != 0) << "atomic_ops and the entry disagree";
  EXPECT_GE(a.ops_tables, 1u);
  EXPECT_LE(a.ops_tables, plugin().module.ops_count);
}

// Catches ep_query answers that change, and writes beyond the size the reader announced.
void attributes_are_constant() {
  Session s({.memory = 0});
  cwyc_ep_attr again{};
  again.head = CWY_HEAD(cwyc_ep_attr);
  ASSERT_EQ(s.ep().module().ep_query(s.ep().get(), &again), CWY_OK);
  EXPECT_EQ(again.caps, s.ep().told().caps);
  EXPECT_EQ(again.conn_size, s.ep().told().conn_size);
  EXPECT_EQ(again.am_medium_max, s.ep().told().am_medium_max);
  EXPECT_EQ(again.rma_max, s.ep().told().rma_max);
  // The core of a newer minor has a longer structure: it is accepted, and nothing behind what was
  // announced is written.
  struct Longer {
    cwyc_ep_attr attr;
    uint8_t later_members[32];
    uint8_t guard[64];
  } longer{};
  std::memset(longer.guard, 0xab, sizeof longer.guard);
  longer.attr.head = CWY_HEAD(cwyc_ep_attr);
  longer.attr.head.struct_size = offsetof(Longer, guard);
  longer.attr.head.minor += 1;
  ASSERT_EQ(s.ep().module().ep_query(s.ep().get(), &longer.attr), CWY_OK)
      << "the core of a newer minor is refused";
  EXPECT_EQ(longer.attr.caps, s.ep().told().caps);
  for (const uint8_t byte : longer.guard) {
    ASSERT_EQ(byte, 0xab) << "ep_query wrote behind the structure it was given";
  }
}

void expect_class(const cwyc_class_attr& c, const cwyc_ops& o, uint32_t table) {
  const std::string of = fmt::format("class {}: ", table);
  EXPECT_EQ(c.caps & CWYC_CAPS_OF_EP, 0u) << of << "claims what is the endpoint's";
  const struct {
    uint64_t cap, most;
    bool entry;
    uint64_t least;
    const char* name;
  } claims[] = {
      {CWYC_CAP_PUT, c.rma_max, o.put != nullptr, 0, "put"},
      {CWYC_CAP_GET, c.rma_max, o.get != nullptr, 0, "get"},
      {CWYC_CAP_VECTOR, c.iov_max, o.putv != nullptr && o.getv != nullptr, 1, "putv and getv"},
      {CWYC_CAP_AM_LONG, c.am_long_max, o.am_long != nullptr, 512, "am_long"},
      {CWYC_CAP_AM_PREPARE, c.am_medium_max, o.am_prepare != nullptr, 512, "am_prepare"},
      {CWYC_CAP_ATOMIC, 0, o.atomic != nullptr, 0, "atomic"},
  };
  for (const auto& claim : claims) {
    if ((c.caps & claim.cap) == 0) continue;
    EXPECT_TRUE(claim.entry) << of << claim.name << " is claimed, and the table has no entry";
    EXPECT_GE(claim.most, claim.least) << of << "the limit of " << claim.name;
  }
  EXPECT_GE(c.am_medium_max, 512u) << of << "am_medium_max";
}

// Catches classes that claim what their tables lack, limits below what the core builds on, and
// answers that change.
void classes() {
  Session s({.memory = 0});
  const cwyc_module& m = s.ep().module();
  if (m.class_query == nullptr) throw Skip{"class_query"};
  for (uint32_t table = 0; table < s.ep().attr().ops_tables; ++table) {
    cwyc_class_attr first{}, again{};
    first.head = again.head = CWY_HEAD(cwyc_class_attr);
    ASSERT_EQ(m.class_query(s.ep().get(), table, &first), CWY_OK) << "class " << table;
    ASSERT_EQ(m.class_query(s.ep().get(), table, &again), CWY_OK) << "class " << table;
    EXPECT_EQ(std::memcmp(&first, &again, sizeof first), 0) << "class " << table << " has changed";
    expect_class(first, plugin().ops.at(table), table);
  }
}

// Catches a class that is told before the connection is made, and another one that serves it.
void class_of_the_peer() {
  Session s({.memory = 0});
  const cwyc_module& m = s.ep().module();
  if (m.class_of == nullptr) throw Skip{"class_query"};
  for (const bool address : {false, true}) {
    const cwyc_peer_desc peer = describe(s.side().peer, s.loopback(), address);
    const uint32_t told = m.class_of(s.side().domain->get(), &peer);
    EXPECT_LT(told, s.ep().attr().ops_tables) << "class_of names a table that is not there";
    EXPECT_EQ(told, s.conn().get()->table) << "connect has taken another than class_of told";
  }
}

// Catches devices that are listed and cannot be opened, and facts of them that nobody can read.
void devices() {
  std::vector<std::string> names, usable;
  ErrorText err;
  struct Lists {
    std::vector<std::string>&names, &usable;
  } lists{names, usable};
  const cwy_status status = plugin().module.list_devices(
      PluginHost::options(),
      [](void* arg, const cwyc_device* device) {
        const Lists& to = *static_cast<Lists*>(arg);
        ASSERT_GE(device->head.struct_size, sizeof(cwyc_device)) << "the head is not filled";
        ASSERT_NE(device->name, nullptr);
        EXPECT_STRNE(device->name, "");
        to.names.emplace_back(device->name);
        if (device->state != CWYC_DEVICE_DOWN) to.usable.emplace_back(device->name);
        EXPECT_NE(device->description, nullptr) << device->name;
        EXPECT_NE(device->path, nullptr) << device->name;
        EXPECT_LE(device->state, uint32_t{CWYC_DEVICE_DOWN}) << device->name;
        EXPECT_GE(device->numa_node, -1) << device->name;
        EXPECT_TRUE(device->ports == 0 || device->port <= device->ports) << device->name;
      },
      &lists, err);
  if (status == CWY_ERR_UNSUPPORTED) throw Skip{"list_devices"};
  ASSERT_EQ(status, CWY_OK) << err.text();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size())
      << "a device is listed twice";
  if (world().mode == Mode::nothing) return;
  for (const std::string& name : usable) {
    Domain domain(plugin(), PluginHost::options(), name);
    EXPECT_EQ(domain.open_status(), CWY_OK)
        << "device " << name << " is listed, but: " << domain.open_error();
  }
}

// Catches an invented device that is accepted silently, or refused without a word.
void unknown_device() {
  Domain domain(plugin(), PluginHost::options(), "no-such-device-of-the-suite");
  if (domain.open_status() == CWY_ERR_UNSUPPORTED) throw Skip{"domain_open"};
  ASSERT_NE(domain.open_status(), CWY_OK) << "an invented device was opened";
  EXPECT_NE(domain.open_error(), "") << "refused without a reason in cwy_err";
  EXPECT_EQ(domain.open_error().find('\n'), std::string::npos) << "the reason is one line";
}

// Catches a conduit that reaches nobody at all.
void reaches_somebody() {
  if (world().mode != Mode::nothing) return;
  if (world().unsupported) throw Skip{"a peer it can reach: " + world().why_nothing};
  ADD_FAILURE() << "reaches nobody: " << world().why_nothing;
}

// Catches refusals without a reason: explain prints that text.
void unreachable_has_a_reason() {
  Session s({.memory = 0});
  Card card = s.side().card;
  card.peer = {1, 1};
  cwyc_peer_desc desc = describe(card, false, false);
  desc.same_host = 0;
  desc.hostname = "another-host.example";
  ErrorText err;
  const cwy_status status = s.ep().module().reach(s.side().domain->get(), &desc, err);
  if (status == CWY_OK) return;  // a network
  EXPECT_EQ(status, CWY_ERR_UNREACHABLE) << status_name(status);
  EXPECT_STRNE(err.text(), "") << "explain needs a reason";
}

// Catches keys of garbage that are believed.
void foreign_rkey_refused() {
  Session s;
  const cwyc_peer_desc desc = describe(s.side().peer, s.loopback());
  cwyc_rkey* rkey = nullptr;
  ErrorText err;
  const uint8_t nothing[1] = {0};
  const cwy_status status = s.ep().module().rkey_open(s.ep().get(), &desc, nothing, 0, &rkey, err);
  EXPECT_LT(status, 0) << "an empty rkey was opened";
  EXPECT_STRNE(err.text(), "") << "refused without a reason";
}

// Catches a conduit that sends what does not fit instead of saying so.
void too_many_arguments() {
  Session s({.memory = 0});
  const int32_t args[CWYC_AM_MAX_ARGS + 1] = {};
  EXPECT_EQ(s.ops().am_short(s.raw(), 1, args, CWYC_AM_MAX_ARGS + 1, 0), CWY_ERR_INVALID);
}

// Catches a payload over the limit that is cut or corrupts the queue.
void too_long_medium() {
  Session s({.memory = 0});
  std::vector<uint8_t> payload(s.ep().attr().am_medium_max + 4096);
  std::array<int32_t, CWYC_AM_MAX_ARGS> args{};
  Op& op = s.pool().am("am_medium over the limit");
  const cwy_status status = op.post([&](cwyc_op* raw) {
    return s.ops().am_medium(s.raw(), 1, args.data(), CWYC_AM_MAX_ARGS, payload.data(), nullptr,
                             payload.size(), 0, raw);
  });
  EXPECT_EQ(status, CWY_ERR_INVALID) << status_name(status);
}

std::map<std::string, uint64_t> read_statistics(Endpoint& ep) {
  std::map<std::string, uint64_t> all;
  ep.module().ep_stats(
      ep.get(),
      [](void* to, const char* name, uint64_t value) {
        const std::string text = name != nullptr ? name : "";
        EXPECT_TRUE(!text.empty() &&
                    text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
                        std::string::npos)
            << "a counter is called '" << text << "'";
        auto& known = *static_cast<std::map<std::string, uint64_t>*>(to);
        EXPECT_TRUE(known.emplace(text, value).second) << "counter " << text << " is told twice";
      },
      &all);
  return all;
}

// Sums over all peers; 0 where the conduit does not count.
uint64_t sent_so_far(Endpoint& ep) {
  uint64_t sum = 0;
  const auto add = [](void* to, uint32_t, const uint64_t* counts, uint32_t count) {
    EXPECT_GT(count, 0u) << "ep_traffic tells nothing";
    if (count > CWYC_SENT) *static_cast<uint64_t*>(to) += counts[CWYC_SENT];
  };
  if (ep.module().ep_traffic != nullptr) ep.module().ep_traffic(ep.get(), add, &sum);
  return sum;
}

// Catches statistics that crash, lack proper names, never count, fall or come and go.
void statistics() {
  Session s({.memory = 0});
  auto before = read_statistics(s.ep());
  bool counted = before.empty();
  uint64_t sent_before = sent_so_far(s.ep());
  for (int round = 0; round < 4; ++round) {
    const int32_t arg = 1;
    for (uint64_t n = 0; n < 50; ++n) s.conn().send(n, &arg, 1);
    for (int i = 0; i < 50; ++i) s.ep().step();
    if (round == 3) s.side().conn.reset();
    const auto after = read_statistics(s.ep());
    const uint64_t sent = sent_so_far(s.ep());
    if (sent_before != 0) {
      EXPECT_GE(sent, sent_before + 50) << "ep_traffic does not count";
    }
    sent_before = sent;
    EXPECT_EQ(after.size(), before.size()) << "counters come and go";
    for (const auto& [name, value] : before) {
      const auto now = after.find(name);
      ASSERT_TRUE(now != after.end()) << "counter " << name << " is gone";
      EXPECT_GE(now->second, value) << "counter " << name << " has fallen";
      counted |= now->second != value;
    }
    before = after;
  }
  EXPECT_TRUE(counted) << "no counter has seen 200 messages";
}

// ---- cycles ---------------------------------------------------------------------------------

// Catches descriptors and mappings that stay after close.
void endpoint_cycles() {
  Session s({.memory = 0});
  expect_no_growth("ep_open/ep_close", [&] { Endpoint ep(*s.side().domain, 1); });
}

void domain_cycles() {
  if (world().mode == Mode::nothing && world().unsupported) throw Skip{"domain_open"};
  expect_no_growth("domain_open/domain_close", [&] {
    Domain domain(plugin(), PluginHost::options(), world().settings.device);
  });
}

void allocation_cycles() {
  Session s({.memory = 0});
  expect_no_growth("mem_alloc/mem_release", [&] {
    Memory memory(*s.side().domain, 1 << 20, Memory::Source::alloc);
    memory.data()[0] = memory.data()[memory.size() - 1] = 1;  // both ends are really there
  });
}

void registration_cycles() {
  Session s({.memory = 0});
  expect_no_growth("mem_reg/mem_release",
                   [&] { Memory memory(*s.side().domain, 70001, Memory::Source::registered, 3); });
}

void rkey_cycles() {
  Session s;
  expect_no_growth("rkey_open/rkey_close",
                   [&] { RemoteMemory remote(s.ep(), s.side().peer, s.loopback()); });
}

const Cases cases{
    {"Module", "tables", kNoPeer, tables},
    {"Module", "reaches_somebody", kNoPeer, reaches_somebody},
    {"Module", "devices", kNoPeer, devices},
    {"Module", "unknown_device", kNoPeer, unknown_device},
    {"Module", "capabilities_match_entries", kNoPeer | kDomain, capabilities_match_entries},
    {"Module", "attribute_minima", kNoPeer | kDomain, attribute_minima},
    {"Module", "attributes_are_constant", kNothing, attributes_are_constant},
    {"Module", "classes", kNothing, classes},
    {"Module", "class_of_the_peer", kShort, class_of_the_peer},
    {"Module", "unreachable_has_a_reason", kNothing, unreachable_has_a_reason},
    {"Module", "foreign_rkey_refused", kMemory, foreign_rkey_refused},
    {"Module", "too_many_arguments", kShort, too_many_arguments},
    {"Module", "too_long_medium", kMedium, too_long_medium},
    {"Module", "statistics", kShort, statistics},
    {"Cycles", "endpoint", kNothing, endpoint_cycles},
    {"Cycles", "domain", kNoPeer | kDomain, domain_cycles},
    {"Cycles", "mem_alloc", kAlloc, allocation_cycles},
    {"Cycles", "mem_reg", kRegister, registration_cycles},
    {"Cycles", "rkey", kMemory, rkey_cycles},
};

}  // namespace
}  // namespace causeway::conformance
