// The process that becomes a launcher, before it forks: its standard descriptors, its directory,
// its buffers, and how it says a line.
#pragma once

#include <string>

namespace causeway {

// "causeway WHO: LINE" on stderr.
void say_as(const char* who, const std::string& line);

// No file gets the number of a closed standard descriptor. Output is lost there, or refused.
void open_standard_descriptors(bool takes_output = true);

// What every process that starts ranks of its own does first. What is buffered would be written by
// every forked process again, and is written now. A current directory that was removed is said.
void prepare_to_fork();

}  // namespace causeway
