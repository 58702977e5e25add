// Identity: as which conduit the program was built, told by the record that its build linked in
// (causeway/identity.h). A program without one runs as it did before there were identities.
#pragma once

#include <string>

struct cwy_identity;

namespace causeway {

struct Identity {
  std::string conduit, mode;   // "smp", "seq"
  std::string config;          // YAML, a source of the configuration
  std::string preferred;       // conduit whose absence is told, "" for none
  bool shared_memory = false;  // all ranks can map each other's memory, or the job does not start

  std::string label() const { return "identity " + conduit + "-" + mode; }
};

// The first record holds for the process. One of another conduit leads to
// Error(CWY_ERR_INVALID), as does a record that is no record. Any thread.
void set_identity(const cwy_identity& record);

// nullptr: none. Constant once it is not.
const Identity* identity();

}  // namespace causeway
