// No exception leaves a plugin: cold calls run inside this.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>

#include "plugin_error.h"

namespace causeway {

template <class Body>
cwy_status guarded(cwy_err* err, Body&& body) noexcept {
  try {
    return body();
  } catch (const std::exception& failure) {  // in practice std::bad_alloc
    return report(err, CWY_ERR_NOMEM, "%s", failure.what());
  }
}

}  // namespace causeway
