// To be preloaded: what a rank does at its end meets events of other ranks' ends. A handler of
// events takes its time, and so does whoever takes handlers away or ends the library, before it
// does.
#include <dlfcn.h>
#include <pmix.h>
#include <unistd.h>

#include <atomic>

namespace {

// The others leave some 200 ms after who has ended the job.
constexpr useconds_t kBefore = 600000, kHandling = 900000;

pmix_notification_fn_t handler_;
std::atomic<bool> ending{false};

void late(size_t id, pmix_status_t status, const pmix_proc_t* source, pmix_info_t info[],
          size_t ninfo, pmix_info_t* results, size_t nresults,
          pmix_event_notification_cbfunc_fn_t done, void* context) {
  if (ending.load(std::memory_order_acquire)) ::usleep(kHandling);
  handler_(id, status, source, info, ninfo, results, nresults, done, context);
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

void wait_for_events() {
  if (!ending.exchange(true, std::memory_order_acq_rel)) ::usleep(kBefore);
}

}  // namespace

extern "C" pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t ncodes,
                                                     pmix_info_t info[], size_t ninfo,
                                                     pmix_notification_fn_t handler,
                                                     pmix_hdlr_reg_cbfunc_t done, void* context) {
  handler_ = handler;
  return next<decltype(&PMIx_Register_event_handler)>("PMIx_Register_event_handler")(
      codes, ncodes, info, ninfo, &late, done, context);
}

extern "C" pmix_status_t PMIx_Deregister_event_handler(size_t id, pmix_op_cbfunc_t done,
                                                       void* context) {
  wait_for_events();
  return next<decltype(&PMIx_Deregister_event_handler)>("PMIx_Deregister_event_handler")(id, done,
                                                                                         context);
}

extern "C" pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t ninfo) {
  wait_for_events();
  return next<decltype(&PMIx_Finalize)>("PMIx_Finalize")(info, ninfo);
}
