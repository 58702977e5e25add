// Identity: as which conduit the program was built, told by the record that its build linked in
// (causeway/identity.h). A program without one runs as it did before there were identities.
#pragma once

#include <atomic>
#include <string>

struct cwy_identity;

namespace causeway {

// How the names of origins begin whose text an identity brings along.
inline constexpr const char* kIdentitySource = "identity ";

struct Identity {
  std::string conduit, mode;   // "smp", "seq"
  std::string config;          // YAML, a source of the configuration
  std::string preferred;       // the conduit whose absence a line reports, "" for none
  bool shared_memory = false;  // all ranks can map each other's memory, or the job does not start

  std::string label() const { return kIdentitySource + conduit + "-" + mode; }
};

// The first record holds for the process. One of another conduit leads to
// Error(CWY_ERR_INVALID), as does a record that is no record. Any thread.
void set_identity(const cwy_identity& record);

// nullptr: none. Constant once it is not.
const Identity* identity();

// The wishes of a build beside its conduit, known before the configuration is read, for the whole
// process. Relaxed: set before gex_Client_Init, which orders them.
struct BuildWishes {
  std::atomic<bool> everything{false};  // GASNET_SEGMENT_EVERYTHING
  std::atomic<bool> debug{false};  // GASNET_DEBUG: `checks: full`, unless a file says otherwise
};
extern BuildWishes build_wishes;

}  // namespace causeway
