#include "loader/loader.h"

#include <sys/auxv.h>

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "base/error.h"
#include "base/log.h"
#include "base/own_path.h"
#include "fmt/ranges.h"
#include "loader/plugin_file.h"
#include "loader/search.h"
#include "loader/tables.h"
#include "spawn/job_words.h"

namespace causeway {
namespace {

namespace fs = std::filesystem;

template <typename Plugin>
constexpr PluginKind kKindOf = std::is_same_v<Plugin, ConduitPlugin>   ? PluginKind::conduit
                               : std::is_same_v<Plugin, MemkindPlugin> ? PluginKind::memkind
                                                                       : PluginKind::collective;

// A plugin with its use of the file; the use ends after the tables are gone.
template <typename Plugin>
struct Loaded {
  Loaded(const Manifest& manifest, const cwy_services* services) : use(manifest, services) {
    plugin.manifest = manifest;
  }
  PluginUse use;
  Plugin plugin;
};

template <typename Plugin>
struct Shelf {
  // The answer for a name: a plugin, or the line that says why there is none.
  struct Answer {
    Plugin* plugin = nullptr;
    std::string failure;
  };
  std::map<std::string, std::unique_ptr<Loaded<Plugin>>> by_path;
  std::map<std::string, Answer> by_name;
};

std::string canonical(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
}

}  // namespace

struct Loader::Impl {
  LoadErrorPolicy policy;
  const cwy_services* services;
  std::mutex lock;
  std::tuple<Shelf<ConduitPlugin>, Shelf<MemkindPlugin>, Shelf<CollectivePlugin>> shelves;

  template <typename Plugin>
  Shelf<Plugin>& shelf() {
    return std::get<Shelf<Plugin>>(shelves);
  }

  // Remembers a failure. `line` starts with the path.
  void record(std::vector<LoadFailure>& failures, const std::string& path, const std::string& line,
              bool speak) const {
    const std::string reason =
        line.rfind(path + ": ", 0) == 0 ? line.substr(path.size() + 2) : line;
    const auto same = [&](const LoadFailure& f) { return f.path == path && f.reason == reason; };
    if (std::ranges::any_of(failures, same)) return;
    failures.push_back({path, reason});
    if (!speak || policy != LoadErrorPolicy::warn) return;
    log(speaks_for_host(line) ? LogLevel::warn : LogLevel::info, "{}: {}", path, reason);
  }

  // Throws Error "<path>: reason".
  template <typename Plugin>
  Plugin* load_file(const std::string& path) {
    auto& by_path = shelf<Plugin>().by_path;
    const std::string key = canonical(path);
    if (const auto found = by_path.find(key); found != by_path.end()) return &found->second->plugin;
    const Manifest manifest = read_manifest(path);
    if (manifest.kind != kKindOf<Plugin>) {
      throw Error(CWY_ERR_INVALID, "{}: is of the wrong kind: a {}, not a {}", path,
                  kind_word(manifest.kind), kind_word(kKindOf<Plugin>));
    }
    auto loaded = std::make_unique<Loaded<Plugin>>(manifest, services);
    try {
      fill_tables(loaded->plugin, loaded->use.module());
    } catch (const Error& error) {
      throw Error(error.status(), path + ": " + error.text());
    }
    loaded->use.set_fini(loaded->plugin.module.fini);
    return &by_path.emplace(key, std::move(loaded)).first->second->plugin;
  }

  template <typename Plugin>
  Plugin* load_named(Loader& loader, const std::string& name) {
    auto& answers = shelf<Plugin>().by_name;
    auto found = answers.find(name);
    if (found == answers.end()) found = answers.emplace(name, resolve<Plugin>(loader, name)).first;
    const auto& answer = found->second;
    if (!answer.failure.empty() && policy == LoadErrorPolicy::fail)
      throw Error(CWY_ERR_INVALID, answer.failure);
    return answer.plugin;
  }

