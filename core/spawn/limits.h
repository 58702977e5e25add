// Limits: what this process may have of the machine, and which limit it met.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace causeway {

// The limit on open files, to the most that this process may have.
void raise_descriptor_limit();

// Throws Error when the limit does not admit `processes` of a job beside `others`. A process has
// four: its output, its errors, its start, and its connection to the PMIx server; or, where it is
// on another host, both ends of two pipes.
void demand_descriptors(size_t processes, size_t others);

// Whether a file of this process, or memory that is one to the kernel, may have so many bytes.
// Beyond that it ends by SIGXFSZ.
bool file_may_have(size_t bytes);

// Whether the kernel says where this process may run. Where it does not, hwloc asks for ever.
bool affinity_is_known();
// Throws Error where it is not: PMIx starts with hwloc.
void demand_affinity();

// "Too many open files; the limit on open files (ulimit -n) is 1024", for an errno: of a limit, or
// of a call that is refused.
std::string shortage(int failure);
// Throws Error that names the call, for errno, where it does not work.
void demand_call(bool works, const char* call);

// Low descriptors that are kept free for the PMIx server library: its listening thread waits with
// select(), which ends the process for a descriptor of FD_SETSIZE or more. To be held while the
// ranks get theirs, and let go before the library starts.
class LowDescriptors {
 public:
  // `more` of them for what the process itself opens meanwhile.
  void reserve(size_t more = 0);
  void release() { held_.clear(); }

 private:
  std::vector<UniqueFd> held_;
};

}  // namespace causeway
