#include "thread/lock_checks.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/call_arguments.h"
#include "base/fatal.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

using Lock = const gex_HSL_t*;

// Locks of this thread, oldest first.
thread_local std::vector<Lock> t_held;

// Which locks were taken while which other was held. An edge a -> b says that some thread took b
// under a; threads that take locks along a circle of edges can wait for each other forever.
std::mutex g_lock_checks_mutex;
std::unordered_map<Lock, std::vector<Lock>> g_after;

bool holds(Lock lock) {
  return std::ranges::find(t_held, lock) != t_held.end();
}

const void* name(Lock lock) {
  return lock;
}

bool leads_to(Lock from, Lock to, std::vector<Lock>& seen) {
  if (from == to) return true;
  if (std::ranges::find(seen, from) != seen.end()) return false;
  seen.push_back(from);
  const auto found = g_after.find(from);
  if (found == g_after.end()) return false;
  return std::ranges::any_of(found->second, [&](Lock next) { return leads_to(next, to, seen); });
}

// Adds held -> taken; false when the reverse order is known already.
bool note_order(Lock held, Lock taken) {
  const std::lock_guard lock(g_lock_checks_mutex);
  std::vector<Lock>& after = g_after[held];
  if (std::ranges::find(after, taken) != after.end()) return true;
  after.push_back(taken);
  std::vector<Lock> seen;
  return !leads_to(taken, held, seen);
}

void require_not_held(const char* call, Lock lock) {
  if (!holds(lock)) return;
  fatal(call, "the lock at {} is held by this thread already; handler-safe locks are not recursive",
        name(lock));
}

}  // namespace

void check_lock(const gex_HSL_t* hsl) {
  constexpr const char* kCall = "gex_HSL_Lock()";
  note_call(kCall, "hsl", hsl);
  require_not_held(kCall, hsl);
  for (const Lock held : t_held) {
    if (note_order(held, hsl)) continue;
    fatal(kCall,
          "the lock at {} is taken while {} is held, and the other way round elsewhere; threads "
          "that do both can wait for each other forever",
          name(hsl), name(held));
  }
}

void check_trylock(const gex_HSL_t* hsl) {
  note_call("gex_HSL_Trylock()", "hsl", hsl);
  require_not_held("gex_HSL_Trylock()", hsl);
}

void check_taken(const gex_HSL_t* hsl) {
  t_held.push_back(hsl);
  ++thread_state().hsl_held;
}

void check_unlock(const gex_HSL_t* hsl) {
  constexpr const char* kCall = "gex_HSL_Unlock()";
  note_call(kCall, "hsl", hsl);
  if (!holds(hsl)) fatal(kCall, "the lock at {} is not held by this thread", name(hsl));
  if (t_held.back() != hsl) {
    fatal(kCall,
          "the lock at {} is unlocked before {}, which was taken after it; unlock in the reverse "
          "order",
          name(hsl), name(t_held.back()));
  }
  t_held.pop_back();
  --thread_state().hsl_held;
}

void check_idle(const char* call, const gex_HSL_t* hsl) {
  note_call(call, "hsl", hsl);
  if (holds(hsl)) fatal(call, "the lock at {} is held by this thread", name(hsl));
  // The facts known of this address concerned another lock.
  const std::lock_guard lock(g_lock_checks_mutex);
  g_after.erase(hsl);
  for (auto& [held, after] : g_after) std::erase(after, hsl);
}

unsigned locks_held() {
  return static_cast<unsigned>(t_held.size());
}

}  // namespace causeway
