// Tuning: what `causeway tune` has measured so far, kept in a file while it goes on, and the table
// it makes of that.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>

namespace causeway::bench {

// An algorithm for one collective at one size.
struct Timing {
  std::string operation;
  uint64_t bytes = 0;
  std::string asked;      // the algorithm this launch was to use; "default": none
  std::string algorithm;  // the one that ran
  double ns = 0;
  double slowest_ns = 0;  // where there were several launches; else as `ns`
};

class Tuning {
 public:
  // `shape` says for what it is; measurements of another shape in `file` are not taken up.
  Tuning(std::string file, std::string shape);

  // Did an earlier run, which was interrupted, measure that?
  bool has(const std::string& operation, uint64_t bytes, const std::string& asked) const;
  bool resumed() const { return resumed_; }
  // Adds, and writes it to the file at once.
  void add(const Timing& timing);
  void set_locality(const std::string& word);
  // The interrupted state is not needed any more.
  void forget();

  // The YAML of the rules, each behind its measurements. A rule stands only where another algorithm
  // was faster than the default by more than `noise` (0.1: by a tenth), and faster in each launch.
  // The default's time is that of its algorithm, also where that was asked for by name.
  std::string table(uint32_t ranks, const std::string& about, double noise) const;

 private:
  [[noreturn]] void refuse(int error) const;  // the file cannot be written
  struct Winner {
    std::string algorithm;  // empty: the default
    std::string comment;
  };
  using Row = std::map<std::string, Timing>;  // by algorithm asked for
  Winner winner_of(const std::string& operation, uint64_t bytes, const Row& row,
                   double noise) const;
  void take(const Timing& timing);

  std::string file_, shape_, locality_ = "any";
  bool resumed_ = false;
  std::ofstream log_;
  std::map<std::string, std::map<uint64_t, Row>> rows_;  // by operation, then bytes
};

}  // namespace causeway::bench
