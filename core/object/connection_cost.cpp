#include <malloc.h>
#include <unistd.h>

#include <fstream>

#include "base/context.h"
#include "config/config.h"
#include "connection/conduit_set.h"
#include "object/connect.h"

namespace causeway {

static std::atomic<bool> g_counts{false};  // relaxed: nothing else is handed over

void count_connections() {
  g_counts.store(true, std::memory_order_relaxed);
}

bool note_growth(ConduitEp* connecting) {
  static ConduitEp* before = nullptr;
  if (before == nullptr && connecting == nullptr) return false;
  if (!g_counts.load(std::memory_order_relaxed) && !context().config().report) return false;
  int64_t all = 0, own = 0, other = 0;
  std::ifstream("/proc/self/statm") >> all >> other >> other >> other >> other >> own;
  const int64_t page = ::sysconf(_SC_PAGESIZE), shared = (all - own) * page;
  // Private memory that can be written to, the heap's included, less what the heap has free.
  own = own * page - static_cast<int64_t>(::mallinfo2().fordblks);
  const auto add = [&](ConduitEp* cep, int64_t sign) {
    if (cep == nullptr) return;
    cep->own_bytes += sign * own;
    cep->shared_bytes += sign * shared;
  };
  add(before, 1);
  add(before = connecting, -1);
  return true;
}

}  // namespace causeway
