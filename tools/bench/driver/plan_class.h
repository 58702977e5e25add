// The plan at work: one function for each kind of launch. The sides that others' libraries measure
// are in plan_sides.cpp, sweeps in sweep.cpp, the rest in plan.cpp.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../client/measure.h"
#include "capture.h"
#include "launches.h"
#include "mpi.h"
#include "plan.h"

namespace causeway::bench {

class Plan {
 public:
  Plan(const Request& request, std::string tool, std::string program)
      : request_(request), tool_(std::move(tool)), program_(std::move(program)) {}

  Outcome carry_out() {
    if (!request_.sweep.empty()) {
      sweep();
      return std::move(outcome_);
    }
    if (wants(Launch::pair)) pair();
    if (wants(Launch::modes)) modes();
    if (wants(Launch::threads)) threads();
    if (wants(Launch::gaspi)) gaspi();
    if (wants(Launch::startup)) startup();
    if (wants(Launch::memory)) memory();
    if (wants(Launch::instructions)) instructions();
    if (wants(Launch::network)) network();
    if (wants(Launch::collectives)) collectives();
    memkinds();
    if (wants(Launch::one_sided)) one_sided();
    name_missing();
    return std::move(outcome_);
  }

 private:
  bool wants(const Figure& figure) const {
    if (!request_.only.empty())
      return std::ranges::find(request_.only, figure.name) != request_.only.end();
    const bool device = figure.launch == Launch::memkinds || figure.launch == Launch::staged;
    if (!request_.memkind.empty()) return device;
    if (device) return false;
    if (!request_.network.empty()) return figure.launch == Launch::network;
    if (!request_.collectives.empty()) return figure.launch == Launch::collectives;
    if (!request_.one_sided.empty()) return figure.launch == Launch::one_sided;
    if (figure.launch == Launch::one_sided) return false;
    if (figure.launch == Launch::network || figure.launch == Launch::collectives) return false;
    return figure.launch != Launch::instructions || request_.instructions;
  }
  bool wants_any(std::string_view prefix) const {
    const auto figures = catalogue();
    return std::ranges::any_of(figures, [&](const Figure& figure) {
      return std::string_view(figure.name).starts_with(prefix) && wants(figure);
    });
  }
  bool wants(Launch launch) const {
    const auto figures = catalogue();
    return std::ranges::any_of(
        figures, [&](const Figure& figure) { return figure.launch == launch && wants(figure); });
  }

  Captured launch(unsigned ranks, const std::vector<std::string>& command,
                  const std::vector<std::string>& sets = {});
  void take_records(const Captured& captured, std::vector<Measured>& into);
  void add_selection(std::vector<std::string>& command, const std::vector<std::string>& rows) const;
  void pair();
  void modes();
  void threads();
  void gaspi();
  std::map<std::string, double> mode_figures(const std::string& mode, unsigned ranks,
                                             const std::string& what);
  void startup();
  void memory();
  void instructions();
  void network();
  void senders(const NetworkName& name, std::vector<std::string> sets, unsigned launches,
               std::vector<Measured>& rows);
  void sweep();
  static std::vector<std::string> network_words(const NetworkName& name,
                                                std::vector<std::string>& sets);
  void collectives();
  std::vector<std::string> collective_rows() const;
  void share_cores(const std::vector<std::string>& command, unsigned ranks,
                   const std::vector<std::string>& sets, const Rounds& free_cores);
  void copy_twice(std::vector<std::string> sets, unsigned ranks, const Rounds& once);
  void measure_again(const std::string& figures, const std::string& what,
                     const std::vector<std::string>& command, unsigned ranks,
                     const std::vector<std::string>& sets, const Rounds& first);
  void memkinds();
  void one_sided();
  void take_turns(MpiSides& sides, const std::vector<std::string>& command, unsigned ranks,
                  const std::vector<std::string>& sets, Rounds& ours);
  void combine(const std::string& side, const Rounds& ours, const Rounds& raw);
  std::optional<double> count(const std::string& what, std::string& path);
  void name_missing();

  const Request& request_;
  std::string tool_, program_;
  bool no_device_ = false;
  Outcome outcome_;
};

// Do kernel sockets carry it, so that bare ones can be measured beside it?
bool is_over_tcp(const NetworkName& name);

// Prints what one side measured in one round: at once, since the table comes minutes later.
void say_rows(const std::string& side, unsigned round, unsigned rounds,
              const std::vector<Measured>& rows);

}  // namespace causeway::bench
