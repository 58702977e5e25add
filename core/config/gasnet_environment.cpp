#include "config/gasnet_environment.h"

#include <fmt/core.h>
#include <strings.h>
#include <unistd.h>

#include <cstdlib>

namespace causeway {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

const char* value_of(const char* name) {
  const char* text = ::secure_getenv(name);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

// The variable is set.
void add(Settings& out, const char* variable, const std::string& key, const std::string& value) {
  out.emplace_back(fmt::format("{}={}", variable, value_of(variable)), key + "=" + value);
}

// y, yes, 1, n, no, 0 in any case; -1 for anything else.
int yes_or_no(const char* text) {
  for (const char* word : {"y", "yes", "1"})
    if (::strcasecmp(text, word) == 0) return 1;
  for (const char* word : {"n", "no", "0"})
    if (::strcasecmp(text, word) == 0) return 0;
  return -1;
}

// "<number>[.<digits>][ ]<unit>" with units that are powers of 1024, as bytes; a number with a
// point and no unit is a share of the host's memory. What is none of that comes back unchanged.
std::string bytes_of(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || text[0] < '0' || text[0] > '9' || end == text.c_str()) return text;
  while (*end == ' ') ++end;
  double unit = 1;
  if (*end == '\0') {
    const bool share = text.find('.') != std::string::npos && number <= 1.0;
    if (share) {
      unit = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
             static_cast<double>(::sysconf(_SC_PAGESIZE));
    }
  } else {
    const std::string letters = "BKMGT";
    const size_t power = letters.find(static_cast<char>(*end & ~0x20));
    const bool alone = end[1] == '\0' || (power > 0 && ::strcasecmp(end + 1, "B") == 0) ||
                       (power > 0 && ::strcasecmp(end + 1, "iB") == 0);
    if (power == std::string::npos || !alone) return text;
    for (size_t i = 0; i < power; ++i) unit *= 1024;
  }
  const double bytes = number * unit;
  return bytes < 9e18 ? std::to_string(static_cast<uint64_t>(bytes)) : text;
}

// A ceiling for the segment of each process (/P, which is what no suffix means) or of all
// processes of a host together (/H). Less than a page is a page.
void add_segment(Settings& out) {
  const char* variable = "GASNET_MAX_SEGSIZE";
  if (value_of(variable) == nullptr) return;
  std::string text = value_of(variable);
  bool host = false;
  if (const size_t slash = text.find('/'); slash != std::string::npos) {
    const std::string of = text.substr(slash + 1);
    host = ::strcasecmp(of.c_str(), "H") == 0;
    if (host || ::strcasecmp(of.c_str(), "P") == 0) text.resize(slash);
  }
  add(out, variable, "segment.max", bytes_of(text));
  add(out, variable, "segment.of", host ? "host" : "rank");
}

// Only where a build relies on it; elsewhere programs poll, and a thread would cost them.
void add_receive_thread(Settings& out, const Identity* program) {
  const char* variable = "GASNET_RCV_THREAD";
  const char* value = value_of(variable);
  if (value == nullptr || program == nullptr || program->conduit != "ibv") return;
  const int wanted = yes_or_no(value);
  if (wanted == 1 && program->mode != "par")
    return;  // handlers of such a program run in its thread
  add(out, variable, "threads.progress", wanted < 0 ? value : wanted == 1 ? "thread" : "none");
}

// A positive number of seconds; -1 for anything else.
double seconds_of(const char* text) {
  if (text == nullptr || std::string(text).find_first_not_of("0123456789.") != std::string::npos)
    return -1;
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  return end != text && *end == '\0' && value > 0 ? value : -1;
}

// The number of ranks that this process is going to start, where a variable says so; otherwise 1.
double ranks_to_start() {
  for (const char* variable : {"CAUSEWAY_RANKS", "GASNET_PSHM_NODES"}) {
    const double ranks = seconds_of(value_of(variable));
    if (ranks > 0) return ranks;
  }
  return 1;
}

// GASNET_EXITTIMEOUT, or what GASNET_EXITTIMEOUT_{MIN,FACTOR,MAX} make of the number of ranks.
// Where exit() is not to be caught, nobody is missed who leaves: the others go on.
void add_exit_time(Settings& out) {
  const char* variable = "GASNET_EXITTIMEOUT";
  if (const char* caught = value_of("GASNET_CATCH_EXIT");
      caught != nullptr && yes_or_no(caught) == 0) {
    add(out, "GASNET_CATCH_EXIT", "timeouts.exit", "100000000s");
    return;
  }
  if (seconds_of(value_of(variable)) > 0) {
    add(out, variable, "timeouts.exit", std::string(value_of(variable)) + "s");
    return;
  }
  const double least = seconds_of(value_of("GASNET_EXITTIMEOUT_MIN"));
  const double each = seconds_of(value_of("GASNET_EXITTIMEOUT_FACTOR"));
  const double most = seconds_of(value_of("GASNET_EXITTIMEOUT_MAX"));
  if (least < 0 && each < 0 && most < 0) return;
  double seconds = (least > 0 ? least : 5.0) + (each > 0 ? each : 0.0) * ranks_to_start();
  if (most > 0 && seconds > most) seconds = most;
  const char* named = least > 0  ? "GASNET_EXITTIMEOUT_MIN"
                      : each > 0 ? "GASNET_EXITTIMEOUT_FACTOR"
                                 : "GASNET_EXITTIMEOUT_MAX";
  add(out, named, "timeouts.exit", fmt::format("{}ms", static_cast<uint64_t>(seconds * 1000)));
}

// Settings of a network, where the program was built for a conduit that uses it.
void add_network(Settings& out, const Identity* program) {
  if (program == nullptr || program->conduit == "smp") return;
  const auto pass_on = [&out](const char* variable, const char* key) {
    if (const char* value = value_of(variable)) add(out, variable, key, value);
  };
  pass_on("GASNET_OFI_DEVICE", "conduits.ofi.device");
  if (program->conduit == "ibv") pass_on("GASNET_IBV_PORTS", "conduits.verbs.device");
  if (program->conduit != "udp") return;
  // The address that workers offer is a local one here, which `eth` takes for a device.
  pass_on("GASNET_WORKERIP", "conduits.eth.device");
  if (const char* depth = value_of("GASNET_NETWORKDEPTH")) {
    // The configuration says what is wrong with text; a wish beyond its bounds means the bound.
    const double wish = seconds_of(depth);
    const std::string credits =
        wish > 0 ? std::to_string(wish > 4096 ? 4096 : static_cast<int>(wish)) : depth;
    for (const char* key : {"conduits.ofi.options.credits", "conduits.eth.options.credits"})
      add(out, "GASNET_NETWORKDEPTH", key, credits);
  }
  if (const char* patience = value_of("GASNET_REQUESTTIMEOUT_MAX")) {
    const bool never = std::string(patience) == "0";
    add(out, "GASNET_REQUESTTIMEOUT_MAX", "timeouts.peer",
        never                         ? "100000000s"
        : seconds_of(patience) < 1000 ? "1ms"
                                      : std::string(patience) + "us");
  }
}

}  // namespace

