// gex_System_*, errors, polling, waiting, locks, exit, barrier.
#include <gasnetex.h>
#include <pthread.h>

#include <cstdio>
#include <string>

#include "am/send.h"
#include "api/export.h"
#include "api/refuse.h"
#include "base/fatal.h"
#include "base/flags.h"
#include "base/handles.h"
#include "base/waits.h"
#include "object/client.h"
#include "object/team.h"
#include "process/exit.h"
#include "process/progress_thread.h"
#include "process/runtime.h"
#include "progress/poll.h"
#include "progress/waiter.h"
#include "thread/event_checks.h"
#include "thread/lock_checks.h"
#include "thread/thread_state.h"

using namespace causeway;

namespace {

struct ErrorWords {
  int code;
  const char *name, *description;
};
constexpr ErrorWords kErrors[] = {
    {GASNET_OK, "GASNET_OK", "no error"},
    {GASNET_ERR_NOT_INIT, "GASNET_ERR_NOT_INIT", "the library has not been initialised"},
    {GASNET_ERR_RESOURCE, "GASNET_ERR_RESOURCE", "a system resource is exhausted or failed"},
    {GASNET_ERR_BAD_ARG, "GASNET_ERR_BAD_ARG", "an argument is not valid"},
    {GASNET_ERR_NOT_READY, "GASNET_ERR_NOT_READY", "not complete yet"},
    {GASNET_ERR_BARRIER_MISMATCH, "GASNET_ERR_BARRIER_MISMATCH",
     "barrier identifiers of the members do not match"},
};

ErrorWords words_of(int code) {
  for (const ErrorWords& words : kErrors)
    if (words.code == code) return words;
  return {code, "unknown error", "no description available"};
}

}  // namespace

CAUSEWAY_API const char* gasnet_ErrorName(int errval) {
  return words_of(errval).name;
}
CAUSEWAY_API const char* gasnet_ErrorDesc(int errval) {
  return words_of(errval).description;
}

CAUSEWAY_API void gasnet_exit(int exitcode) {
  if (exitcode == 0 && g_runtime != nullptr && runtime().checks()) report_leaks();
  exit_job(exitcode);
}

CAUSEWAY_API gex_Rank_t gex_System_QueryJobRank(void) {
  require_started("gex_System_QueryJobRank()");
  return runtime().rank();
}
CAUSEWAY_API gex_Rank_t gex_System_QueryJobSize(void) {
  require_started("gex_System_QueryJobSize()");
  return runtime().size();
}

CAUSEWAY_API int gex_System_GetVerboseErrors(void) {
  return verbose_errors.load(std::memory_order_relaxed);
}
CAUSEWAY_API void gex_System_SetVerboseErrors(int enable) {
  verbose_errors.store(enable, std::memory_order_relaxed);
}

CAUSEWAY_API uint64_t cwy_max_threads_v1(int thread_mode) {
  return thread_mode == 0 ? 1 : thread_limit();
}
CAUSEWAY_API int gex_System_QueryHiddenAMConcurrencyLevel(void) {
  return progress_thread_configured() ? 1 : 0;
}

CAUSEWAY_API int gex_System_QueryProgressThreads(gex_Client_t client, unsigned int* count_p,
                                                 const gex_ProgressThreadInfo_t** info_p,
                                                 gex_Flags_t flags) {
  constexpr const char* kCall = "gex_System_QueryProgressThreads()";
  flags = flags_of_call(kCall, flags, 0);
  if (client == GEX_CLIENT_INVALID || count_p == nullptr || info_p == nullptr || flags != 0) {
    return refuse(kCall, GASNET_ERR_BAD_ARG,
                  "client, count_p and info_p must be given, and flags must be 0");
  }
  const DeferredThreads deferred = deferred_progress_threads(*as(client));
  if (deferred.refusal != nullptr) return refuse(kCall, GASNET_ERR_RESOURCE, deferred.refusal);
  *count_p = deferred.count;
  *info_p = deferred.info;
  return GASNET_OK;
}

namespace {
void write_ranks(const std::vector<RankInfo>& ranks, uint32_t index, gex_RankInfo_t** info_p,
                 gex_Rank_t* count_p, gex_Rank_t* index_p) {
  if (info_p != nullptr) *info_p = ranks.data();
  if (count_p != nullptr) *count_p = static_cast<gex_Rank_t>(ranks.size());
  if (index_p != nullptr) *index_p = index;
}
}  // namespace

