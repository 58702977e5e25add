// Loader: finds plugins, reads their manifests without dlopen, loads them, and gives each a
// full-size copy of its tables.
#pragma once

#include <causeway/collective.h>
#include <causeway/conduit.h>
#include <causeway/memkind.h>
#include <causeway/plugin.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"

namespace causeway {

enum class PluginKind { conduit, memkind, collective };
const char* kind_word(PluginKind kind);

struct OptionSchema {
  std::string key, type;  // string int bool size time enum
  std::string default_text, help;
  std::vector<std::string> choices;  // enum
  std::string min_text, max_text;    // int size time; "" = none
};

// The content of the ELF section `cwy_manifest`.
struct Manifest {
  std::string path;  // of the file
  PluginKind kind;
  std::string name, version, summary, license;
  uint16_t api_major = 0, api_minor = 0;
  uint32_t min_core_minor = 0;
  std::vector<OptionSchema> options;
  std::vector<std::string> wanted_by;  // paths and environment variables
};

// Reads and checks a manifest without dlopen: ELF class, machine, section, kind, versions,
// permissions. Throws Error with "<path>: reason".
Manifest read_manifest(const std::string& path);

// Options of one instance: checked and defaulted. Throws Error naming the origin of a bad value.
// The object is what plugins see as `const cwy_options*`.
class OptionValues;
std::shared_ptr<const OptionValues> make_options(const Manifest& manifest,
                                                 const std::map<std::string, std::string>& values,
                                                 const std::map<std::string, Origin>& origins);
const cwy_options* as_c(const OptionValues* options);

// The opt_* members of cwy_services.
void fill_option_services(cwy_services& services);

struct ConduitPlugin {
  Manifest manifest;
  cwyc_module module{};              // full-size: missing members are stubs that report
  std::vector<cwyc_ops> ops;         // full-size copies; a missing member is NULL here: select/
                                     // fills it per connection class with an emulation
  const cwyc_module* own = nullptr;  // as the plugin wrote it, for conduits in front of it
  bool lacks_direct = false;         // rkey_direct is a stub: nothing can be mapped
};
struct MemkindPlugin {
  Manifest manifest;
  cwym_module module{};
};
struct CollectivePlugin {
  Manifest manifest;
  cwyl_module module{};
  std::vector<cwyl_candidate> candidates;
};

// A file that was tried and did not load: for `causeway info --failed`.
struct LoadFailure {
  std::string path;
  std::string reason;
};

class Loader {
 public:
  // `services` must outlive the loader and the process' use of its plugins.
  Loader(const Config& config, const cwy_services* services);

  // Directories in search order: plugin_path, then the one beside this library or tool.
  const std::vector<std::string>& search_path() const { return search_path_; }

  // Every plugin file found, by manifest only. Files that fail go to failures().
  std::vector<Manifest> list();

  // Loads once per name; later calls return the same object. On failure obeys on_load_error:
  // `fail` throws Error, `warn` logs one line and returns nullptr, `ignore` returns nullptr.
  ConduitPlugin* conduit(const std::string& name);
  MemkindPlugin* memkind(const std::string& name);
  CollectivePlugin* collective(const std::string& name);

  // Loads exactly this file, whatever on_load_error says: throws Error.
  template <class Plugin>
  Plugin* file(const std::string& path);

  const std::vector<LoadFailure>& failures() const { return failures_; }

  // Calls fini of plugins no other loader of the process uses: every domain must be closed.
  ~Loader();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::vector<std::string> search_path_;
  std::vector<LoadFailure> failures_;
};

}  // namespace causeway
