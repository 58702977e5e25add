// Config: the configuration in force, read once at start-up and constant afterwards.
//
// Sources in increasing precedence (DESIGN section 4): built-in default (configs/default.yaml,
// compiled in) < identity of the program < site file (<prefix>/etc/causeway.yaml) < GASNET_*
// variables < CAUSEWAY_CONFIG < CAUSEWAY_SET < launcher flags (which the launcher passes as
// CAUSEWAY_CONFIG/CAUSEWAY_SET); below each file those that it includes. Maps merge key by key;
// scalars and lists replace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace causeway {

// Where a value was written: "site.yaml:12:7", "CAUSEWAY_SET:shm.ring=4k", "built-in default".
struct Origin {
  std::string source;
  int line = 0;    // 1-based; 0 when the source has no lines
  int column = 0;  // 1-based
  std::string str() const;
};

enum class LoadErrorPolicy { fail, warn, ignore };
enum class Fallback { fail, warn, silent };
enum class DirectMap { automatic, never };
enum class Checks { none, full };
enum class Locality { self, nbrhd, host, remote };

// Several conduits that share the load towards a peer.
struct RailSpec {
  std::string name;
  std::vector<std::string> use;  // conduit names
  bool by_bandwidth = false;     // parts in proportion to what the conduits say of themselves
  uint64_t stripe_above = 0;     // puts and gets larger than this are split
  Origin where;
};

// An entry of a rule's `sizes:`.
struct SizeRule {
  uint64_t from = 0, to = UINT64_MAX;   // bytes, inclusive
  std::vector<std::string> operations;  // put, get, am; empty: all three
  std::string use;                      // conduit or rail
  Origin where;

  bool covers(const std::string& operation, uint64_t size) const;
};

// An entry of `peers:`; the first rule that matches a peer is the one that holds. Where it names
// conduits it may also name rails.
struct PeerRule {
  std::optional<Locality> locality;  // absent: any
  std::string host_glob;             // "": any
  std::string rank_set;              // "0-3,7": peer ranks; "": any
  std::vector<std::string> use;      // strict order
  bool require = false;              // nothing but the first usable entry of `use`; no fallback
  Fallback on_fallback = Fallback::silent;
  std::map<std::string, std::string> operations;  // put/get/atomic/am -> name
  std::vector<SizeRule> sizes;                    // the file's order
  std::string label;                              // "peers[1]" or its `name:`
  Origin where;

  bool matches(Locality locality_of_peer, const std::string& host, uint32_t rank) const;
};

// A named transport: a plugin on a device with options. `mask` restricts which native operations
// of the plugin are used; everything else is emulated by the core over active messages.
struct ConduitSpec {
  std::string name;
  std::string plugin;  // defaults to name
  std::string device;  // names with commas between; "": any
  // Values as text; checked against the plugin's manifest when it is known.
  std::map<std::string, std::string> options;
  std::map<std::string, Origin> option_origins;
  // Native operations allowed, out of: put get atomic vector am_long am_prepare
  // direct. Empty optional: all.
  std::optional<std::vector<std::string>> native;
  bool open_always = false;       // although no rule names it
  uint32_t lanes = 1;             // how often it is opened; a pair of ranks uses one of them
  uint32_t lane = 0;              // of a conduit that was opened: which of them this is
  std::vector<PeerRule> devices;  // which names hold for which ranks and hosts, instead of `device`
  Origin where;
};

// An entry of `collectives.rules`: which algorithms serve which calls.
struct CollectiveRule {
  std::string operation;                           // "any" or a word of operation_word()
  uint64_t from = 0, to = UINT64_MAX;              // payload in bytes, inclusive
  uint64_t ranks_from = 1, ranks_to = UINT64_MAX;  // members of the team, inclusive
  std::string locality;  // "any", or what the whole team shares: nbrhd | host; remote: more hosts
  std::string type;      // "any", or the data type of a reduction: i32 ... dbl, user
  std::string memory;    // "any", or what members had bound: host alone, a device's, or of a kind
  std::vector<std::string> use;  // "plugin/algorithm", "plugin/*", "algorithm" or "*", in order
  bool require = false;          // nothing but `use` serves such a call
  std::string label;             // "collectives.rules[1]" or its `name:`
  Origin where;
};

