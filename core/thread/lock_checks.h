// The account that `checks: full` keeps of handler-safe locks: which ones a thread holds, in which
// order, and in which orders locks were ever taken. GASNet-1, "Restrictions on Handler-Safe Locks".
#pragma once

#include <gasnetex.h>

namespace causeway {

// Each ends the job with one line when the call breaks a rule. Called before the lock changes
// hands, except check_taken(), which follows.
void check_lock(const gex_HSL_t* hsl);                    // gex_HSL_Lock is about to block
void check_trylock(const gex_HSL_t* hsl);                 // gex_HSL_Trylock is about to try
void check_taken(const gex_HSL_t* hsl);                   // either has succeeded
void check_unlock(const gex_HSL_t* hsl);                  // gex_HSL_Unlock
void check_idle(const char* call, const gex_HSL_t* hsl);  // gex_HSL_Init, gex_HSL_Destroy
// Locks a thread holds, for handlers that must give back what they took.
unsigned locks_held();

}  // namespace causeway
