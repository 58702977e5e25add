// Words that the launcher and the ranks agree on: how many processes a job may have, the launcher's
// own PMIx events, and the names of what these carry.
#pragma once

#include <pmix_common.h>

#include <cstdint>
#include <optional>
#include <string>

namespace causeway {

// Ranks, and spares beside them, of one job.
inline constexpr uint32_t kMostProcesses = 4096;

// A spare has taken the place of a failed rank. The affected process is the spare; the rank and its
// new epoch are uint32. The code lies in the range that PMIx leaves to others.
inline constexpr pmix_status_t kReplacedEvent = PMIX_EXTERNAL_ERR_BASE - 167;
// Every rank of the job has come to its end: who waits for the others before it goes may go.
inline constexpr pmix_status_t kAllLeaveEvent = PMIX_EXTERNAL_ERR_BASE - 168;
// Ranks have left alone, a moment ago, while others stay: "1,3,4" is the event's text.
inline constexpr pmix_status_t kDepartedEvent = PMIX_EXTERNAL_ERR_BASE - 171;
inline constexpr const char* kRankKey = "causeway.rank";
inline constexpr const char* kEpochKey = "causeway.epoch";

// A rank of a job that outlives failures tells the launcher that its start is complete.
inline constexpr pmix_status_t kStartedEvent = PMIX_EXTERNAL_ERR_BASE - 169;

// A rank tells the launcher that it has come to its end. With a code, a uint32, it is gasnet_exit;
// without a code the rank ends alone, and asks nobody to follow.
inline constexpr pmix_status_t kLeavingEvent = PMIX_EXTERNAL_ERR_BASE - 170;
inline constexpr const char* kCodeKey = "causeway.code";

// A rank asks that another one, stopped by a signal (SIGSTOP), goes on. kRankKey names that.
inline constexpr pmix_status_t kLetGoOnEvent = PMIX_EXTERNAL_ERR_BASE - 172;

// "ranks=4,spares=1,on_failure=continue,hosts=2". Our launcher's server says it, and a rank knows
// its launcher by it. The variable is for readers that have not joined the job.
inline constexpr const char* kLayoutKey = "causeway.layout";
inline constexpr const char* kJobVariable = "CAUSEWAY_JOB";
std::optional<uint32_t> number_of_job(const std::string& job, const std::string& name);

// Whether this process says a text that ranks of its host may have alike: of our launcher's jobs
// the first with that text, which leaves a mark in the session; of other launchers' everybody.
bool speaks_for_host(const std::string& text);

// "gdb": backtraces of all threads before a signal ends the process.
inline constexpr const char* kDeathVariable = "CAUSEWAY_ON_DEATH";

// The job's key, of the whole job where our launcher gives it, else of rank 0.
inline constexpr const char* kJobKey = "causeway.key";
// This process's host, its number from 0 and its name: texts of the job, from our launcher.
inline constexpr const char* kHostKey = "causeway.host";
inline constexpr const char* kHostNameKey = "causeway.host_name";

}  // namespace causeway
