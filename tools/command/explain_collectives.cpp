#include "explain_parts.h"

#include <gasnet_fwd.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "collective/table.h"
#include "config/config.h"
#include "connection/job.h"
#include "text.h"

namespace causeway::command {
namespace {

// Teams of this many members on this host, and of twice as many on two hosts.
cwyl_shape team_shape(const World& world, uint32_t operation, uint32_t members, uint32_t hosts) {
  cwyl_shape shape{};
  shape.head = CWY_HEAD(cwyl_shape);
  shape.operation = operation;
  shape.team_size = members * hosts;
  shape.scratch_bytes = world.config.collective_scratch;
  const bool reduces = operation == CWYL_REDUCE_ONE || operation == CWYL_REDUCE_ALL;
  shape.dt = reduces ? GEX_DT_DBL : 0;
  shape.opcode = reduces ? GEX_OP_ADD : 0;
  shape.element_bytes = reduces ? 8 : 1;
  bool maps = false;
  for (const auto& ep : world.endpoints) {
    const PeerFacts neighbor = facts(Locality::nbrhd, 1, "");
    cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
    maps |= (ep->caps & CWYC_CAP_DIRECT) != 0 && (ep->attr.caps & CWYC_CAP_MEM_ALLOC) != 0 &&
            ep->conduit->module().ops[0]->concurrency == CWYC_MULTI &&
            ep->conduit->module().reach(ep->conduit->domain(), &neighbor.desc, &err) == CWY_OK;
  }
  maps &= members > 1 && world.config.direct_map == DirectMap::automatic;
  shape.host_count = hosts;
  shape.nbrhd_count = maps ? hosts : members * hosts;
  shape.nbrhd_most = maps ? members : 1;
  shape.domain_count = shape.nbrhd_count;
  shape.domain_most = shape.nbrhd_most;
  return shape;
}

// Sizes at which the choice may change: borders of rules and candidates, and powers of two, since
// scores are functions.
std::vector<uint64_t> size_borders(const CollectiveTable& table) {
  std::set<uint64_t> sizes;
  for (unsigned k = 0; k <= 30; ++k) sizes.insert(uint64_t{1} << k);
  for (unsigned k = 0; k <= 30; ++k) sizes.insert((uint64_t{1} << k) + 1);
  const auto border = [&](uint64_t from, uint64_t to) {
    sizes.insert(std::max<uint64_t>(from, 1));
    if (to != UINT64_MAX) sizes.insert(to + 1);
  };
  for (const CollectiveRule& rule : table.rules()) border(rule.from, rule.to);
  for (const CollectiveTable::Candidate& c : table.candidates())
    border(c.algorithm->min_bytes, c.algorithm->max_bytes);
  return {sizes.begin(), sizes.end()};
}

struct CollectiveLine {
  std::string operation;
  uint64_t from, to;  // bytes, inclusive; a barrier has none
  std::string algorithm, reason;
  std::string sizes() const {
    return operation == operation_word(CWYL_BARRIER) ? "-" : range_text(from, to);
  }
};

std::vector<CollectiveLine> collective_lines(const World& world, const CollectiveTable& table,
                                             uint32_t members, uint32_t hosts, uint32_t memory) {
  std::vector<CollectiveLine> out;
  const std::vector<uint64_t> sizes = size_borders(table);
  for (uint32_t operation = 0; operation < CWYL_OPERATIONS; ++operation) {
    cwyl_shape shape = team_shape(world, operation, members, hosts);
    std::string held_name, held_reason;
    uint64_t begin = 0;
    const auto close = [&](uint64_t to) {
      if (held_name.empty()) return;
      out.push_back({operation_word(operation), begin, to, held_name, held_reason});
    };
    for (const uint64_t size : sizes) {
      shape.bytes = operation == CWYL_BARRIER ? 0 : size;
      std::string name = "none", reason;
      try {
        const CollectiveTable::Choice c = table.choose(shape, memory);
        name = c.candidate->name();
        reason = c.rule != nullptr ? fmt::format("rule {} ({})", c.rule->label, c.rule->where.str())
                                   : "the highest score";
      } catch (const Error& e) {
        reason = e.text();
      }
      if (name == held_name && reason == held_reason) continue;
      close(size - 1);
      held_name = name;
      held_reason = reason;
      begin = size;
    }
    close(UINT64_MAX);
  }
  return out;
}

struct TeamClass {
  std::string who;
  std::vector<CollectiveLine> lines;
};
// Memory that members may have bound, as far as rules speak of it: masks, and words for people.
std::vector<std::pair<uint32_t, std::string>> memories(const CollectiveTable& table) {
  constexpr uint32_t kHost = 1u << CWY_MEM_HOST;
  std::vector<std::pair<uint32_t, std::string>> out{{kHost, ""}};
  std::set<std::string> words;
  for (const CollectiveRule& rule : table.rules()) words.insert(rule.memory);
  for (const std::string& word : words)
    if (const auto kind = memory_class_of(word))
      out.push_back({kHost | 1u << *kind, fmt::format(", with memory of {}", word)});
  constexpr uint32_t kAnotherDevice = 1u << 31;
  if (words.count("host") != 0 || words.count("device") != 0)
    out.push_back({kHost | kAnotherDevice, ", with memory of a device"});
  return out;
}

std::vector<TeamClass> explain_collectives(const World& world, uint32_t ranks) {
  const CollectiveTable table(world.config, *world.loader);
  std::vector<TeamClass> out;
  for (const uint32_t hosts : {1u, 2u}) {
    for (const auto& [memory, words] : memories(table)) {
      out.push_back({fmt::format("a team of {} member(s) on {}{}", ranks * hosts,
                                 hosts == 1 ? "this host" : "two hosts", words),
                     collective_lines(world, table, ranks, hosts, memory)});
    }
  }
  return out;
}

}  // namespace

void print_collectives(const World& world, uint32_t ranks) {
  for (const TeamClass& team : explain_collectives(world, ranks)) {
    fmt::print("\n{}\n", bold("collectives of " + team.who));
    std::vector<std::vector<std::string>> rows;
    for (const CollectiveLine& l : team.lines)
      rows.push_back({l.operation, l.sizes(), l.algorithm, "by " + l.reason});
    print_columns(rows);
  }
  const CollectiveTable table(world.config, *world.loader);
  fmt::print("\n{}\n", bold("algorithms a rule can name"));
  std::vector<std::vector<std::string>> rows;
  for (const CollectiveTable::Candidate& c : table.candidates()) {
    const cwyl_candidate& a = *c.algorithm;
    const std::string most =
        a.max_team >= 1u << 20 ? "any size" : fmt::format("up to {} members", a.max_team);
    rows.push_back({operation_word(a.operation), c.name(), "teams of " + most,
                    a.keeps_order || a.operation < CWYL_REDUCE_ONE ? "" : "not in rank order"});
  }
  print_columns(rows);
  if (rows.empty()) fmt::print("  no collective plugin is loaded\n");
}

std::string collectives_json(const World& world, uint32_t ranks) {
  const auto line_json = [](const CollectiveLine& l) {
    return fmt::format(R"({{"operation":{},{},"algorithm":{},"by":{}}})", json_text(l.operation),
                       range_json(l.from, l.to), json_text(l.algorithm), json_text(l.reason));
  };
  return json_each(explain_collectives(world, ranks), [&](const TeamClass& team) {
    return fmt::format(R"({{"team":{},"choices":{}}})", json_text(team.who),
                       json_each(team.lines, line_json));
  });
}

}  // namespace causeway::command
