#include "config/steps.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "config/peer_rules.h"

namespace causeway {
namespace {

std::string text_of(const Node& map, const std::string& key, const std::string& otherwise = "") {
  const Node* node = map.find(key);
  return node == nullptr ? otherwise : node->text;
}

std::vector<std::string> texts_of(const Node& map, const std::string& key) {
  std::vector<std::string> out;
  if (const Node* list = map.find(key))
    for (const Node& item : list->items) out.push_back(item.text);
  return out;
}

// The values of two keys, where they stand there.
void read_range(const Node& map, const char* low, uint64_t& from, const char* high, uint64_t& to) {
  if (const Node* node = map.find(low)) from = parse_size(node->text);
  if (const Node* node = map.find(high)) to = parse_size(node->text);
}

std::optional<Locality> parse_locality(const std::string& word) {
  for (const Locality locality : kLocalities)
    if (word == locality_word(locality)) return locality;
  return std::nullopt;
}

Fallback parse_fallback(const std::string& word) {
  if (word == "fail") return Fallback::fail;
  return word == "warn" ? Fallback::warn : Fallback::silent;
}

SizeRule build_size_rule(const Node& node) {
  SizeRule rule;
  rule.where = node.where;
  read_range(node, "from", rule.from, "to", rule.to);
  rule.operations = texts_of(node, "operations");
  rule.use = text_of(node, "use");
  return rule;
}

PeerRule build_rule(const Node& node, size_t index) {
  PeerRule rule;
  rule.where = node.where;
  rule.label = text_of(node, "name", fmt::format("peers[{}]", index));
  if (const Node* match = node.find("match")) {
    rule.locality = parse_locality(text_of(*match, "locality"));
    rule.host_glob = text_of(*match, "host");
    rule.rank_set = text_of(*match, "ranks");
  }
  rule.use = texts_of(node, "use");
  rule.require = text_of(node, "require") == "true";
  rule.on_fallback = parse_fallback(text_of(node, "on_fallback"));
  if (const Node* operations = node.find("operations"))
    for (const Entry& entry : operations->entries) rule.operations[entry.key] = entry.value.text;
  if (const Node* sizes = node.find("sizes"))
    for (const Node& item : sizes->items) rule.sizes.push_back(build_size_rule(item));
  return rule;
}

RailSpec build_rail(const Entry& entry) {
  RailSpec rail;
  rail.name = entry.key;
  rail.where = entry.key_where;
  rail.use = texts_of(entry.value, "use");
  rail.by_bandwidth = text_of(entry.value, "policy") == "bandwidth";
  rail.stripe_above = parse_size(text_of(entry.value, "stripe_above", "256KiB"));
  return rail;
}

ConduitSpec build_conduit(const Entry& entry) {
  ConduitSpec spec;
  spec.name = entry.key;
  spec.where = entry.key_where;
  spec.plugin = text_of(entry.value, "plugin", entry.key);
  spec.device = text_of(entry.value, "device");
  if (const Node* rules = entry.value.find("devices"))
    for (const Node& rule : rules->items) spec.devices.push_back(build_rule(rule, 0));
  if (const Node* options = entry.value.find("options")) {
    for (const Entry& option : options->entries) {
      spec.options[option.key] = option.value.text;
      spec.option_origins[option.key] = option.value.where;
    }
  }
  if (entry.value.find("native") != nullptr) spec.native = texts_of(entry.value, "native");
  spec.open_always = text_of(entry.value, "open") == "always";
  spec.lanes = static_cast<uint32_t>(std::stoul(text_of(entry.value, "lanes", "1")));
  return spec;
}

CollectiveRule build_collective_rule(const Node& node, size_t index) {
  CollectiveRule rule;
  rule.where = node.where;
  rule.label = text_of(node, "name", fmt::format("collectives.rules[{}]", index));
  rule.operation = text_of(node, "operation", "any");
  read_range(node, "from", rule.from, "to", rule.to);
  read_range(node, "ranks_from", rule.ranks_from, "ranks_to", rule.ranks_to);
  rule.locality = text_of(node, "locality", "any");
  rule.type = text_of(node, "type", "any");
  rule.memory = text_of(node, "memory", "any");
  rule.use = texts_of(node, "use");
  rule.require = text_of(node, "require") == "true";
  return rule;
}

void build_collectives(const Node& root, Config& config) {
  const Node& collectives = *root.find("collectives");
  const std::vector<Node>& rules = collectives.find("rules")->items;
  for (size_t i = 0; i < rules.size(); ++i)
    config.collective_rules.push_back(build_collective_rule(rules[i], i));
  config.collective_scratch = parse_size(text_of(collectives, "scratch"));
}

void flatten(const std::string& path, const Node& node, Config& config) {
  const auto leaf = [&](std::string text) {
    config.values[path] = std::move(text);
    config.origins[path] = node.where;
  };
  switch (node.kind) {
    case Node::Kind::map:
      if (node.entries.empty() && !path.empty()) leaf("{}");
      for (const Entry& entry : node.entries)
        flatten(path.empty() ? entry.key : path + "." + entry.key, entry.value, config);
      break;
    case Node::Kind::list:
      if (node.items.empty()) leaf("[]");
      for (size_t i = 0; i < node.items.size(); ++i)
        flatten(fmt::format("{}[{}]", path, i), node.items[i], config);
      break;
    default:
      leaf(node.text);
  }
}

void build_plugins(const Node& root, Config& config) {
  const Node& plugins = *root.find("plugins");
  config.plugin_path = texts_of(plugins, "path");
  config.memkind_plugins = texts_of(plugins, "memkinds");
  config.collective_plugins = texts_of(plugins, "collectives");
  const std::string policy = text_of(plugins, "on_load_error");
  config.on_load_error = policy == "fail"   ? LoadErrorPolicy::fail
                         : policy == "warn" ? LoadErrorPolicy::warn
                                            : LoadErrorPolicy::ignore;
}

}  // namespace

std::vector<PeerRule> build_rules(const Node& root, std::vector<bool>& comparable,
                                  Problems& problems) {
  std::vector<PeerRule> rules;
  comparable.clear();
  const Node* peers = root.find("peers");
  if (peers == nullptr) return rules;
  std::map<std::string, const Node*> names;
  for (size_t i = 0; i < peers->items.size(); ++i) {
    const Node& node = peers->items[i];
    rules.push_back(build_rule(node, i));
    const Node* match = node.find("match");
    comparable.push_back(!node.pruned && (match == nullptr || !match->pruned));
    const Node* name = node.find("name");
    if (name == nullptr) continue;
    if (const auto [held, fresh] = names.emplace(name->text, name); !fresh) {
      problems.add(name->where, fmt::format("two rules are named '{}'; the first is at {}",
                                            name->text, held->second->where.str()));
    }
  }
  return rules;
}

Config build_config(const Node& root, std::vector<PeerRule> rules) {
  Config config;
  flatten("", root, config);
  config.text = document_text(root);
  config.peers = std::move(rules);
  for (const Entry& entry : root.find("conduits")->entries)
    config.conduits.push_back(build_conduit(entry));
  for (const Entry& entry : root.find("rails")->entries) config.rails.push_back(build_rail(entry));
  build_plugins(root, config);
  build_collectives(root, config);
  const auto value = [&](const char* path) -> const std::string& { return config.values.at(path); };
  config.direct_map = value("direct_map") == "never" ? DirectMap::never : DirectMap::automatic;
  config.checks = value("checks") == "full" ? Checks::full : Checks::none;
  config.log_level = value("log.level");
  config.report = parse_bool(value("report"));
  config.segment_max = value("segment.max") == "auto" ? 0 : parse_size(value("segment.max"));
  config.segment_max_of_host = value("segment.of") == "host";
  const std::string& most = value("neighborhood.ranks");
  config.neighborhood_ranks =
      most == "auto" ? 0 : static_cast<uint32_t>(std::min<uint64_t>(parse_size(most), UINT32_MAX));
  config.huge_pages = value("segment.huge_pages");
  config.numa = value("segment.numa");
  config.timeouts = {parse_time_ns(value("timeouts.start")), parse_time_ns(value("timeouts.exit")),
                     parse_time_ns(value("timeouts.kill")), parse_time_ns(value("timeouts.peer"))};
  config.waiting = {parse_time_ns(value("waiting.spin")), parse_time_ns(value("waiting.yield")),
                    parse_time_ns(value("waiting.nap"))};
  config.vis = {parse_size(value("vis.pack_below")),
                static_cast<uint32_t>(std::stoul(value("vis.pipeline")))};
  return config;
}

const RailSpec* Config::find_rail(const std::string& name) const {
  const auto found = std::ranges::find(rails, name, &RailSpec::name);
  return found == rails.end() ? nullptr : &*found;
}

bool Config::uses_conduit(const std::string& name) const {
  const auto means = [&](const std::string& carrier) {
    const RailSpec* rail = find_rail(carrier);
    return rail == nullptr ? carrier == name : holds(rail->use, name);
  };
  return std::ranges::any_of(peers, [&](const PeerRule& rule) {
    return std::ranges::any_of(rule.use, means) ||
           std::ranges::any_of(rule.operations, means,
                               [](const auto& each) { return each.second; }) ||
           std::ranges::any_of(rule.sizes, means, &SizeRule::use);
  });
}

bool SizeRule::covers(const std::string& operation, uint64_t size) const {
  return size >= from && size <= to && (operations.empty() || holds(operations, operation));
}

}  // namespace causeway
