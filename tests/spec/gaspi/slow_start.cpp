// To be preloaded: rank 1 dies at a moment of its start, and the others are late there.
// SLOW_START: "connected", before anybody listens for deaths; "listening", before ranks exchange
// their cards; "started", when rank 1 has told the launcher that it has started; "all-started",
// when all have, and rank 2 is late.
#include <dlfcn.h>
#include <pmix.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace {

// Longer than the launcher takes to notice a death.
constexpr useconds_t kLate = 1000000;
constexpr useconds_t kUntilDeath = 300000;

bool is_at(const char* moment) {
  const char* const wanted = std::getenv("SLOW_START");
  return wanted != nullptr && std::string(wanted) == moment;
}

int process() {
  const char* const rank = std::getenv("PMIX_RANK");
  return rank == nullptr ? -1 : std::atoi(rank);
}

void die_or_be_late(int first_late) {
  if (process() == 1) {
    ::usleep(kUntilDeath);
    ::raise(SIGKILL);
  }
  if (process() >= first_late && process() < 3) ::usleep(kLate);  // not a spare
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t ncodes,
                                                     pmix_info_t info[], size_t ninfo,
                                                     pmix_notification_fn_t handler,
                                                     pmix_hdlr_reg_cbfunc_t done, void* context) {
  if (is_at("connected")) die_or_be_late(0);
  const pmix_status_t status = next<decltype(&PMIx_Register_event_handler)>(
      "PMIx_Register_event_handler")(codes, ncodes, info, ninfo, handler, done, context);
  if (is_at("listening")) die_or_be_late(0);
  return status;
}

extern "C" pmix_status_t PMIx_Notify_event(pmix_status_t code, const pmix_proc_t* source,
                                           pmix_data_range_t range, const pmix_info_t info[],
                                           size_t ninfo, pmix_op_cbfunc_t done, void* context) {
  if (is_at("started") && process() != 1) ::usleep(kLate);
  const pmix_status_t status = next<decltype(&PMIx_Notify_event)>("PMIx_Notify_event")(
      code, source, range, info, ninfo, done, context);
  if (is_at("started") && process() == 1) ::raise(SIGKILL);
  if (is_at("all-started")) die_or_be_late(2);
  return status;
}
