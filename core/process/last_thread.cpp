#include "process/last_thread.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/context.h"
#include "base/quiet_thread.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

// The signals that a thread blocks, as the kernel writes them. Nothing: it has ended.
std::optional<std::string> blocked_by(const std::filesystem::path& thread) {
  std::ifstream in(thread / "status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("State:\tZ")) break;
    if (line.starts_with("SigBlk:")) return line;
  }
  return std::nullopt;
}

// Quiet threads, and those that libraries start in them, block all but faults, as no program does.
bool only_quiet_threads() try {
  const std::optional<std::string> own = blocked_by("/proc/thread-self");
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::optional<std::string> blocked = blocked_by(thread.path());
    if (blocked && blocked != own) return false;
  }
  return own.has_value();
} catch (const std::exception&) {
  return false;  // nobody knows; looked at again
}

constexpr std::chrono::milliseconds kBetweenLooks(20);

class LastThread : public ThreadPart {
 public:
  void leave() override {
    quiet_thread_beside("nobody looks for the end of the last thread", [] {
      while (!exiting() && !only_quiet_threads()) std::this_thread::sleep_for(kBetweenLooks);
      if (!exiting()) std::exit(0);
    });
  }
};

}  // namespace

void end_with_last_thread() {
  if (::gettid() != ::getpid()) return;
  thread_state().parts[static_cast<size_t>(ThreadSlot::process)] = std::make_unique<LastThread>();
}

}  // namespace causeway
