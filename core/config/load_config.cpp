#include "config/load_config.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/own_path.h"
#include "base/regular_file.h"
#include "config/document.h"
#include "config/embedded.h"
#include "config/gasnet_environment.h"
#include "config/identity.h"
#include "config/peer_rules.h"
#include "config/schema.h"
#include "config/set_text.h"
#include "config/steps.h"
#include "spawn/job_words.h"

namespace causeway {
namespace {

constexpr size_t kMostProblems = 20;
constexpr size_t kLargestFile = 256 * 1024;
constexpr size_t kDeepest = 16;     // files that include each other
constexpr size_t kMostFiles = 256;  // a few lines could name a file for hours

class Loading {
 public:
  explicit Loading(CheckedConfig& out) : schema_(config_schema()), out_(out) {}

  void add_built_in() {
    out_.order.emplace_back(kBuiltInSource);
    add(unpack_document(k_default_tree, kBuiltInSource));
  }
  void add_text(const std::string& text, const std::string& source) {
    out_.order.push_back(source);
    add(parse_document(text, source, out_.problems));
  }
  void add_file(const std::string& path) {
    chain_ = {path};
    read(path, nullptr);
  }
  void add_set(const std::string& item, const std::string& label) {
    out_.order.push_back(label + ": " + item);
    const std::optional<Node> document = parse_set(item, label, out_.problems);
    if (document || item.rfind("conduits", 0) == 0) add(document);
  }

  void finish() {
    std::vector<bool> comparable;
    std::vector<PeerRule> rules = build_rules(root_, comparable, out_.problems);
    // Without one of the sources, what the others refer to may well be in it.
    if (complete_) check_references(schema_, root_, removals_, out_.problems, out_.warnings);
    check_reachable(rules, comparable, out_.problems);
    out_.problems.sort(out_.order);
    if (out_.problems.empty())
      out_.config = build_config(root_, std::move(rules));
    else if (complete_)
      out_.rest = build_config(root_, std::move(rules));
  }

 private:
  // `at`: where an include names the file.
  void read(const std::string& path, const Origin* at) {
    std::string why;
    std::optional<Node> document;
    if (const auto text = read_regular_file(path, kLargestFile, why)) {
      document = parse_document(*text, path, out_.problems);
      if (document) add_included(*document, path);
    } else if (at == nullptr) {
      out_.problems.add({path, 0, 0}, "cannot read the configuration file: " + why);
    } else {
      refuse(*at, "cannot read '" + path + "': " + why);
    }
    out_.order.push_back(path);
    add(std::move(document));
  }

  void refuse(const Origin& at, const std::string& why) {
    out_.problems.add(at, fmt::format("include: {} ({})", why, fmt::join(chain_, " > ")));
    complete_ = false;
  }

  // Takes `include` out of the document of the file `path`, and lays those files below it.
  void add_included(Node& document, const std::string& path) {
    const Entry* const entry = document.find_entry("include");
    if (entry == nullptr) return;
    const Node named = entry->value;
    std::erase_if(document.entries, [](const Entry& e) { return e.key == "include"; });
    const bool list = named.kind == Node::Kind::list;
    for (const Node& name : list ? named.items : std::vector{named}) {
      if (name.kind == Node::Kind::scalar && !name.text.empty()) {
        include((std::filesystem::path(path).parent_path() / name.text).string(), name.where);
      } else if (list || name.kind != Node::Kind::null || name.written_null) {
        refuse(name.where,
               "expected the name of a file, or a list of them; found " + describe(name));
      }
    }
  }

  void include(const std::string& path, const Origin& at) {
    const bool circle = std::ranges::any_of(chain_, [&path](const std::string& outer) {
      std::error_code unreadable;
      return std::filesystem::equivalent(outer, path, unreadable);
    });
    chain_.push_back(path);
    if (circle)
      refuse(at, "'" + path + "' includes itself");
    else if (chain_.size() > kDeepest)
      refuse(at, fmt::format("more than {} files deep", kDeepest));
    else if (++included_ > kMostFiles)
      refuse(at, fmt::format("more than {} files are included", kMostFiles));
    else
      read(path, &at);
    chain_.pop_back();
  }

  void add(std::optional<Node> document) {
    if (!document) {
      complete_ = false;
      return;
    }
    validate(schema_, *document, out_.problems, out_.warnings);
    merge(schema_, root_, std::move(*document), removals_, out_.problems);
  }