const std::vector<const char*>& gasnet_variables() {
  static const std::vector<const char*> all{
      "GASNET_PSHM_NODES",      "GASNET_MAX_SEGSIZE",        "GASNET_SUPERNODE_MAXSIZE",
      "GASNET_RCV_THREAD",      "GASNET_EXITTIMEOUT",        "GASNET_EXITTIMEOUT_MIN",
      "GASNET_EXITTIMEOUT_MAX", "GASNET_EXITTIMEOUT_FACTOR", "GASNET_CATCH_EXIT",
      "GASNET_TMPDIR",          "GASNET_BACKTRACE",          "GASNET_BACKTRACE_SIGNAL",
      "GASNET_FREEZE",          "GASNET_FREEZE_ON_ERROR",    "GASNET_FREEZE_SIGNAL",
      "GASNET_NO_CATCH_SIGNAL", "GASNET_HOST_DETECT",        "GASNET_COLL_SCRATCH_SIZE",
      "GASNET_OFI_DEVICE",      "GASNET_IBV_PORTS",          "GASNET_WORKERIP",
      "GASNET_NETWORKDEPTH",    "GASNET_REQUESTTIMEOUT_MAX", "GASNET_QUIET"};
  return all;
}

Settings gasnet_settings(const Identity* program) {
  Settings out;
  add_segment(out);
  if (const char* ranks = value_of("GASNET_SUPERNODE_MAXSIZE"))
    add(out, "GASNET_SUPERNODE_MAXSIZE", "neighborhood.ranks",
        std::string(ranks) == "0" ? "auto" : ranks);
  add_receive_thread(out, program);
  add_exit_time(out);
  if (const char* quiet = value_of("GASNET_QUIET"); quiet != nullptr && yes_or_no(quiet) == 1)
    add(out, "GASNET_QUIET", "log.level", "error");
  add_network(out, program);
  return out;
}

}  // namespace causeway
