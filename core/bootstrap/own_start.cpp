#include "bootstrap/own_start.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/own_path.h"
#include "config/identity.h"
#include "loader/loader.h"
#include "spawn/job_words.h"

namespace causeway {
namespace {

// Set by amudprun where a command of the user's starts the ranks: one that has no PMIx starts each
// of them alone, and none may take its first argument for a number of ranks again.
constexpr const char* kStarted = "CAUSEWAY_STARTED_RANK";

struct Arguments {
  int* argc = nullptr;
  char*** argv = nullptr;
};
Arguments g_arguments;  // written by the one thread that starts the runtime

bool set(const char* variable) {
  const char* value = ::secure_getenv(variable);
  return value != nullptr && *value != '\0';
}

bool hosts_are_named() {
  return set("GASNET_SSH_NODEFILE") || set("GASNET_SSH_SERVERS") || set("AMUDP_SSH_SERVERS") ||
         set("SSH_SERVERS") || set("GASNET_NODEFILE");
}

const char* first_argument() {
  if (g_arguments.argc == nullptr || g_arguments.argv == nullptr) return nullptr;
  return *g_arguments.argc > 1 ? (*g_arguments.argv)[1] : nullptr;
}

}  // namespace

void offer_arguments(int* argc, char*** argv) {
  g_arguments = {argc, argv};
}

std::optional<uint32_t> ranks_of_arguments() {
  if (identity() == nullptr || identity()->conduit != "udp") return std::nullopt;
  const char* text = first_argument();
  if (text == nullptr || *text == '\0' || text[std::strspn(text, "0123456789")] != '\0')
    return std::nullopt;
  if (set(kStarted)) {
    throw Error(CWY_ERR_UNREACHABLE,
                "GASNET_CSPAWN_CMD started this rank without a PMIx server: use a command with "
                "PMIx, such as `causeway run -n %N -- %C`");
  }
  const long value = std::strlen(text) > 6 ? 0 : std::strtol(text, nullptr, 10);
  if (value < 1 || value > static_cast<long>(kMostProcesses)) {
    throw Error(CWY_ERR_INVALID,
                "the first argument is '{}', and in a program built for udp that is the number of "
                "ranks: expected 1 to {}; or start it with amudprun or `causeway run`",
                text, kMostProcesses);
  }
  return static_cast<uint32_t>(value);
}

bool own_start_is_elsewhere() {
  const char* spawner = ::secure_getenv("GASNET_SPAWNFN");
  const std::string name = spawner == nullptr ? "" : spawner;
  if (name == "L" || name == "l" || name == "fork") return false;
  const bool ssh = name.empty() || name == "S" || name == "s" || name == "ssh";
  return !ssh || hosts_are_named();
}

void become_launcher(uint32_t ranks) {
  std::error_code failed;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  const std::string launcher = own_command("amudprun");
  const std::string number = std::to_string(ranks);
  std::vector<const char*> words{launcher.c_str(), "-np", number.c_str(), "--", program.c_str()};
  for (int i = 2; i < *g_arguments.argc; ++i) words.push_back((*g_arguments.argv)[i]);
  words.push_back(nullptr);
  ::execv(launcher.c_str(), const_cast<char* const*>(words.data()));
  throw Error(
      CWY_ERR_UNREACHABLE,
      "cannot start '{}', which GASNET_SPAWNFN or a list of hosts asks for: {}; install it, "
      "set GASNET_SPAWNFN=L for ranks on this host, or use `causeway run`",
      launcher, std::strerror(errno));
}

// The client's own array stays as it is: it need not be one that may be written.
void drop_number_of_ranks() {
  static std::vector<char*> rest;
  const int count = *g_arguments.argc;
  char** all = *g_arguments.argv;
  rest.assign(all, all + count);
  rest.erase(rest.begin() + 1);
  rest.push_back(nullptr);
  *g_arguments.argc = count - 1;
  *g_arguments.argv = rest.data();
}

}  // namespace causeway
