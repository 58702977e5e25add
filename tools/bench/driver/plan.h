// Plan: which jobs to launch for the figures asked for, and what they measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../figures.h"

namespace causeway::bench {

struct Request {
  std::vector<std::string> only;  // empty: all
  bool quick = false;
  bool instructions = false;
  std::optional<std::string> config;
  std::vector<std::string> sets;
  unsigned ranks = 2;   // of the job that measures the pair
  std::string network;  // "ofi/tcp" and the like: that network instead of everything else
  std::optional<unsigned> launches;  // of the network's programs; nullopt: some, or one for `quick`
  // "shm" or "tcp": collectives beside those of MPI libraries, instead of everything else.
  std::string collectives;
  std::string memkind;  // "cuda", "hip" or "ze": that kind's memory, instead of everything else
  std::string scale;    // "2,16,64": the start of so many ranks, instead of everything else
  unsigned hosts = 1;   // with `scale`: network namespaces that the ranks are spread over
  std::string sweep;    // "put,am": those over sizes, instead of everything else
  std::string sizes = "8-4MiB";  // of the sweep
  std::string one_sided;         // "shm" or "tcp": puts, gets and fetch-adds beside those libraries
};

struct Facts {
  unsigned ranks = 0;
  unsigned cores = 0;
  bool pinned = false;
  bool oversubscribed() const { return cores < ranks; }
};

struct Outcome {
  std::optional<Facts> facts;  // of the pair's job, if there was one
  std::vector<Measured> measured;
  std::vector<std::string> problems;  // one line each: what could not be measured and why
  std::vector<std::string> notes;     // one line each: what was left out on purpose
};

// Two threads that send and two ranks that receive, each on a core: are there so many?
bool threads_are_judged();

// The argument of `--network`: a conduit and, after a slash, a transport in its library's words.
struct NetworkName {
  std::string conduit, transport;
};
// nullopt: not a network that can be measured.
std::optional<NetworkName> network_name(const std::string& text);

// Tells a person at a terminal what goes on, since the table comes minutes later; files get
// nothing.
void say(const std::string& text);

// Measures. `tool` is the causeway command, `program` the measuring program.
Outcome carry_out(const Request& request, const std::string& tool, const std::string& program);

}  // namespace causeway::bench
