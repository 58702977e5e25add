#include "report.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "clock.h"

namespace causeway::conformance {
namespace {

std::string g_skip;  // set by the running case
char g_case[256] = "start-up";

std::string indent(const std::string& text) {
  std::string out = "    ";
  for (const char c : text) {
    out += c;
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
  say(g_case);
  say(number == SIGALRM ? "  a call into the plugin did not return\n" : "  by signal ");
  if (number != SIGALRM) {
    say(sigabbrev_np(number) != nullptr ? sigabbrev_np(number) : "?");
    say("\n");
  }
  _exit(number == SIGALRM ? 124 : 128 + number);
}

}  // namespace

void note_skip(const std::string& capability) {
  g_skip = capability;
}

void Report::OnTestStart(const testing::TestInfo& info) {
  failures_.clear();
  g_skip.clear();
  started_ = now_ns();
  std::snprintf(g_case, sizeof g_case, "%s.%s", info.test_suite_name(), info.name());
}

void Report::OnTestPartResult(const testing::TestPartResult& result) {
  if (!result.failed()) return;
  std::string where;
  if (result.file_name() != nullptr) {
    const char* slash = std::strrchr(result.file_name(), '/');
    where = fmt::format("{}:{}: ", slash != nullptr ? slash + 1 : result.file_name(),
                        result.line_number());
  }
  failures_ += (failures_.empty() ? "" : "\n") + where + result.message();
}

void Report::OnTestEnd(const testing::TestInfo& info) {
  Outcome outcome;
  outcome.name = fmt::format("{}.{}", info.test_suite_name(), info.name());
  outcome.seconds = static_cast<double>(now_ns() - started_) / 1e9;
  if (info.result()->Failed()) {
    outcome.kind = Outcome::Kind::failed;
    outcome.text = failures_;
    if (!quiet_) fmt::print("FAILED  {}\n{}\n", outcome.name, indent(failures_));
  } else if (!g_skip.empty()) {
    outcome.kind = Outcome::Kind::skipped;
    outcome.text = g_skip;
    if (verbose_ && !quiet_) fmt::print("skipped {}  needs {}\n", outcome.name, g_skip);
  } else {
    outcome.kind = Outcome::Kind::passed;
    if (verbose_ && !quiet_) fmt::print("passed  {}  {:.2f} s\n", outcome.name, outcome.seconds);
  }
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
  std::snprintf(g_case, sizeof g_case, "%s", name.c_str());
  alarm(seconds);
}

}  // namespace causeway::conformance
