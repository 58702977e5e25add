// gasnet_get_nb_val: values on their way. GASNet-1 3.4.3.
#include <gasnet.h>

#include <mutex>
#include <utility>

#include "api/export.h"
#include "base/call_arguments.h"
#include "base/fatal.h"

// Where one value arrives. Slots are made in slabs that live as long as the process, so that a get
// which its thread abandoned still has somewhere to go.
struct cwy_valget {
  gex_Event_t event;
  char bytes[sizeof(gasnet_register_value_t)];
  size_t nbytes;  // 0: free
  cwy_valget* next;
};

namespace causeway {
namespace {

constexpr size_t kSlab = 64;

std::mutex g_valget_mutex;
cwy_valget* g_free = nullptr;  // slots of threads that have ended; under g_valget_mutex

// A thread's free slots.
class Slots {
 public:
  cwy_valget* take() {
    if (free_ == nullptr) refill();
    return std::exchange(free_, free_->next);
  }
  void give(cwy_valget* slot) {
    slot->nbytes = 0;
    slot->next = std::exchange(free_, slot);
  }
  ~Slots() {
    const std::lock_guard lock(g_valget_mutex);
    while (free_ != nullptr) {
      cwy_valget* slot = std::exchange(free_, free_->next);
      slot->next = std::exchange(g_free, slot);
    }
  }

 private:
  void refill() {
    const std::lock_guard lock(g_valget_mutex);
    free_ = std::exchange(g_free, nullptr);
    if (free_ != nullptr) return;
    auto* slab = new cwy_valget[kSlab]();
    for (size_t i = 0; i < kSlab; ++i) give(&slab[i]);
  }
  cwy_valget* free_ = nullptr;
};

thread_local Slots t_slots;

}  // namespace
}  // namespace causeway

using namespace causeway;

CAUSEWAY_API gasnet_valget_handle_t cwy_gasnet1_get_nb_val_v1(gex_TM_t tm, gex_Rank_t node,
                                                              void* src, size_t nbytes) {
  note_call("gasnet_get_nb_val()", "node, src, nbytes", node, src, nbytes);
  if (nbytes - 1 >= sizeof(gasnet_register_value_t)) {
    fatal("gasnet_get_nb_val()", "nbytes must be 1 to {}; {} was passed",
          sizeof(gasnet_register_value_t), nbytes);
  }
  cwy_valget* slot = t_slots.take();
  slot->nbytes = nbytes;
  slot->event = gex_RMA_GetNB(tm, slot->bytes, node, src, nbytes, 0);
  return slot;
}

CAUSEWAY_API gasnet_register_value_t gasnet_wait_syncnb_valget(gasnet_valget_handle_t handle) {
  note_call("gasnet_wait_syncnb_valget()", "handle", handle);
  if (handle == nullptr || handle->nbytes == 0)
    fatal("gasnet_wait_syncnb_valget()", "the handle is NULL or was waited for already");
  gex_Event_Wait(handle->event);
  const gasnet_register_value_t value = cwy_load_value(handle->bytes, handle->nbytes);
  t_slots.give(handle);
  return value;
}