  // The first file of the name that loads claims it; every other one is a failure.
  template <typename Plugin>
  typename Shelf<Plugin>::Answer resolve(Loader& loader, const std::string& name) {
    typename Shelf<Plugin>::Answer answer;
    constexpr PluginKind kind = kKindOf<Plugin>;
    const auto note = [&](const std::string& path, const std::string& line) {
      if (answer.failure.empty()) answer.failure = line;
      record(loader.failures_, path, line, true);
    };
    const std::vector<std::string> files = files_named(loader.search_path_, kind, name);
    for (const std::string& path : files) {
      try {
        if (answer.plugin != nullptr)
          note(path, taken_line(path, answer.plugin->manifest));
        else
          answer.plugin = load_file<Plugin>(path);
      } catch (const Error& error) {
        note(path, error.text());
      }
    }
    if (files.empty()) note(plugin_file_name(kind, name), not_found_line(loader, kind, name));
    return answer;
  }

  static std::string taken_line(const std::string& path, const Manifest& first) {
    return fmt::format(
        "{}: {} '{}' is already provided by {}, which comes first in the search "
        "path; remove or rename one of the two",
        path, kind_word(first.kind), first.name, first.path);
  }

  static std::string not_found_line(const Loader& loader, PluginKind kind,
                                    const std::string& name) {
    std::vector<std::string> names;
    const std::string prefix = std::string(kind_word(kind)) + "_";
    for (const std::string& path : all_plugin_files(loader.search_path_)) {
      const std::string stem = fs::path(path).stem().string();
      if (stem.rfind(prefix, 0) == 0) names.push_back(stem.substr(prefix.size()));
    }
    return fmt::format("{}: not found in {}{}", plugin_file_name(kind, name),
                       fmt::join(loader.search_path_, ", "), meant_hint(name, names));
  }
};

Loader::Loader(const Config& config, const cwy_services* services)
    : impl_(std::make_unique<Impl>()) {
  impl_->policy = config.on_load_error;
  impl_->services = services;
  const auto append = [this](const std::string& directory) {
    if (directory.empty()) return;  // would be wherever the program was started
    const auto same = [&](const std::string& other) {
      return canonical(other) == canonical(directory);
    };
    if (std::ranges::none_of(search_path_, same)) search_path_.push_back(directory);
  };
  // A program with rights that its user lacks takes no code from where that user says.
  if (::getauxval(AT_SECURE) == 0)
    for (const std::string& directory : config.plugin_path) append(directory);
  for (const std::string& directory : search_path_) {
    std::error_code error;
    if (fs::directory_iterator(directory, error); !error) continue;
    const std::string why = "cannot be searched (plugins.path): " + error.message();
    if (impl_->policy == LoadErrorPolicy::fail)
      throw Error(CWY_ERR_INVALID, "{}: {}", directory, why);
    impl_->record(failures_, directory, why, true);
  }
  append(own_plugin_directory());
}

Loader::~Loader() = default;

std::vector<Manifest> Loader::list() {
  const std::lock_guard<std::mutex> guard(impl_->lock);
  std::vector<Manifest> manifests;
  for (const std::string& path : all_plugin_files(search_path_)) {
    try {
      Manifest manifest = read_manifest(path);
      const auto first = std::ranges::find_if(manifests, [&](const Manifest& m) {
        return m.kind == manifest.kind && m.name == manifest.name;
      });
      if (first == manifests.end())
        manifests.push_back(std::move(manifest));
      else
        impl_->record(failures_, path, Impl::taken_line(path, *first), false);
    } catch (const Error& error) {
      impl_->record(failures_, path, error.text(), false);
    }
  }
  return manifests;
}

ConduitPlugin* Loader::conduit(const std::string& name) {
  const std::lock_guard<std::mutex> guard(impl_->lock);
  return impl_->load_named<ConduitPlugin>(*this, name);
}
MemkindPlugin* Loader::memkind(const std::string& name) {
  const std::lock_guard<std::mutex> guard(impl_->lock);
  return impl_->load_named<MemkindPlugin>(*this, name);
}
CollectivePlugin* Loader::collective(const std::string& name) {
  const std::lock_guard<std::mutex> guard(impl_->lock);
  return impl_->load_named<CollectivePlugin>(*this, name);
}

template <class Plugin>
Plugin* Loader::file(const std::string& path) {
  const std::lock_guard<std::mutex> guard(impl_->lock);
  return impl_->load_file<Plugin>(path);
}
template ConduitPlugin* Loader::file(const std::string&);
template MemkindPlugin* Loader::file(const std::string&);
template CollectivePlugin* Loader::file(const std::string&);

}  // namespace causeway