  const Schema& schema_;
  CheckedConfig& out_;
  Node root_;
  Removals removals_;
  std::vector<std::string> chain_;  // the file that is read, behind those that include it
  size_t included_ = 0;
  bool complete_ = true;
};

// <prefix>/etc/causeway.yaml of this copy of the core, if there is one; for /usr that in /etc.
std::optional<std::string> default_site_file() {
  const std::string at = own_prefix(), path = (at == "/usr" ? "" : at) + "/etc/causeway.yaml";
  // A file that exists and cannot be read is a problem to report, not one to pass over.
  if (::access(path.c_str(), F_OK) != 0) return std::nullopt;
  return path;
}

// Identical warnings come from a single rank of each host; under other launchers, from rank 0. On
// one host our launcher has spoken already, except about GASNET_*, since it does not know the
// program.
bool is_said_elsewhere(const Problem& warning) {
  const char* const rank = ::secure_getenv("PMIX_RANK");
  const char* const job = ::secure_getenv(kJobVariable);
  if (job == nullptr) return rank != nullptr && std::string_view(rank) != "0";
  return (number_of_job(job, "hosts") == 1u && !warning.where.source.starts_with("GASNET_")) ||
         !speaks_for_host(warning.str());
}

void warn_once(const std::vector<Problem>& warnings, const Config& config, bool launches) {
  // A process may load the same sources several times (a launcher, then a rank forked by it).
  static std::set<std::string> said;
  if (config.log_level == "error") return;
  for (const Problem& warning : warnings)
    if ((launches || !is_said_elsewhere(warning)) && said.insert(warning.str()).second)
      log_warn("{}", warning.str());
}

// Variables of the environment that begin with CAUSEWAY_.
constexpr std::string_view kPrefix = "CAUSEWAY_";
constexpr std::ptrdiff_t kForUsers = 4;  // the first of the known: those that may be meant
// Behind them the launcher's for its ranks, and those by which a user's build may find us.
constexpr std::string_view kKnown[] = {
    "CONFIG", "SET", "RANKS",   "ON_DEATH", "JOB",    "SESSION_DIR", "STARTED_RANK", "DIR",
    "HOME",   "INC", "INCLUDE", "LIB",      "PREFIX", "ROOT",        "VERSION"};

// A warning if nothing reads that variable, with the name that was meant where one is near.
std::optional<Problem> unknown_variable(const std::string& variable) {
  if (!variable.starts_with(kPrefix)) return std::nullopt;
  const std::string name = variable.substr(kPrefix.size());
  if (std::ranges::find(kKnown, name) != std::end(kKnown)) return std::nullopt;
  const auto meant = did_you_mean(name, {kKnown, kKnown + kForUsers});
  const std::string hint = meant ? fmt::format("; did you mean {}{}?", kPrefix, *meant) : "";
  return Problem{{variable, 0, 0}, "Causeway has no such variable" + hint};
}

}  // namespace

CheckedConfig check_config(const ConfigSources& sources) {
  CheckedConfig out;
  Loading loading(out);
  loading.add_built_in();
  if (!sources.identity_text.empty())
    loading.add_text(sources.identity_text, sources.identity_label);
  if (sources.debug_build) loading.add_set("checks=full", "GASNET_DEBUG");
  const std::optional<std::string> site =
      sources.site_file ? sources.site_file : default_site_file();
  if (site && !site->empty()) loading.add_file(*site);
  for (const auto& [label, item] : sources.gasnet) loading.add_set(item, label);
  for (const std::string& file : sources.files) loading.add_file(file);
  const bool handed_on = ::secure_getenv(kJobVariable) != nullptr;  // by our launcher, its --set
  for (const std::string& item : sources.sets)
    loading.add_set(item, handed_on ? "CAUSEWAY_SET or --set" : "CAUSEWAY_SET");
  for (const std::string& item : sources.flags) loading.add_set(item, "--set");
  for (const std::string& variable : sources.variables)
    if (auto warning = unknown_variable(variable)) out.warnings.push_back(std::move(*warning));
  loading.finish();
  return out;
}

Config load_config(const ConfigSources& sources) {
  CheckedConfig checked = check_config(sources);
  if (!checked.config) throw Error(CWY_ERR_INVALID, "{}", checked.problems.text(kMostProblems));
  warn_once(checked.warnings, *checked.config, sources.launches);
  return std::move(*checked.config);
}

ConfigSources ConfigSources::from_environment() {
  ConfigSources sources;
  const Identity* program = identity();
  if (program != nullptr) {
    sources.identity_label = program->label();
    sources.identity_text = program->config;
  }
  sources.debug_build = build_wishes.debug.load(std::memory_order_relaxed);
  sources.gasnet = gasnet_settings(program);
  if (const char* files = ::secure_getenv("CAUSEWAY_CONFIG"); files != nullptr) {
    std::istringstream in(files);
    for (std::string file; std::getline(in, file, ':');)
      if (!file.empty()) sources.files.push_back(file);
  }
  if (const char* sets = ::secure_getenv("CAUSEWAY_SET"); sets != nullptr)
    sources.sets = split_sets(sets);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (std::string_view(*entry).starts_with("CAUSEWAY_"))
      sources.variables.emplace_back(*entry, std::strcspn(*entry, "="));
  return sources;
}

}  // namespace causeway
