// The part of the library that the task runtime uses, found by name after the program's start.
#pragma once

#include <causeway/bindings.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

class Library {
 public:
  explicit Library(const char* path) : handle_(::dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) give_up(::dlerror());
  }

  // The types are those of causeway/bindings.h; the symbols come from the library.
  template <typename Function>
  Function* find(Function*, const char* name) const {
    void* const symbol = ::dlsym(handle_, name);
    if (symbol == nullptr) give_up(::dlerror());
    return reinterpret_cast<Function*>(symbol);
  }

 private:
  [[noreturn]] static void give_up(const char* why) {
    std::fprintf(stderr, "task_runtime: %s\n", why);
    std::exit(3);
  }
  void* handle_;
};

struct Gex {
  explicit Gex(const Library& from);

  decltype(&gex_AM_LUBRequestMedium) least_medium;
  decltype(&gex_Client_Init) client_init;
  decltype(&gex_EP_RegisterHandlers) register_handlers;
  decltype(&gex_Segment_Attach) segment_attach;
  decltype(&gex_Segment_QueryAddr) segment_addr;
  decltype(&gex_EP_QueryBoundSegmentNB) query_segment;
  decltype(&gex_TM_QueryRank) rank;
  decltype(&gex_TM_QuerySize) size;
  decltype(&gex_AM_RequestShort0) request_short0;
  decltype(&gex_AM_RequestMedium1) request_medium1;
  decltype(&gex_AM_ReplyShort1) reply_short1;
  decltype(&gex_AD_Create) ad_create;
  decltype(&gex_AD_Destroy) ad_destroy;
  decltype(&gex_AD_OpNB_U64) atomic_u64;
  decltype(&gex_RMA_GetBlocking) get;
  decltype(&gex_RMA_PutNBI) put_nbi;
  decltype(&gex_NBI_Wait) nbi_wait;
  decltype(&gex_Coll_BarrierNB) barrier;
  decltype(&gex_Event_Wait) event_wait;
  decltype(&gasnet_AMPoll) poll;
  decltype(&gasnet_exit) exit;
};
