#include "process/report.h"

#include <causeway/report.h>

#include <functional>
#include <string>

#include "base/fatal.h"
#include "base/log.h"
#include "collective/engine.h"
#include "object/client.h"
#include "process/footprint.h"
#include "process/runtime.h"

namespace causeway {
namespace {

void append_counter(void* arg, const char* name, uint64_t value) {
  if (value == 0) return;
  auto& text = *static_cast<std::string*>(arg);
  text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
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
  line("memory: " + footprint_text());
  report_collectives(line);
  const Team* team = runtime().clients.front()->team();
  if (team->has_window()) {
    line(
        "direct: puts and gets to mapped memory are the program's own stores and loads, uncounted");
  }
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
