// How every measuring program begins: a core for each rank, and the line of facts that
// `causeway bench` reads before the records.
#pragma once

namespace causeway::bench {

// From here on, before the library counts them, only so many CPUs; 0: all.
void keep_cores(unsigned count);

struct OwnCore {
  unsigned cores = 1;
  bool pinned = false;
};
// Binds this rank to a core of its own, where there is one for each.
OwnCore pin_to_own_core(unsigned rank, unsigned ranks);

void print_facts(unsigned ranks, unsigned cores, bool pinned);

}  // namespace causeway::bench
