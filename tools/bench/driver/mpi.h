// The MPI and OpenSHMEM libraries that we are measured beside: those whose compiler and launcher
// are installed. Each gets a program of mpi/, compiled into a directory that goes with this object.
#pragma once

#include <sys/types.h>
#include <map>

#include <optional>
#include <string>
#include <vector>

#include "../figures.h"

namespace causeway::bench {

// The measurements of one side, round by round.
class Rounds {
 public:
  void add(const std::vector<Measured>& rows);
  std::optional<double> median_of(const std::string& row) const;
  const std::map<std::string, std::vector<double>>& rows() const { return rows_; }

 private:
  std::map<std::string, std::vector<double>> rows_;
};

struct MpiSide {
  static constexpr int kTimeLimit = 124;  // status of a launch that did not end by itself
  std::string name;                       // openmpi, mpich, oshmem
  std::vector<std::string> command;
  Rounds rounds;
  bool silent = false;  // from a round on in which it measured nothing or hung
};

class MpiSides {
 public:
  struct Job {
    unsigned ranks;
    bool quick;
    bool tcp;                       // over TCP, by those libraries that are told how
    bool one_sided;                 // mpi/one_sided.c; else mpi/mpi_collectives.c
    std::vector<std::string> rows;  // words behind those that all programs take; empty: all rows
    bool sweep = false;             // mpi/sweep.c, of one-sided operations among others
  };
  // `tool` is the causeway command, beside which the program's source lies. What is left out, and
  // why, is added to `notes`.
  MpiSides(const Job& job, const std::string& tool, std::vector<std::string>& notes);
  ~MpiSides();
  MpiSides(const MpiSides&) = delete;
  MpiSides& operator=(const MpiSides&) = delete;

  std::vector<MpiSide>& sides() { return sides_; }
  bool one_sided() const { return one_sided_; }

 private:
  void keep_directory();

  std::string directory_;
  int kept_ = -1;  // while it is open `cleaner_` leaves the directory there
  pid_t cleaner_ = -1;
  std::vector<MpiSide> sides_;
  bool one_sided_;
};

}  // namespace causeway::bench
