// Runs a program and reads what it prints.
#pragma once

#include <string>
#include <vector>

namespace causeway::bench {

struct Captured {
  int status = 0;                  // as a shell tells it: 128 + signal after a signal
  std::vector<std::string> lines;  // of its standard output
};

// Standard error passes through. The program gets SIGTERM when this process dies. Throws
// std::runtime_error when it cannot be started.
Captured run_captured(const std::vector<std::string>& command);

// Directory of the running executable; throws std::runtime_error.
std::string executable_path();
// The measuring program lies in the same tree as that, installed or built; throws as well.
std::string measuring_program(const std::string& tool);

}  // namespace causeway::bench
