// A plugin file brought into the process: dlopen, its one symbol, its init.
#pragma once

#include "loader/loader.h"

namespace causeway {

// A plugin's init is called once per process, however many loaders use the plugin; its fini when
// the last one lets go. An object of this class is one use.
class PluginUse {
 public:
  // Loads and initialises the file of this manifest. Throws Error "<path>: reason".
  PluginUse(const Manifest& manifest, const cwy_services* services);
  ~PluginUse();
  PluginUse(const PluginUse&) = delete;
  PluginUse& operator=(const PluginUse&) = delete;

  // The module that init returned: a cwyc_module, cwym_module or cwyl_module.
  const void* module() const { return module_; }
  // Sets the function to call at the very end; without it nothing is called.
  void set_fini(void (*fini)());

 private:
  void* handle_ = nullptr;
  const void* module_ = nullptr;
};

}  // namespace causeway
