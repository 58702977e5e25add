// What a stand-in that is preloaded in front of a library passes on to.
#pragma once

#include <dlfcn.h>

#include <cstdlib>

// The library's own definition of that name; the program has loaded it.
template <typename Fn>
Fn* behind(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
  void* const found = handle != nullptr ? dlsym(handle, name) : nullptr;
  if (found == nullptr) std::abort();
  return reinterpret_cast<Fn*>(found);
}
