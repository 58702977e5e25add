#include "launch/host_file.h"

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/regular_file.h"
#include "base/shown_text.h"

namespace causeway::launch {

bool has_slots(const std::string& word) {
  return std::ranges::count(word, ':') == 1;
}

namespace {

constexpr uint32_t kMostSlots = 65536;
constexpr size_t kLargestFile = 4 << 20;

// A name goes into the agent's command line: it must not be taken for an option there.
bool is_name(const std::string& word) {
  return !word.empty() && word[0] != '-' && !has_slots(word) &&
         word.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
             ".-_@:") == std::string::npos;
}

std::optional<uint32_t> number_in(const std::string& text) {
  if (text.empty() || text.size() > 5 || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return static_cast<uint32_t>(std::stoul(text));
}

// Cuts off the slots of "host:4", as other launchers write it; an address of IPv6 has more colons.
std::optional<uint32_t> cut_slots(std::string& host) {
  if (!has_slots(host)) return std::nullopt;
  const size_t colon = host.find(':');
  const std::optional<uint32_t> count = number_in(host.substr(colon + 1));
  if (count) host.resize(colon);
  return count;
}

std::vector<std::string> each_once(const std::vector<std::string>& slots) {
  std::vector<std::string> hosts;
  std::unordered_set<std::string> seen;
  for (const std::string& host : slots)
    if (seen.insert(host).second) hosts.push_back(host);
  return hosts;
}

// First the first slot of every host, then every second one, and so on.
void take_turns(std::vector<std::string>& slots) {
  std::unordered_map<std::string, size_t> seen;
  std::vector<std::pair<size_t, std::string>> rounds;
  for (std::string& host : slots) rounds.emplace_back(seen[host]++, std::move(host));
  std::ranges::stable_sort(rounds, {}, &std::pair<size_t, std::string>::first);
  for (size_t i = 0; i < slots.size(); ++i) slots[i] = std::move(rounds[i].second);
}

void add_spares(std::vector<std::string>& places, const std::vector<std::string>& free_slots,
                const std::vector<std::string>& hosts, uint32_t spares) {
  for (uint32_t i = 0; i < spares; ++i) {
    const size_t beyond = i - std::min<size_t>(i, free_slots.size());
    places.push_back(i < free_slots.size() ? free_slots[i]
                                           : hosts[hosts.size() - 1 - beyond % hosts.size()]);
  }
}

}  // namespace

std::vector<std::string> read_host_file(const std::string& path) {
  std::string why;
  const std::optional<std::string> text = read_regular_file(path, kLargestFile, why);
  if (!text) throw Error(CWY_ERR_INVALID, "cannot read the host file '{}': {}", path, why);
  std::istringstream in(*text);
  std::vector<std::string> slots;
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string host, word;
    if (!(words >> host)) continue;
    std::optional<uint32_t> count = cut_slots(host);
    if (!is_name(host))
      throw Error(CWY_ERR_INVALID, "{}:{}: '{}' is not a host's name", path, number, shown(host));
    while (words >> word) {
      if (count)
        throw Error(CWY_ERR_INVALID,
                    "{}:{}: '{}' after slots={}: a line has one host and one slots=N", path, number,
                    shown(word), *count);
      if (word.starts_with("slots=")) count = number_in(word.substr(6));
      if (!count)
        throw Error(CWY_ERR_INVALID, "{}:{}: '{}' is not of the form slots=N, N up to {}", path,
                    number, shown(word), kMostSlots);
    }
    if (slots.size() + count.value_or(1) > kMostSlots)
      throw Error(CWY_ERR_INVALID, "{}:{}: more than {} slots", path, number, kMostSlots);
    slots.insert(slots.end(), count.value_or(1), host);
  }
  if (slots.empty()) throw Error(CWY_ERR_INVALID, "{}: no host with a slot is named", path);
  return slots;
}

std::vector<std::string> parse_host_list(const std::string& text, bool* counted) {
  std::string blanks = text;
  std::replace(blanks.begin(), blanks.end(), ',', ' ');
  std::istringstream in(blanks);
  std::vector<std::string> hosts;
  for (std::string word; in >> word;) {
    const std::optional<uint32_t> count = cut_slots(word);
    if (counted != nullptr) *counted |= count.has_value();
    if (!is_name(word)) throw Error(CWY_ERR_INVALID, "'{}' is not a host's name", shown(word));
    if (hosts.size() + count.value_or(1) > kMostSlots)
      throw Error(CWY_ERR_INVALID, "'{}': more than {} slots", word, kMostSlots);
    hosts.insert(hosts.end(), count.value_or(1), word);
  }
  if (hosts.empty()) throw Error(CWY_ERR_INVALID, "no host with a slot is named");
  return hosts;
}

std::vector<std::string> place(const std::vector<std::string>& slots, const Placement& how,
                               const std::string& source) {
  const std::vector<std::string> hosts = each_once(slots);
  std::vector<std::string> list = slots;
  if (how.per_host) {
    list.clear();
    for (const std::string& host : hosts) list.insert(list.end(), *how.per_host, host);
  }
  if (how.in_turn) take_turns(list);
  const size_t ranks = how.ranks.value_or(static_cast<uint32_t>(list.size()));
  if (ranks > list.size())
    throw Error(CWY_ERR_INVALID,
                "{} ranks, but {} has room for {} on {} host{}: add hosts, raise slots=, or say "
                "--per-host",
                ranks, source, list.size(), hosts.size(), hosts.size() == 1 ? "" : "s");
  const auto end = list.begin() + static_cast<std::ptrdiff_t>(ranks);
  std::vector<std::string> places(list.begin(), end);
  add_spares(places, {end, list.end()}, hosts, how.spares);
  return places;
}

std::vector<std::string> spread(const std::vector<std::string>& list, uint32_t ranks,
                                uint32_t spares, bool in_turn) {
  const std::vector<std::string> hosts = each_once(list);
  std::vector<std::string> places;
  const size_t count = hosts.size();
  for (size_t i = 0; i < count; ++i)
    places.insert(places.end(), ranks / count + (i < ranks % count ? 1 : 0), hosts[i]);
  if (in_turn) take_turns(places);
  add_spares(places, {}, hosts, spares);
  return places;
}

}  // namespace causeway::launch
