// gex_Client_*: start-up and client queries.
#include "object/client.h"

#include <gasnet_tools.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "am/send.h"
#include "api/export.h"
#include "api/gex/adopt.h"
#include "api/refuse.h"
#include "base/error.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "base/handles.h"
#include "base/log.h"
#include "bootstrap/own_start.h"
#include "config/gasnet_environment.h"
#include "config/identity.h"
#include "process/binding.h"
#include "process/progress_thread.h"
#include "process/runtime.h"
#include "process/stops.h"

namespace causeway {

constinit AdoptClient* adopt_for_gasnet1 = nullptr;

namespace {

constexpr const char* kCall = "gex_Client_Init()";

// The specification's form of a client's name: [A-Z][A-Z0-9_]+. Real clients have others ("upcxx").
bool well_named(std::string_view name) {
  const auto upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto fits = [&](char c) { return upper(c) || (c >= '0' && c <= '9') || c == '_'; };
  return name.size() > 1 && upper(name[0]) && std::ranges::all_of(name, fits);
}

const char* mode_word(ThreadMode mode) {
  return mode == ThreadMode::seq   ? "GASNET_SEQ"
         : mode == ThreadMode::par ? "GASNET_PAR"
                                   : "GASNET_PARSYNC";
}

// GASNET_VERBOSEENV: by the first rank, what it has read.
void show_environment() {
  if (!gasnett_verboseenv()) return;
  for (const char* name : gasnet_variables())
    gasnett_envstr_display(name, std::getenv(name), std::getenv(name) == nullptr);
}

constexpr gex_Flags_t kOwnFlags = GEX_FLAG_USES_GASNET1 | GEX_FLAG_DEFER_THREADS;

// The reason why no client with this name and these flags can start beside those that run: an error
// code and its text, or GASNET_OK. `clients_mutex` is held.
std::pair<int, std::string> refusal_beside(const std::vector<Client*>& clients, const char* name,
                                           gex_Flags_t flags) {
  if (clients.size() == Client::kMax) {
    return {GASNET_ERR_RESOURCE,
            fmt::format("this process has {} clients, the most there can be", Client::kMax)};
  }
  for (const Client* other : clients) {
    if (other->name() == name)
      return {GASNET_ERR_BAD_ARG, fmt::format("this process has a client '{}' already", name)};
    if ((flags & GEX_FLAG_USES_GASNET1) && (other->flags() & GEX_FLAG_USES_GASNET1)) {
      return {
          GASNET_ERR_BAD_ARG,
          fmt::format("the client '{}' has GEX_FLAG_USES_GASNET1 already, which one client of a "
                      "process may have",
                      other->name())};
    }
  }
  return {GASNET_OK, {}};
}

// Makes the client and what belongs to it. `clients_mutex` is held.
Client* begin_client(const char* name, gex_Flags_t flags, ThreadMode mode) {
  std::vector<Client*>& clients = runtime().clients;
  if (!clients.empty()) require_client_context(kCall, thread_state());
  runtime().raise_mode(mode);
  log_debug("process: client {} starts in mode {}", name, mode_word(mode));
  auto* client = new Client(static_cast<uint16_t>(clients.size()), name, flags);
  clients.push_back(client);
  runtime().settle_failure_policy();
  if (runtime().everything()) bind_everything(*client);
  if (clients.size() == 1) {
    show_environment();
    prepare_stops();
  }
  if ((flags & GEX_FLAG_USES_GASNET1) != 0) adopt_for_gasnet1(client);
  start_progress_thread(*client);
  runtime().note_started();
  log_debug("process: client {} has started; polls visit {}", name, polled_conduits());
  return client;
}

// Ends with the client in `*client`, or with the code of a refusal.
int start_client(const char* name, gex_Flags_t flags, ThreadMode mode, Client** client) {
  start_runtime(mode);
  if (g_checks && !well_named(name)) {
    log_warn("gex_Client_Init(): clientName '{}' is taken, but does not match [A-Z][A-Z0-9_]+",
             name);
  }
  flags = flags_of_call(kCall, flags, kOwnFlags);
  // Clients start one after the other; ranks agree on their order.
  const std::lock_guard lock(runtime().clients_mutex);
  const auto [code, text] = refusal_beside(runtime().clients, name, flags);
  if (code != GASNET_OK) return refuse(kCall, code, text);
  *client = begin_client(name, flags, mode);
  return GASNET_OK;
}

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API void cwy_identity_v1(const cwy_identity* identity) {
  or_fatal(kCall, [&] { set_identity(*identity); });
}

CAUSEWAY_API void cwy_segment_everything_v1(void) {
  if (g_runtime != nullptr && !build_wishes.everything.load(std::memory_order_relaxed)) {
    fatal(kCall,
          "this client was built with GASNET_SEGMENT_EVERYTHING, the first one of this process was "
          "not; build both alike");
  }
  build_wishes.everything.store(true, std::memory_order_relaxed);
}

CAUSEWAY_API void cwy_debug_build_v1(void) {
  build_wishes.debug.store(true, std::memory_order_relaxed);
}

CAUSEWAY_API int cwy_client_init_v1(gex_Client_t* client_p, gex_EP_t* ep_p, gex_TM_t* tm_p,
                                    const char* clientName, int* argc, char*** argv,
                                    gex_Flags_t flags, int thread_mode,
                                    const uint32_t* direct_layout) {
  if (client_p == nullptr || ep_p == nullptr || tm_p == nullptr)
    return refuse(kCall, GASNET_ERR_BAD_ARG, "client_p, ep_p and tm_p must not be NULL");
  // A program that goes on after a failure hears from its next call which handle it lacks.
  *client_p = GEX_CLIENT_INVALID;
  *ep_p = GEX_EP_INVALID;
  *tm_p = GEX_TM_INVALID;
  if (clientName == nullptr || clientName[0] == '\0')
    return refuse(kCall, GASNET_ERR_BAD_ARG, "clientName must be a string that is not empty");
  if (flags & ~kFlagBits) {
    return refuse(kCall, GASNET_ERR_BAD_ARG,
                  fmt::format("unknown flags {:#x}", flags & ~kFlagBits));
  }
  if (*direct_layout != sizeof(cwy_team_head))
    return refuse(kCall, GASNET_ERR_BAD_ARG, "the program was compiled against other headers");
  try {
    offer_arguments(argc, argv);
    Client* client = nullptr;
    const int code = start_client(clientName, flags, static_cast<ThreadMode>(thread_mode), &client);
    if (code != GASNET_OK) return code;
    *client_p = as_c(client);
    *ep_p = as_c(client->endpoint());
    *tm_p = client->team()->handle();
    return GASNET_OK;
  } catch (const Error& e) {
    if (e.status() == CWY_ERR_PEER_FAILED) let_launcher_speak();
    const bool argument = e.status() == CWY_ERR_INVALID;
    return refuse(kCall, argument ? GASNET_ERR_BAD_ARG : GASNET_ERR_RESOURCE, e.text());
  } catch (const std::exception& e) {
    return refuse(kCall, GASNET_ERR_RESOURCE, e.what());
  }
}

CAUSEWAY_API gex_Flags_t gex_Client_QueryFlags(gex_Client_t client) {
  return as(valid("gex_Client_QueryFlags()", "GEX_CLIENT_INVALID", client))->flags();
}
CAUSEWAY_API const char* gex_Client_QueryName(gex_Client_t client) {
  return as(valid("gex_Client_QueryName()", "GEX_CLIENT_INVALID", client))->name().c_str();
}
CAUSEWAY_API void gex_Client_SetCData(gex_Client_t client, const void* val) {
  as(valid("gex_Client_SetCData()", "GEX_CLIENT_INVALID", client))->cdata = val;
}
CAUSEWAY_API void* gex_Client_QueryCData(gex_Client_t client) {
  return const_cast<void*>(
      as(valid("gex_Client_QueryCData()", "GEX_CLIENT_INVALID", client))->cdata);
}
