// The launcher's own PMIx events and the names of what it carries: between launch/ and bootstrap/.
#pragma once

#include <pmix_common.h>

namespace causeway::launch {

// A spare has taken the place of a failed rank. The affected process is the spare; the rank and its
// new epoch are uint32. The code lies in the range that PMIx leaves to others.
inline constexpr pmix_status_t kReplacedEvent = PMIX_EXTERNAL_ERR_BASE - 167;
// The affected process has left with gasnet_exit(0) a while ago, and others are still here.
inline constexpr pmix_status_t kLeftEvent = PMIX_EXTERNAL_ERR_BASE - 168;
inline constexpr const char* kRankKey = "causeway.rank";
inline constexpr const char* kEpochKey = "causeway.epoch";

// What a rank tells the launcher of a job that outlives failures when its start is complete.
inline constexpr pmix_status_t kStartedEvent = PMIX_EXTERNAL_ERR_BASE - 169;

// Set for every process: "ranks=4,spares=1,on_failure=continue,hosts=2".
inline constexpr const char* kJobVariable = "CAUSEWAY_JOB";

}  // namespace causeway::launch
