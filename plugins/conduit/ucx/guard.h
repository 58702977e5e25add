// What every cold call of this plugin runs inside.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <exception>

#include "../common/plugin_error.h"

namespace causeway::ucx {

// UCX starts threads of its own; a thread inherits the mask of who made it, and a plugin's threads
// block all signals.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// No exception leaves the plugin.
template <class Body>
cwy_status guarded(cwy_err* err, Body&& body) noexcept {
  try {
    const SignalsBlocked blocked;
    return body();
  } catch (const std::exception& failure) {  // in practice std::bad_alloc
    return report(err, CWY_ERR_NOMEM, "%s", failure.what());
  }
}

}  // namespace causeway::ucx
