// What the core offers, and what UCX says.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <causeway/conduit.h>
#include <ucs/type/status.h>

#include <string>

#include "../common/plugin_services.h"

namespace causeway::ucx {

using conduit::log;
using conduit::services;

// UCX prints what it thinks of a failure and answers a number. These take the text, so that it
// stands in the one line that a person reads. Everything UCX says goes to the core's log at level
// debug; warnings and errors at level info.
void take_ucx_log();
void return_ucx_log();
// Forgets what this thread's calls made UCX say, respectively returns the last complaint since.
void forget_complaint();
std::string complaint();
// Settings that this thread's calls since left unused, in UCX's words; "" when all were used.
std::string unused_settings();
// "what UCX answered (what it said)"
std::string explain(ucs_status_t status);

// For answers and completions of operations.
cwy_status to_cwy(ucs_status_t status);

}  // namespace causeway::ucx
