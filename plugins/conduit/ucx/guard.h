// The frame in which every cold call of this plugin runs.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "../../common/guard.h"
#include "../common/signals_blocked.h"

namespace causeway::ucx {

// No exception leaves the plugin, and the threads that UCX starts block all signals.
template <class Body>
cwy_status guarded(cwy_err* err, Body&& body) noexcept {
  return causeway::guarded(err, [&]() -> cwy_status {
    const SignalsBlocked blocked;
    return body();
  });
}

}  // namespace causeway::ucx
