#include "report.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

#include "base/shown_text.h"
#include "clock.h"
#include "expect.h"
#include "guide.h"
#include "plugin_host.h"
#include "supervise.h"

namespace causeway::conformance {
namespace {

// Of the running case, which may have threads.
std::mutex g_lock;
std::string g_skip, g_failures;
bool g_running = false;
// What a crash says, prepared.
char g_guide[600];

std::string indent(const std::string& text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c != '\n' && is_control(c) ? '?' : c;
    if (c == '\n') out += "    ";
  }
  return out;
}

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20) {
      out += fmt::format("\\u{:04x}", u);
    } else {
      out += c;
    }
  }
  return out + '"';
}

const char* kind_text(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::passed:
      return "passed";
    case Outcome::Kind::failed:
      return "failed";
    case Outcome::Kind::skipped:
      return "skipped";
  }
  return "";
}

// Async-signal-safe: the process is about to end.
void say(const char* text) {
  [[maybe_unused]] const ssize_t written = write(STDOUT_FILENO, text, std::strlen(text));
}

void on_crash(int number) {
  say(number == SIGALRM ? "HUNG    " : "CRASHED ");
  say(running_case());
  say(number == SIGALRM ? "  a call into the plugin did not return\n" : "  by signal ");
  if (number != SIGALRM) {
    say(sigabbrev_np(number) != nullptr ? sigabbrev_np(number) : "?");
    say("\n");
  }
  say(g_guide);
  end_here(number == SIGALRM ? 124 : 128 + number);
}

}  // namespace

std::string one_printable_line(std::string text) {
  std::ranges::replace_if(text, is_control, '?');
  return text;
}

void note_skip(const std::string& capability) {
  g_skip = one_printable_line(capability);
}

bool has_failure() {
  const std::lock_guard guard(g_lock);
  return !g_failures.empty();
}

void Failure::operator=(const Words& more) const {
  const char* slash = std::strrchr(file, '/');
  const std::string said = more.text();
  const std::string text = fmt::format("{}:{}: {}{}{}", slash != nullptr ? slash + 1 : file, line,
                                       what, what.empty() || said.empty() ? "" : "\n", said);
  const std::lock_guard guard(g_lock);
  if (!g_running)
    return PluginHost::violation(text);  // in the partner, whose harness asks for them
  g_failures += (g_failures.empty() ? "" : "\n") + text;
}

Report::Report(std::string subject, std::string file, bool verbose, bool quiet)
    : subject_(std::move(subject)),
      file_(std::move(file)),
      verbose_(verbose),
      quiet_(quiet),
      terminal_(isatty(STDOUT_FILENO) != 0) {}

void Report::begin(const std::string& name, size_t index, size_t all) {
  name_ = name;
  {
    const std::lock_guard guard(g_lock);
    g_failures.clear();
    g_skip.clear();
    g_running = true;
  }
  if (terminal_ && !quiet_) fmt::print("\r\033[K[{}/{}] {} ", index, all, name);
  std::fflush(stdout);
  started_ = now_ns();
}

void Report::end() {
  Outcome outcome{name_, Outcome::Kind::passed, "", static_cast<double>(now_ns() - started_) / 1e9};
  {
    const std::lock_guard guard(g_lock);
    g_running = false;
    if (!g_failures.empty())
      outcome.kind = Outcome::Kind::failed, outcome.text = g_failures;
    else if (!g_skip.empty())
      outcome.kind = Outcome::Kind::skipped, outcome.text = g_skip;
  }
  std::string line;
  if (outcome.kind == Outcome::Kind::failed) {
    line = fmt::format("FAILED  {}\n{}\n{}    again:   causeway check-plugin {} --filter {} -v\n",
                       outcome.name, indent(outcome.text), guide(name_), file_, name_);
  } else if (verbose_ && outcome.kind == Outcome::Kind::skipped) {
    line = fmt::format("skipped {}  needs {}\n", outcome.name, outcome.text);
  } else if (verbose_) {
    line = fmt::format("passed  {}  {:.2f} s\n", outcome.name, outcome.seconds);
  }
  if (!quiet_) fmt::print("{}{}", terminal_ ? "\r\033[K" : "", line);
  std::fflush(stdout);
  outcomes_.push_back(std::move(outcome));
}

size_t Report::count(Outcome::Kind kind) const {
  size_t n = 0;
  for (const Outcome& outcome : outcomes_) n += outcome.kind == kind ? 1 : 0;
  return n;
}

void Report::print_summary(const std::string& how) const {
  if (quiet_) return;
  std::map<std::string, size_t> reasons;
  for (const Outcome& outcome : outcomes_) {
    if (outcome.kind == Outcome::Kind::skipped) ++reasons[outcome.text];
  }
  std::string skipped = fmt::format("{} skipped", count(Outcome::Kind::skipped));
  const char* separator = ": ";
  for (const auto& [reason, n] : reasons) {
    skipped += fmt::format("{}needs {} ({})", separator, reason, n);
    separator = ", ";
  }
  fmt::print("{} ({}): {} passed, {} failed, {}\n", subject_, how, count(Outcome::Kind::passed),
             count(Outcome::Kind::failed), skipped);
  std::fflush(stdout);
}

bool Report::write_json(const std::string& path, const std::string& how, uint64_t seed) const {
  std::string out = fmt::format(
      "{{\"subject\": {}, \"mode\": {}, \"seed\": {},\n \"passed\": {}, "
      "\"failed\": {}, \"skipped\": {},\n \"cases\": [",
      json_string(subject_), json_string(how), seed, count(Outcome::Kind::passed),
      count(Outcome::Kind::failed), count(Outcome::Kind::skipped));
  const char* separator = "\n";
  for (const Outcome& o : outcomes_) {
    out += fmt::format("{}  {{\"name\": {}, \"result\": \"{}\", \"seconds\": {:.3f}", separator,
                       json_string(o.name), kind_text(o.kind), o.seconds);
    if (o.kind == Outcome::Kind::failed) out += ", \"message\": " + json_string(o.text);
    if (o.kind == Outcome::Kind::skipped) out += ", \"needs\": " + json_string(o.text);
    out += "}";
    separator = ",\n";
  }
  out += "\n ]}\n";
  if (path == "-") return std::fwrite(out.data(), 1, out.size(), stdout) == out.size();
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const bool ok = std::fwrite(out.data(), 1, out.size(), file) == out.size();
  return std::fclose(file) == 0 && ok;
}

void install_crash_reports() {
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}) {
    struct sigaction action {};
    action.sa_handler = on_crash;
    sigaction(number, &action, nullptr);
  }
}

void watch_case(const std::string& name, unsigned seconds) {
  std::snprintf(running_case(), kCaseRoom, "%s", name.c_str());
  std::snprintf(g_guide, sizeof g_guide, "%s", guide(name).c_str());
  alarm(seconds);
}

}  // namespace causeway::conformance
