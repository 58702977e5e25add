#include "process/report.h"

#include <causeway/report.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <functional>
#include <mutex>

#include "base/clock.h"
#include "base/fatal.h"
#include "base/log.h"
#include "collective/engine.h"
#include "loader/one_line.h"
#include "object/client.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "process/runtime.h"

namespace causeway {
namespace {

struct Phase {
  const char* name = nullptr;
  uint64_t wall_ns = 0, processor_ns = 0;  // taken; of the running one, when it began
};
std::mutex g_phases_mutex;  // several threads may attach segments
std::array<Phase, 8> g_phases;
Phase g_running_phase;

std::string start_text() {
  const std::lock_guard lock(g_phases_mutex);
  std::string out;
  for (const Phase& p : g_phases)
    if (p.name != nullptr)
      out += fmt::format("{}{} {} us ({} us of processor)", out.empty() ? "" : ", ", p.name,
                         p.wall_ns / 1000, p.processor_ns / 1000);
  return out;
}

}  // namespace

void start_phase(const char* name) {
  const std::lock_guard lock(g_phases_mutex);
  // CLOCKS_PER_SEC is a million (POSIX).
  const Phase now{name, now_ns(), static_cast<uint64_t>(std::clock()) * 1000};
  for (Phase& p : g_phases) {
    if (g_running_phase.name == nullptr) break;
    if (p.name != nullptr && p.name != g_running_phase.name) continue;
    p = {g_running_phase.name, p.wall_ns + now.wall_ns - g_running_phase.wall_ns,
         p.processor_ns + now.processor_ns - g_running_phase.processor_ns};
    break;
  }
  g_running_phase = now;
}

uint64_t bytes_of_uncontacted_peer() {
  const uint32_t ranks = runtime().size();
  if (ranks < 2) return 0;
  // In the table of peers, and in a team with its distance.
  const uint64_t places = sizeof(Peer*) + sizeof(TeamMember) + sizeof(intptr_t);
  const uint64_t known = runtime().clients.front()->publications().bytes_of_unmet() / ranks;
  return runtime().job().bytes() / ranks + places + known;
}

std::vector<ConnectionCost> connection_costs() {
  std::vector<ConnectionCost> out;
  Endpoint& ep = *runtime().clients.front()->endpoint();
  const std::lock_guard lock(ep.connect_mutex());
  note_growth(nullptr);  // goes on at the next look
  for (const auto& cep : ep.conduit_eps()) {
    const uint64_t made = cep->connections.load(std::memory_order_relaxed);
    if (made == 0) continue;
    const int64_t most = std::max<int64_t>(cep->counted, 1);
    out.push_back({cep->conduit->name(), made, cep->counted, cep->own_bytes / most,
                   cep->shared_bytes / most});
  }
  return out;
}

std::string footprint_text() {
  count_connections();
  std::string connections;
  for (const ConnectionCost& c : connection_costs()) {
    connections += fmt::format("{}{} {}", connections.empty() ? "" : ", ", c.conduit, c.count);
    connections += c.counted == 0 ? " (uncounted)"
                                  : fmt::format(" of {} bytes and {} shared", c.bytes, c.shared);
  }
  return fmt::format("{} bytes of each rank never contacted; connections: {}",
                     bytes_of_uncontacted_peer(), connections.empty() ? "none" : connections);
}

namespace {

void append_counter(void* arg, const char* name, uint64_t value) {
  if (value == 0) return;
  auto& text = *static_cast<std::string*>(arg);
  text += fmt::format("{}{} {}", text.empty() ? "" : ", ", given(name, "(no name)"), value);
}

// Prints a line per conduit of the primordial endpoint.
void report_transports(const std::function<void(const std::string&)>& line) {
  if (runtime().clients.empty()) return;
  Endpoint& ep = *runtime().clients.front()->endpoint();
  for (const auto& cep : ep.conduit_eps()) {
    std::string counters;
    cep->conduit->module().ep_stats(cep->ep, append_counter, &counters);
    line(fmt::format("{}: {}", cep->conduit->name(), counters.empty() ? "nothing" : counters));
  }
  line("start: " + start_text());
  line("memory: " + footprint_text());
  report_collectives(line);
  const Team* team = runtime().clients.front()->team();
  if (team->has_window())
    line(
        "direct: puts and gets to mapped memory are the program's own stores and loads, uncounted");
}

}  // namespace

void print_report_at_exit() {
  if (!runtime().config().report || runtime().rank() != 0) return;
  report_transports([](const std::string& text) { write_log_line(LogLevel::info, text); });
}

}  // namespace causeway

extern "C" __attribute__((visibility("default"))) void cwy_report_v1(void (*fn)(void*, const char*),
                                                                     void* arg) {
  causeway::or_fatal("cwy_report_v1()", [&] {
    causeway::report_transports([&](const std::string& text) { fn(arg, text.c_str()); });
  });
}
