// A driver's library, opened at run time: nothing of it is needed to build or to link.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <dlfcn.h>

#include <string>

namespace causeway {

class DriverLibrary {
 public:
  // Never closed: drivers do not survive that.
  explicit DriverLibrary(const char* name) : name_(name) {
    handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    const char* why = ::dlerror();
    problem_ = std::string("the driver's library is missing: ") + (why != nullptr ? why : name);
  }

  // An address in the library; initialises a pointer to a function of whatever type.
  struct Entry {
    void* address;
    template <typename Fn>
    operator Fn*() const {
      return reinterpret_cast<Fn*>(address);
    }
  };
  // Resolves an entry point that every supported driver has. What is missing first is what
  // problem() tells.
  Entry need(const char* symbol) {
    const Entry entry = want(symbol);
    if (entry.address == nullptr && problem_.empty())
      problem_ = std::string("the driver is too old: ") + name_ + " has no " + symbol;
    return entry;
  }
  // Resolves an entry point that newer drivers have; NULL otherwise.
  Entry want(const char* symbol) const {
    return {handle_ != nullptr ? ::dlsym(handle_, symbol) : nullptr};
  }

  // Why the library cannot be used; empty when it can.
  const std::string& problem() const { return problem_; }

 private:
  const char* name_;
  void* handle_ = nullptr;
  std::string problem_;
};

}  // namespace causeway
