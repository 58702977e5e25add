// The second function of a plugin, by which it offers what is outside of the interface's freeze
// (causeway/experimental.h).
#pragma once

#include <causeway/experimental.h>
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {

inline cwyx_lookup_fn find_lookup(const Settings& settings) {
  void* const plugin = dlopen(settings.plugin.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (plugin == nullptr) throw Error(CWY_ERR_INVALID, "dlopen: {}", dlerror());
  const auto lookup = reinterpret_cast<cwyx_lookup_fn>(dlsym(plugin, CWYX_LOOKUP_NAME));
  if (lookup == nullptr) throw Skip{CWYX_LOOKUP_NAME};
  return lookup;
}

template <class Table>
const Table& find_table(const Settings& settings, const char* name) {
  const void* const found = find_lookup(settings)(name, CWYX_REVISION);
  if (found == nullptr) throw Skip{name};
  return *static_cast<const Table*>(found);
}

// Catches a table that is answered for other names, or to a caller that knows other shapes.
inline void lookup_is_exact(const char* name) {
  const cwyx_lookup_fn lookup = find_lookup(world().settings);
  EXPECT_NE(lookup(name, CWYX_REVISION), nullptr);
  EXPECT_EQ(lookup(name, CWYX_REVISION - 1), nullptr);
  EXPECT_EQ(lookup(name, CWYX_REVISION + 1), nullptr);
  EXPECT_EQ(lookup(std::string(name, std::strlen(name) - 1).c_str(), CWYX_REVISION), nullptr);
  EXPECT_EQ(lookup("", CWYX_REVISION), nullptr);
}

}  // namespace causeway::conformance
