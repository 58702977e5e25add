#include "connection/device_state.h"

#include <causeway/conduit.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/context.h"
#include "base/log.h"
#include "connection/conduit_set.h"
#include "connection/job.h"
#include "loader/one_line.h"

namespace causeway {
namespace {

struct Down {
  std::string conduit;  // as configured: its lanes have one device
  std::string device, why;
  uint64_t since;
  uint32_t lanes;  // those that said so, a bit each
};
// Reports are rare, and both come and are asked for off the paths of operations.
std::mutex g_device_state_mutex;
std::vector<Down> g_down;

void tell(const std::string& text) {
  if (context().job().host_index() == 0)
    log_warn("{}", text);
  else
    log_info("{}", text);
}

double seconds_since(uint64_t since) {
  return static_cast<double>(now_ns() - since) * 1e-9;
}

}  // namespace

void note_device_state(const Conduit& conduit, const char* device, uint32_t state,
                       const char* why) {
  const std::string name = given(device, "(no name)");
  const ConduitSpec& spec = conduit.spec();
  const uint32_t lane = 1u << spec.lane;
  const std::lock_guard lock(g_device_state_mutex);
  const auto at = std::ranges::find_if(
      g_down, [&](const Down& d) { return d.conduit == spec.name && d.device == name; });
  if (state == CWYC_DEVICE_DOWN && at == g_down.end()) {
    g_down.push_back({spec.name, name, given(why, "no reason given"), now_ns(), lane});
    tell(fmt::format("conduit {}: device {} is down: {}", spec.name, name, g_down.back().why));
  } else if (state == CWYC_DEVICE_DOWN) {
    at->lanes |= lane;
  } else if (state == CWYC_DEVICE_UP && at != g_down.end() && (at->lanes &= ~lane) == 0) {
    tell(fmt::format("conduit {}: device {} is up again after {:.1f} s", spec.name, name,
                     seconds_since(at->since)));
    g_down.erase(at);
  }
}

std::string device_trouble(const Conduit& conduit) {
  const std::lock_guard lock(g_device_state_mutex);
  const auto at = std::ranges::find(g_down, conduit.spec().name, &Down::conduit);
  if (at == g_down.end()) return {};
  return fmt::format(" (its device {} has been down for {:.1f} s: {})", at->device,
                     seconds_since(at->since), at->why);
}

}  // namespace causeway
