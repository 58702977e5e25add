// Report: what a run says: one line per failed case (every case with -v), a summary with the
// reasons of skips grouped, and the same as JSON.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace causeway::conformance {

struct Outcome {
  std::string name;  // Group.case
  enum class Kind { passed, failed, skipped } kind;
  std::string text;  // failure messages, or the missing capability
  double seconds;
};

// Says that the running case is skipped because `capability` is missing.
void note_skip(const std::string& capability);

class Report : public testing::EmptyTestEventListener {
 public:
  // `quiet`: nothing is printed, for JSON on standard output.
  Report(std::string subject, bool verbose, bool quiet)
      : subject_(std::move(subject)), verbose_(verbose), quiet_(quiet) {}

  void OnTestStart(const testing::TestInfo& info) override;
  void OnTestPartResult(const testing::TestPartResult& result) override;
  void OnTestEnd(const testing::TestInfo& info) override;

  void print_summary(const std::string& how) const;
  // Returns false when the file cannot be written. "-" is standard output.
  bool write_json(const std::string& path, const std::string& how, uint64_t seed) const;
  size_t count(Outcome::Kind kind) const;
  bool empty() const { return outcomes_.empty(); }

 private:
  std::string subject_;
  bool verbose_, quiet_;
  std::string failures_;
  uint64_t started_ = 0;
  std::vector<Outcome> outcomes_;
};

// Ends the process with a line naming the case when a case crashes or hangs inside the plugin,
// where no deadline of the suite is looked at.
void install_crash_reports();
void watch_case(const std::string& name, unsigned seconds);

}  // namespace causeway::conformance
