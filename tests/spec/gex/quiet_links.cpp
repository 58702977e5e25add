// More peers than a rank may have connections, or descriptors: links are closed and opened in the
// middle of everything. Catches a connection that is closed before all that came over it was read,
// credit or acknowledgements that are lost with it, ranks that wait for each other's descriptors,
// and a test that closes nothing.
// Usage: quiet_links ROUNDS SEED [DESCRIPTORS]
#include <sys/resource.h>

#include "random_talk.h"

using namespace spec::random_talk;
using spec::me;
using spec::require;

int main(int argc, char** argv) {
  if (argc > 3) {
    const rlim_t most = std::strtoul(argv[3], nullptr, 10);
    const rlimit limit{most, most};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  start(argc, argv);
  require(argc >= 3, "usage: quiet_links ROUNDS SEED [DESCRIPTORS]");
  talk(argv[1], argv[2]);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  require(!wrong, "wrong bytes");
  require(counted("parked ") > 0, "no connection was closed");
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (me == 0) std::puts("all is well");
  gasnet_exit(0);
}
