// Host files: which hosts a job runs on, and which rank is where.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace causeway::launch {

// HOST:SLOTS has one colon; an address, which may be a host's name, has several.
bool has_slots(const std::string& word);

// Slots in the order of ranks: the host of slot 0, 1, ... A line is "host" for one slot or
// "host slots=N"; a host may have several lines, so a file with one line per rank is one as well.
// "#" begins a comment. Throws Error with file:line.
std::vector<std::string> read_host_file(const std::string& path);

// Hosts separated by commas or blanks; a host that is named again has a slot more. Throws Error.
// `counted`: becomes true where a host has a number of slots ("a:2").
std::vector<std::string> parse_host_list(const std::string& text, bool* counted = nullptr);

struct Placement {
  std::optional<uint32_t> ranks;     // absent: one per slot
  std::optional<uint32_t> per_host;  // instead of what the slots say
  uint32_t spares = 0;
  bool in_turn = false;  // the hosts in turn, as long as each has slots
};

// The host of every rank, then of every spare. Ranks fill the slots in order; with `per_host`
// every host in turn. Spares take slots that are left, then hosts in turn, the last one first.
// `source` is named in errors. Throws Error.
std::vector<std::string> place(const std::vector<std::string>& slots, const Placement& how,
                               const std::string& source);

// `ranks` over the hosts of `list` evenly, in blocks or in turn, however often each is named;
// spares as above.
std::vector<std::string> spread(const std::vector<std::string>& list, uint32_t ranks,
                                uint32_t spares, bool in_turn = false);

}  // namespace causeway::launch
