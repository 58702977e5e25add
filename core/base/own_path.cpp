// Where this copy of the core lies: found from a symbol of its own, so that a tree may be moved,
// and the same in the library, in the tool and in a unit test that carries the core's objects.
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include <cinttypes>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/own_path.h"

namespace causeway {
namespace {

namespace fs = std::filesystem;

// File of which the system has mapped what lies at `address`; empty when it does not tell.
std::string mapped_file(const void* address) {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &begin, &end);
    const size_t path = line.find('/');
    if (wanted >= begin && wanted < end && path != std::string::npos) return line.substr(path);
  }
  return {};
}

// A relative name, as LD_LIBRARY_PATH may make one, counts from where the program was when it was
// loaded, which it may have left since.
std::string name_of(const link_map& map, const void* symbol) {
  if (map.l_name[0] == '/') return map.l_name;
  const std::string mapped = mapped_file(symbol);
  return mapped.empty() ? map.l_name : mapped;
}

// File of the object that holds this function; empty when the system does not tell.
std::string own_object() {
  Dl_info info{};
  link_map* map = nullptr;
  const auto* symbol = reinterpret_cast<const void*>(&own_prefix);
  if (dladdr1(symbol, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return {};
  // The main program has an empty name in the link map, and dli_fname is only its argv[0].
  const bool is_program = map == nullptr || map->l_name == nullptr || map->l_name[0] == '\0';
  char resolved[PATH_MAX];
  const std::string name = is_program ? "/proc/self/exe" : name_of(*map, symbol);
  if (realpath(name.c_str(), resolved) != nullptr) return resolved;
  // Without /proc, as the system was asked to execute the program.
  const auto* executed = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (!is_program || executed == nullptr || realpath(executed, resolved) == nullptr) return {};
  return resolved;
}

fs::path own_directory() {
  std::error_code ignored;
  const fs::path object = own_object();
  return object.empty() ? fs::current_path(ignored) : object.parent_path();
}

bool is_library_directory(const fs::path& name) {
  return name == "lib" || name == "lib64" || name == "lib32";
}

// "x86_64-linux-gnu" below lib: the multiarch layout.
bool is_multiarch(const fs::path& directory) {
  return directory.filename().string().find("-linux-") != std::string::npos &&
         is_library_directory(directory.parent_path().filename());
}

fs::path prefix_of(const fs::path& directory) {
  const fs::path above = directory.parent_path();
  const bool is_tool = directory.filename() == "causeway" && above.filename() == "libexec";
  // Otherwise bin, lib, lib64, libexec, and whatever a build puts beside its lib directory.
  return is_multiarch(directory) || is_tool ? above.parent_path() : above;
}

std::vector<fs::path> plugin_directory_candidates(const fs::path& directory) {
  const fs::path prefix = prefix_of(directory);
  std::vector<fs::path> candidates;
  if (is_library_directory(directory.filename()) || is_multiarch(directory))
    candidates.push_back(directory);  // a library's plugins lie below its own directory
  candidates.push_back(prefix / CAUSEWAY_LIBDIR);
  for (const char* libdir : {"lib", "lib64"}) candidates.push_back(prefix / libdir);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(prefix / "lib", ignored))
    if (is_multiarch(entry.path())) candidates.push_back(entry.path());
  return candidates;
}

}  // namespace

std::string own_prefix() {
  return prefix_of(own_directory()).string();
}

// A build tree has its commands in bin, whatever the installed one will call it.
std::string own_command(const std::string& name) {
  if (own_object().empty()) return {};
  const fs::path prefix = own_prefix(), expected = prefix / CAUSEWAY_BINDIR / name;
  const fs::path built = prefix / "bin" / name;
  std::error_code ignored;
  return fs::exists(expected, ignored) || !fs::exists(built, ignored) ? expected : built;
}

std::string own_plugin_directory() {
  const std::vector<fs::path> candidates = plugin_directory_candidates(own_directory());
  std::error_code ignored;
  for (const fs::path& candidate : candidates) {
    const fs::path directory = candidate / "causeway" / "2";
    if (fs::is_directory(directory, ignored)) return directory.string();
  }
  return (candidates.front() / "causeway" / "2").string();
}

}  // namespace causeway