CAUSEWAY_API void gex_System_QueryNbrhdInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                                            gex_Rank_t* my_info_index_p) {
  require_started("gex_System_QueryNbrhdInfo()");
  const JobFacts& job = runtime().job();
  write_ranks(job.nbrhd(), job.nbrhd_index(), info_p, info_count_p, my_info_index_p);
}
CAUSEWAY_API void gex_System_QueryHostInfo(gex_RankInfo_t** info_p, gex_Rank_t* info_count_p,
                                           gex_Rank_t* my_info_index_p) {
  require_started("gex_System_QueryHostInfo()");
  const JobFacts& job = runtime().job();
  write_ranks(job.host(), job.host_index(), info_p, info_count_p, my_info_index_p);
}
CAUSEWAY_API void gex_System_QueryMyPosition(gex_Rank_t* nbrhd_set_size_p,
                                             gex_Rank_t* nbrhd_set_rank_p,
                                             gex_Rank_t* host_set_size_p,
                                             gex_Rank_t* host_set_rank_p) {
  require_started("gex_System_QueryMyPosition()");
  const JobFacts& job = runtime().job();
  if (nbrhd_set_size_p != nullptr) *nbrhd_set_size_p = job.nbrhd_set_size();
  if (nbrhd_set_rank_p != nullptr) *nbrhd_set_rank_p = job.nbrhd_set_rank();
  if (host_set_size_p != nullptr) *host_set_size_p = job.host_set_size();
  if (host_set_rank_p != nullptr) *host_set_rank_p = job.host_set_rank();
}

CAUSEWAY_API int gasnet_AMPoll(void) {
  require_client_context("gasnet_AMPoll()");
  poll_for_client();
  return GASNET_OK;
}

CAUSEWAY_API void cwy_wait_begin_v1(cwy_waiter_t* waiter) {
  static_assert(sizeof(Waiter) <= sizeof(cwy_waiter_t));
  require_client_context("GASNET_BLOCKUNTIL()");
  new (waiter) Waiter;
}
CAUSEWAY_API void cwy_wait_step_v1(cwy_waiter_t* waiter) {
  reinterpret_cast<Waiter*>(waiter)->step();
}

// A full barrier of the compiler's own: the thread sanitizer refuses the library's fence, and what
// it checks here is ordered by the conduits' and the client's own synchronisation.
CAUSEWAY_API void cwy_wait_end_v1(void) {
  leave_wait(block_until_subject);
  __sync_synchronize();
}

// HSLs are real locks in every mode: handlers may come to run on another thread than the
// client's (a progress thread, a second interface). They may be used before gex_Client_Init.
namespace {
void require_lock(const char* call, int error) {
  if (error != 0) fatal(call, "{}", strerror(error));
}
bool locks_checked() {
  return __builtin_expect(g_runtime != nullptr && runtime().checks(), 0);
}
}  // namespace
CAUSEWAY_API void gex_HSL_Init(gex_HSL_t* hsl) {
  if (locks_checked()) check_idle("gex_HSL_Init()", hsl);
  require_lock("gex_HSL_Init()", ::pthread_mutex_init(&hsl->cwy_mutex, nullptr));
}
CAUSEWAY_API void gex_HSL_Destroy(gex_HSL_t* hsl) {
  if (locks_checked()) check_idle("gex_HSL_Destroy()", hsl);
  require_lock("gex_HSL_Destroy()", ::pthread_mutex_destroy(&hsl->cwy_mutex));
}
namespace {
// Somebody else holds the lock. A wait that lasts is entered, so that the rank can be asked.
int lock_in_turn(gex_HSL_t* hsl) {
  const auto what = [](const void* lock) {
    char text[40];
    std::snprintf(text, sizeof text, "the lock at %p", lock);
    return std::string(text);
  };
  LastingWait wait({"gex_HSL_Lock()", what, hsl});
  timespec until{};
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += kLastingNs;
  if (until.tv_nsec >= 1'000'000'000) ++until.tv_sec, until.tv_nsec -= 1'000'000'000;
  const int error = ::pthread_mutex_timedlock(&hsl->cwy_mutex, &until);
  if (error != ETIMEDOUT) return error;
  wait.look();
  return ::pthread_mutex_lock(&hsl->cwy_mutex);
}
}  // namespace
CAUSEWAY_API void gex_HSL_Lock(gex_HSL_t* hsl) {
  if (locks_checked()) check_lock(hsl);
  int error = ::pthread_mutex_trylock(&hsl->cwy_mutex);
  if (__builtin_expect(error == EBUSY, 0)) error = lock_in_turn(hsl);
  require_lock("gex_HSL_Lock()", error);
  if (locks_checked()) check_taken(hsl);
}
CAUSEWAY_API void gex_HSL_Unlock(gex_HSL_t* hsl) {
  if (locks_checked()) check_unlock(hsl);
  require_lock("gex_HSL_Unlock()", ::pthread_mutex_unlock(&hsl->cwy_mutex));
}
CAUSEWAY_API int gex_HSL_Trylock(gex_HSL_t* hsl) {
  if (locks_checked()) check_trylock(hsl);
  const int error = ::pthread_mutex_trylock(&hsl->cwy_mutex);
  if (error == EBUSY) return GASNET_ERR_NOT_READY;
  require_lock("gex_HSL_Trylock()", error);
  if (locks_checked()) check_taken(hsl);
  return GASNET_OK;
}
