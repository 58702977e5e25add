#include "config/load_config.h"

#include <unistd.h>

#include <cstdlib>
#include <set>
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

namespace causeway {
namespace {

constexpr size_t kMostProblems = 20;
constexpr size_t kLargestFile = 256 * 1024;

class Loading {
 public:
  explicit Loading(CheckedConfig& out) : schema_(config_schema()), out_(out) {}

  void add_built_in() {
    order_.push_back(kBuiltInSource);
    add(unpack_document(k_default_tree, kBuiltInSource));
  }
  void add_text(const std::string& text, const std::string& source) {
    order_.push_back(source);
    add(parse_document(text, source, out_.problems));
  }
  void add_file(const std::string& path) {
    order_.push_back(path);
    std::string why;
    if (const std::optional<std::string> text = read_regular_file(path, kLargestFile, why)) {
      add(parse_document(*text, path, out_.problems));
    } else {
      out_.problems.add({path, 0, 0}, "cannot read the configuration file: " + why);
      complete_ = false;
    }
  }
  void add_set(const std::string& item, const std::string& label) {
    order_.push_back(label + ": " + item);
    const std::optional<Node> document = parse_set(item, label, out_.problems);
    if (document || item.rfind("conduits", 0) == 0) add(document);
  }

  void finish() {
    std::vector<bool> comparable;
    std::vector<PeerRule> rules = build_rules(root_, comparable, out_.problems);
    // Without one of the sources, what the others refer to may well be in it.
    if (complete_) check_references(schema_, root_, removals_, out_.problems);
    check_reachable(rules, comparable, out_.problems);
    out_.problems.sort(order_);
    if (out_.problems.empty()) {
      out_.config = build_config(root_, std::move(rules));
    } else if (complete_) {
      out_.rest = build_config(root_, std::move(rules));
    }
  }

 private:
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
  std::vector<std::string> order_;
  bool complete_ = true;
};

// <prefix>/etc/causeway.yaml of this copy of the core, if there is one; for /usr that in /etc.
std::optional<std::string> default_site_file() {
  const std::string at = own_prefix(), path = (at == "/usr" ? "" : at) + "/etc/causeway.yaml";
  // A file that exists and cannot be read is a problem to report, not one to pass over.
  if (::access(path.c_str(), F_OK) != 0) return std::nullopt;
  return path;
}

void warn_once(const std::vector<Problem>& warnings, const Config& config) {
  // A process may load the same sources several times (a launcher, then a rank forked by it).
  static std::set<std::string> said;
  if (config.log_level == "error") return;
  for (const Problem& warning : warnings) {
    if (said.insert(warning.str()).second) log_warn("{}", warning.str());
  }
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
  if (sources.file) loading.add_file(*sources.file);
  for (const std::string& item : sources.sets) loading.add_set(item, "CAUSEWAY_SET");
  for (const std::string& item : sources.flags) loading.add_set(item, "--set");
  loading.finish();
  return out;
}

Config load_config(const ConfigSources& sources) {
  CheckedConfig checked = check_config(sources);
  if (!checked.config) throw Error(CWY_ERR_INVALID, "{}", checked.problems.text(kMostProblems));
  warn_once(checked.warnings, *checked.config);
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
  if (const char* file = ::secure_getenv("CAUSEWAY_CONFIG"); file != nullptr && *file != '\0') {
    sources.file = file;
  }
  if (const char* sets = ::secure_getenv("CAUSEWAY_SET"); sets != nullptr) {
    sources.sets = split_sets(sets);
  }
  return sources;
}

}  // namespace causeway
