#include "launch/agent.h"

#include <fmt/core.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/error.h"
#include "spawn/limits.h"
#include "spawn/pipes.h"

namespace causeway::launch {
namespace {

bool is_this_host(const std::string& host) {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  const std::string own = name;
  return host == "localhost" || host == "127.0.0.1" || host == "::1" || host == own ||
         host == own.substr(0, own.find('.'));
}

// For the shell at the other end of ssh.
std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// True when the host was named in it.
bool substitute(std::string& word, const std::string& host) {
  bool named = false;
  std::string out;
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '%' && i + 1 < word.size() && (word[i + 1] == 'h' || word[i + 1] == '%')) {
      named = named || word[i + 1] == 'h';
      out += word[i + 1] == 'h' ? host : "%";
      ++i;
    } else {
      out += word[i];
    }
  }
  word = out;
  return named;
}

[[noreturn]] void become_agent(const std::vector<std::string>& words, Pipe& in, Pipe& out,
                               Pipe& err, pid_t launcher, const sigset_t& mask) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(1);
  ::setpgid(0, 0);
  ::dup2(in.read_end.get(), STDIN_FILENO);
  ::dup2(out.write_end.get(), STDOUT_FILENO);
  ::dup2(err.write_end.get(), STDERR_FILENO);
  for (const int signal : {SIGINT, SIGQUIT}) ::signal(signal, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  const std::vector<char*> argv = pointers_to(words);
  ::execvp(argv[0], argv.data());
  const std::string line =
      fmt::format("cannot execute the agent '{}': {}\n", words[0], std::strerror(errno));
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, line.data(), line.size());
  ::_exit(127);
}

}  // namespace

std::vector<std::string> agent_words(const std::string& agent, const std::string& host,
                                     const std::vector<std::string>& relay) {
  std::vector<std::string> words;
  if (agent.empty()) {
    if (is_this_host(host)) return relay;
    words = {"ssh", "-x", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "--", host};
    std::string command = "exec";
    for (const std::string& word : relay) command += " " + quoted(word);
    words.push_back(command);
    return words;
  }
  bool named = false;
  std::istringstream in(agent);
  for (std::string word; in >> word;) {
    named = substitute(word, host) || named;
    words.push_back(word);
  }
  if (words.empty()) throw Error(CWY_ERR_INVALID, "the agent is an empty command");
  if (!named) words.push_back(host);
  words.insert(words.end(), relay.begin(), relay.end());
  return words;
}

AgentProcess spawn_agent(const std::vector<std::string>& words, const sigset_t& signal_mask) {
  Pipe in = make_pipe(), out = make_pipe(), err = make_pipe();
  const pid_t launcher = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw Error(CWY_ERR_NOMEM, "cannot start an agent: {}", shortage(errno));
  if (pid == 0) become_agent(words, in, out, err, launcher, signal_mask);
  ::setpgid(pid, pid);  // as in the child: whoever comes first
  return {pid, std::move(in.write_end), std::move(out.read_end), std::move(err.read_end)};
}

}  // namespace causeway::launch
