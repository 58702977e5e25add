#include "launch/panes.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/error.h"
#include "launch/clock.h"
#include "spawn/pipes.h"

namespace causeway::launch {
namespace {

constexpr double kAttachPatience = 60.0;

// `answer` is the first line that tmux says to a command. False where it refuses.
bool ask_tmux(const std::string& command, std::string& answer) {
  answer.clear();
  FILE* out = ::popen(("tmux " + command + " 2>&1").c_str(), "re");
  if (out == nullptr) return false;
  for (int c; (c = std::fgetc(out)) != EOF && c != '\n';) answer += static_cast<char>(c);
  return ::pclose(out) == 0;
}

bool is_traced(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);)
    if (line.rfind("TracerPid:", 0) == 0) return line.find_first_of("123456789") != line.npos;
  return false;
}

}  // namespace

void Panes::close() {
  std::string answer;
  for (const std::string& id : std::exchange(ids_, {})) ask_tmux("kill-pane -t " + id, answer);
}

void Panes::open(const std::vector<RankProcess>& processes) {
  for (const RankProcess& process : processes) {
    const std::string gdb = fmt::format(
        "exec gdb -q -iex 'set pagination off' -iex 'set print symbol-loading off' -ex 'set prompt "
        "(rank {}) ' -p {} -ex 'tcatch exec' -ex continue -ex 'set pagination on'",
        process.process, process.pid);
    std::string answer;
    if (!ask_tmux("split-window -d -P -F '#{pane_id}' \"" + gdb + '"', answer))
      throw Error(CWY_ERR_UNSUPPORTED, "--debug=tmux: tmux opens no pane for rank {}: {}",
                  process.process, answer);
    ids_.push_back(answer);
    ask_tmux("select-layout tiled", answer);
  }
  const double until = now_s() + kAttachPatience;
  for (const RankProcess& process : processes) {
    while (!is_traced(process.pid)) {
      if (now_s() > until)
        throw Error(CWY_ERR_UNSUPPORTED,
                    "--debug=tmux: gdb has not attached to rank {} within {:g} s; may processes "
                    "be traced here (kernel.yama.ptrace_scope)?",
                    process.process, kAttachPatience);
      ::usleep(10000);
    }
  }
}

void enter_tmux() {
  if (std::getenv("TMUX") != nullptr) return;
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0)
    throw Error(CWY_ERR_INVALID, "--debug=tmux needs a terminal, or to be started within tmux");
  // A server of its own has this environment; an older one would have its own. The server leaves
  // its socket.
  const std::string shell =
      "trap 'rm -f \"${TMUX%%,*}\"' EXIT; trap exit HUP TERM; trap : INT; "
      "\"$@\"; echo \"status $?; Enter closes this\"; read -r _";
  const std::string server = fmt::format("causeway-{}", ::getpid());
  std::vector<std::string> words{"tmux", "-L", server, "new-session", "sh", "-c", shell, "sh"};
  std::ifstream own("/proc/self/cmdline");
  for (std::string word; std::getline(own, word, '\0');) {
    if (word.ends_with(';')) word.insert(word.size() - 1, 1, '\\');  // one ends tmux's command
    words.push_back(word);
  }
  // With the terminal, or this process, the job goes.
  for (const char* word : {";", "set-option", "destroy-unattached", "on"}) words.push_back(word);
  const std::vector<char*> argv = pointers_to(words);
  ::execvp(argv[0], argv.data());
  throw Error(CWY_ERR_UNSUPPORTED, "--debug=tmux: cannot execute tmux: {}", std::strerror(errno));
}

}  // namespace causeway::launch
