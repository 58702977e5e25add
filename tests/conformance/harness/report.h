// Report: what a run says: each failed case with what to read and to look at (every case with -v),
// a summary with the reasons of skips grouped, and the same as JSON. On a terminal the running case
// too.
#pragma once

#include <string>
#include <vector>

namespace causeway::conformance {

struct Outcome {
  std::string name;  // Group.case
  enum class Kind { passed, failed, skipped } kind;
  std::string text;  // failure messages, or the missing capability
  double seconds;
};

// Texts of plugins may hold anything: a terminal obeys nothing of what is printed.
std::string one_printable_line(std::string text);

// Says that the running case is skipped because `capability` is missing.
void note_skip(const std::string& capability);

class Report {
 public:
  // `file`: the plugin as the user named it. `quiet`: nothing is printed, for JSON on standard
  // output.
  Report(std::string subject, std::string file, bool verbose, bool quiet);

  // Around each case, which is number `index` of `all`.
  void begin(const std::string& name, size_t index, size_t all);
  void end();

  void print_summary(const std::string& how) const;
  // Returns false when the file cannot be written. "-" is standard output.
  bool write_json(const std::string& path, const std::string& how, uint64_t seed) const;
  size_t count(Outcome::Kind kind) const;

 private:
  std::string subject_, file_;
  bool verbose_, quiet_, terminal_;
  std::string name_;  // of the running case
  uint64_t started_ = 0;
  std::vector<Outcome> outcomes_;
};

// Ends the process with a line naming the case when a case crashes or hangs inside the plugin,
// where no deadline of the suite is looked at.
void install_crash_reports();
void watch_case(const std::string& name, unsigned seconds);

}  // namespace causeway::conformance