struct Timeouts {
  uint64_t start_ns;  // wire-up: every rank must have joined by then
  uint64_t exit_ns;   // gasnet_exit(0) on one rank until others get SIGQUIT; ends of survivors
  uint64_t kill_ns;   // SIGQUIT to SIGKILL
  uint64_t peer_ns;   // silence of a peer until it counts as failed
};

struct Waiting {
  uint64_t spin_ns;   // busy polling before the first yield (0 when oversubscribed)
  uint64_t yield_ns;  // yielding before the first sleep
  uint64_t nap_ns;    // longest sleep before looking again
};

struct Vis {
  uint64_t pack_below;  // pieces shorter than this travel together
  uint32_t pipeline;    // messages and operations of one transfer under way
};

struct Config {
  // plugins:
  std::vector<std::string> plugin_path;  // searched before the directory beside the library
  LoadErrorPolicy on_load_error = LoadErrorPolicy::warn;
  std::vector<std::string> memkind_plugins;  // which to load
  std::vector<std::string> collective_plugins;

  std::vector<ConduitSpec> conduits;  // file order
  std::vector<RailSpec> rails;        // file order
  std::vector<PeerRule> peers;        // file order

  DirectMap direct_map = DirectMap::automatic;
  Checks checks = Checks::none;
  std::string log_level = "warn";  // error warn info debug
  bool report = false;             // print, at exit, which transport carried what

  // segment:
  uint64_t segment_max = 0;          // gasnet_getMaxLocalSegmentSize; 0: from free memory
  bool segment_max_of_host = false;  // segment_max is for all ranks of a host together
  std::string huge_pages = "never";  // never | try | require
  std::string numa = "first-touch";  // first-touch | interleave | none

  uint32_t neighborhood_ranks = 0;  // most ranks of one neighborhood; 0: no limit

  Timeouts timeouts{};
  Waiting waiting{};
  Vis vis{};

  // collectives:
  std::vector<CollectiveRule> collective_rules;  // file order
  uint64_t collective_scratch = 0;               // bytes per run and rank

  // Blocks that are checked by the schema and kept for the rooms that use them:
  // dotted path -> scalar text ("trace.file" -> "x"), for every leaf of the merged document.
  std::map<std::string, std::string> values;
  std::map<std::string, Origin> origins;

  // The merged document as YAML (`causeway info --config`; two ranks' are compared by it).
  std::string text;

  const RailSpec* find_rail(const std::string& name) const;
  // Does any rule send something through the conduit of that name?
  bool uses_conduit(const std::string& name) const;
};

struct ConfigSources {
  std::string identity_label;            // "identity smp-par"; empty: the program has none
  std::string identity_text;             // its YAML
  bool debug_build = false;              // GASNET_DEBUG
  std::optional<std::string> site_file;  // nullopt: <prefix>/etc/causeway.yaml if it exists
  // From GASNET_* variables: a label that names the variable, "path.to.key=value".
  std::vector<std::pair<std::string, std::string>> gasnet;
  std::vector<std::string> files;      // CAUSEWAY_CONFIG, in order
  std::vector<std::string> sets;       // CAUSEWAY_SET: "path.to.key=value", in order
  std::vector<std::string> flags;      // --set of a command, over these
  std::vector<std::string> variables;  // CAUSEWAY_*, by name, to be known ones
  bool launches = false;               // a launcher's, which may itself be a rank of an outer job
  static ConfigSources from_environment();  // the process' identity and environment
};

// Throws Error(CWY_ERR_INVALID) whose text is one problem per line, each "file:line:col: ...".
Config load_config(const ConfigSources& sources);

// Parsers shared with the loader's option checks. Throw Error(CWY_ERR_INVALID) naming the text.
uint64_t parse_size(const std::string& text);     // "64KiB", "2M", "4096"
uint64_t parse_time_ns(const std::string& text);  // "50us", "2s", "1ms"
bool parse_bool(const std::string& text);         // true | false only
// The nearest of `words` to `word`, if one is near enough to suggest.
std::optional<std::string> did_you_mean(const std::string& word,
                                        const std::vector<std::string>& words);
// The end of a line about `word`: "; did you mean 'x'?", or nothing.
std::string meant_hint(const std::string& word, const std::vector<std::string>& words);

}  // namespace causeway
