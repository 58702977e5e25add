#include "launch/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

#include "base/unique_fd.h"
#include "launch/clock.h"

namespace causeway::launch {
namespace {

// Fields 3 and 4 of /proc/<pid>/stat: state and parent. The command name before them may hold
// anything, so parsing starts behind its last parenthesis.
bool read_stat(pid_t pid, char& state, pid_t& parent) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  if (!fd) return false;
  char text[512];
  const ssize_t n = ::read(fd.get(), text, sizeof text - 1);
  if (n <= 0) return false;
  text[n] = '\0';
  const char* behind_name = std::strrchr(text, ')');
  int parent_value = 0;
  if (behind_name == nullptr || std::sscanf(behind_name + 1, " %c %d", &state, &parent_value) != 2)
    return false;
  parent = parent_value;
  return true;
}

struct Process {
  pid_t parent;
  bool zombie;
};

// All of /proc, because /proc/<pid>/task/<tid>/children exists only on kernels built with
// CONFIG_PROC_CHILDREN.
std::map<pid_t, Process> snapshot() {
  std::map<pid_t, Process> all;
  std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc) return all;
  while (const dirent* entry = ::readdir(proc.get())) {
    const pid_t pid = static_cast<pid_t>(std::atoi(entry->d_name));
    char state = 0;
    pid_t parent = 0;
    if (pid > 0 && read_stat(pid, state, parent)) all[pid] = {parent, state == 'Z'};
  }
  return all;
}

bool descends(pid_t pid, pid_t root, const std::map<pid_t, Process>& all,
              const std::set<pid_t>& spared) {
  for (int depth = 0; depth < 4096; ++depth) {
    if (spared.count(pid) != 0) return false;
    const auto it = all.find(pid);
    if (it == all.end()) return false;
    if (it->second.parent == root) return true;
    pid = it->second.parent;
  }
  return false;
}

// Reaps every dead child that is not spared; true while unspared children remain.
bool reap(const std::set<pid_t>& spared) {
  if (spared.empty()) {
    pid_t pid;
    while ((pid = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    return pid == 0;
  }
  bool left = false;
  for (const pid_t pid : children_of(::getpid()))
    if (spared.count(pid) == 0 && ::waitpid(pid, nullptr, WNOHANG) == 0) left = true;
  return left;
}

}  // namespace

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  for (const auto& [child, process] : snapshot())
    if (process.parent == pid) children.push_back(child);
  return children;
}

bool kill_descendants(const std::set<pid_t>& spared, double limit_s) {
  const double limit = now_s() + limit_s;
  while (reap(spared)) {
    const std::map<pid_t, Process> all = snapshot();
    for (const auto& [pid, process] : all)
      if (!process.zombie && descends(pid, ::getpid(), all, spared)) ::kill(pid, SIGKILL);
    if (now_s() > limit) return false;
    // Death takes the kernel a moment; looking again at once would only burn the core it needs.
    ::usleep(500);
  }
  return true;
}

void kill_marked(const std::string& entry) {
  for (const auto& [pid, process] : snapshot()) {
    if (process.zombie || pid == ::getpid()) continue;
    std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
    for (std::string text; std::getline(file, text, '\0');)
      if (text == entry) ::kill(pid, SIGKILL);
  }
}

}  // namespace causeway::launch
