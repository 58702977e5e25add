// Shared-memory objects that carry the job's name and outlive whoever made them. A conduit removes
// its own; what a killed process leaves is the launcher's to sweep, as the suite does here.
#pragma once

#include <string>

namespace causeway::conformance {

// The name of one, or "".
std::string left_in_shm(const std::string& job_id);
void sweep_shm(const std::string& job_id);

}  // namespace causeway::conformance
