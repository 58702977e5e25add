// The part of the tools' inline locks that is left to the library.
#include <gasnet_tools.h>
#include <pthread.h>

#include <cstring>

#include "api/export.h"

// NOLINTNEXTLINE(misc-redundant-expression): equal on this machine only.
static_assert(sizeof(pthread_rwlock_t) <= sizeof(gasnett_rwlock_t) &&
              alignof(pthread_rwlock_t) <= alignof(gasnett_rwlock_t));

namespace {

pthread_rwlock_t* system_lock(gasnett_rwlock_t* l) {
  return reinterpret_cast<pthread_rwlock_t*>(l);
}

void require(const char* call, int error) {
  if (error != 0) cwy_tools_lock_failed_v1(call, error);
}

// The system limits how many may read at once; a reader too many waits for one to leave.
int read_lock(pthread_rwlock_t* l) {
  int error;
  while ((error = ::pthread_rwlock_rdlock(l)) == EAGAIN) gasnett_sched_yield();
  return error;
}

}  // namespace

CAUSEWAY_API void cwy_tools_lock_failed_v1(const char* call, int error) {
  if (error == 0) {
    gasnett_fatalerror_nopos("%s: called where only one thread can exist: nobody would wake it",
                             call);
  }
  gasnett_fatalerror_nopos("%s: %s", call, std::strerror(error));
}

CAUSEWAY_API void cwy_tools_rwlock_init_v1(gasnett_rwlock_t* l) {
  require("gasnett_rwlock_init()", ::pthread_rwlock_init(system_lock(l), nullptr));
}
CAUSEWAY_API void cwy_tools_rwlock_destroy_v1(gasnett_rwlock_t* l) {
  require("gasnett_rwlock_destroy()", ::pthread_rwlock_destroy(system_lock(l)));
}
CAUSEWAY_API void cwy_tools_rwlock_rdlock_v1(gasnett_rwlock_t* l) {
  require("gasnett_rwlock_rdlock()", read_lock(system_lock(l)));
}
CAUSEWAY_API void cwy_tools_rwlock_wrlock_v1(gasnett_rwlock_t* l) {
  require("gasnett_rwlock_wrlock()", ::pthread_rwlock_wrlock(system_lock(l)));
}
CAUSEWAY_API void cwy_tools_rwlock_unlock_v1(gasnett_rwlock_t* l) {
  require("gasnett_rwlock_unlock()", ::pthread_rwlock_unlock(system_lock(l)));
}
CAUSEWAY_API int cwy_tools_rwlock_tryrdlock_v1(gasnett_rwlock_t* l) {
  return ::pthread_rwlock_tryrdlock(system_lock(l));
}
CAUSEWAY_API int cwy_tools_rwlock_trywrlock_v1(gasnett_rwlock_t* l) {
  return ::pthread_rwlock_trywrlock(system_lock(l));
}
