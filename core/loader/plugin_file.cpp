#include "loader/plugin_file.h"

#include <dlfcn.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "base/error.h"
#include "loader/one_line.h"
#include "loader/plugin_call.h"
#include "loader/signal_keeper.h"
#include "loader/trust.h"

namespace causeway {
namespace {

struct Initialized {
  const void* module = nullptr;
  void (*fini)() = nullptr;
  size_t uses = 0;
};

// By dlopen handle, which is one per file however it was named. Never destroyed: a loader with
// static lifetime may outlive any object of this file.
std::map<void*, Initialized>& initialized() {
  static auto* map = new std::map<void*, Initialized>;
  return *map;
}
std::mutex g_plugin_files_lock;

const char* init_name(PluginKind kind) {
  constexpr const char* names[] = {CWY_CONDUIT_INIT_NAME, CWY_MEMKIND_INIT_NAME,
                                   CWY_COLLECTIVE_INIT_NAME};
  return names[static_cast<size_t>(kind)];
}

// dlerror() without the path that already leads the message.
std::string linker_text(const std::string& path) {
  const char* text = dlerror();
  std::string line = one_line(text != nullptr ? text : "no reason given by the dynamic linker");
  if (line.rfind(path + ": ", 0) == 0) line.erase(0, path.size() + 2);
  return line;
}

template <typename... Args>
[[noreturn]] void fail(const Manifest& manifest, cwy_status status,
                       fmt::format_string<Args...> format, Args&&... args) {
  throw Error(status, manifest.path + ": " + fmt::format(format, std::forward<Args>(args)...));
}

// The init functions of the three kinds differ in the module's type only; the module pointer is
// passed through as void, and the kind is what the manifest says.
using AnyInit = cwy_status (*)(const cwy_services*, const void**, cwy_err*);

const void* call_init(const Manifest& manifest, AnyInit init, const cwy_services* services) {
  const char* name = init_name(manifest.kind);
  cwy_err err{};
  err.head = CWY_HEAD(cwy_err);
  const void* module = nullptr;
  const cwy_status status =
      plugin_call({"", manifest.path}, name, [&] { return init(services, &module, &err); });
  if (status != CWY_OK) {
    const std::string text = text_of(err);
    fail(manifest, status < 0 ? status : CWY_ERR_INVALID, "{} answered {}: {}", name,
         reason({}, status), text.empty() ? "the plugin gave no reason" : text);
  }
  if (module == nullptr) fail(manifest, CWY_ERR_INVALID, "{} answered OK but set no module", name);
  return module;
}

}  // namespace

PluginUse::PluginUse(const Manifest& manifest, const cwy_services* services) {
  // A name without a slash would send dlopen to the system's library path.
  const std::string path = std::filesystem::absolute(manifest.path).string();
  const std::lock_guard<std::mutex> guard(g_plugin_files_lock);
  check_trust(path);  // again: what is loaded now is what may be
  const SignalKeeper keeper;
  // NODELETE: plugins' libraries leave threads and thread-locals behind that unloading would
  // pull the code away from.
  plugin_call({"", manifest.path}, "dlopen", [&] {
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return CWY_OK;
  });
  if (handle_ == nullptr)
    fail(manifest, CWY_ERR_INVALID, "cannot be loaded: {}", linker_text(path));
  Initialized& entry = initialized()[handle_];
  if (entry.uses == 0) {
    try {
      dlerror();
      void* symbol = dlsym(handle_, init_name(manifest.kind));
      if (symbol == nullptr) {
        fail(manifest, CWY_ERR_INVALID, "does not export {}: {}", init_name(manifest.kind),
             linker_text(path));
      }
      entry.module = call_init(manifest, reinterpret_cast<AnyInit>(symbol), services);
    } catch (...) {
      initialized().erase(handle_);
      dlclose(handle_);
      throw;
    }
  }
  ++entry.uses;
  module_ = entry.module;
}

void PluginUse::set_fini(void (*fini)()) {
  const std::lock_guard<std::mutex> guard(g_plugin_files_lock);
  initialized()[handle_].fini = fini;
}

PluginUse::~PluginUse() {
  const std::lock_guard<std::mutex> guard(g_plugin_files_lock);
  const auto entry = initialized().find(handle_);
  if (--entry->second.uses == 0) {
    if (entry->second.fini != nullptr) entry->second.fini();
    initialized().erase(entry);
  }
  dlclose(handle_);  // drops the count only: NODELETE
}

}  // namespace causeway
