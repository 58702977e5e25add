// Runs a command as a user would, and looks at what it leaves behind.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "../slowdown.h"

namespace launch_test {

inline constexpr double kEndsPromptly =
    2.0 * kSlowdown;  // what the launcher promises after a death

struct Result {
  int status = -1;  // as a shell shows it
  double seconds = 0.0;
  std::string out, err;
};

std::string run_command();   // path of `causeway`
std::string rank_program();  // path of launch_rank

// One command with a directory of its own as TMPDIR and a mark in the environment of all its
// processes. The destructor ends whatever is left.
class Command {
 public:
  explicit Command(std::vector<std::string> words,
                   std::vector<std::pair<std::string, std::string>> environment = {});
  ~Command();
  Command(const Command&) = delete;

  Command& stdin_text(const std::string& text);
  Command& stdout_to(const std::string& path);  // instead of capturing; "-" closes it

  void start();
  pid_t pid() const { return pid_; }
  pid_t keeper() const;  // 0 when there is none
  // Those that live now, with their names.
  std::vector<std::pair<pid_t, std::string>> processes() const;
  // Limits are those of an ordinary build.
  // Until the captured stdout contains `text` `times` times. False after `limit_s`.
  bool wait_for_output(const std::string& text, size_t times, double limit_s = 15.0);
  Result wait(double limit_s = 30.0);
  Result run(double limit_s = 30.0) {
    start();
    return wait(limit_s);
  }

  // Processes of this command that still live, as "pid comm". Waits for so long for the last to go.
  std::vector<std::string> left_processes(double patience_s = kEndsPromptly) const;
  // Files below its TMPDIR, and shared-memory objects of its job.
  std::vector<std::string> left_files() const;
  std::string directory() const { return directory_; }

 private:
  [[noreturn]] void become_command();
  std::vector<pid_t> marked() const;

  std::vector<std::string> words_;
  std::vector<std::pair<std::string, std::string>> environment_;
  std::string directory_, mark_, out_path_, stdin_path_;
  bool close_out_ = false, captures_out_ = true;
  pid_t pid_ = -1;
  double started_ = 0.0;
};

// `causeway run -n N <flags> -- launch_rank <words>`.
std::vector<std::string> job(int ranks, std::vector<std::string> words,
                             std::vector<std::string> flags = {});

size_t count(const std::string& text, const std::string& what);

// A keeper whose front was killed waits for its relays, which may be in their start, for some
// seconds (core/launch/fleet.cpp, dismiss); four were seen on a crowded machine.
inline constexpr double kRelaysGo = 10.0 * kSlowdown;

// Nothing may be left of `command`: to be called when it has ended.
void expect_clean(const Command& command, double patience_s = kEndsPromptly);

}  // namespace launch_test
