// Datagrams that the network loses, brings twice, or brings after others. Small units go by them,
// and what they do not bring comes over the stream, once, in order, and in time. Catches units that
// are lost, taken twice or out of turn, and a test that meets no misfortune. Usage: datagrams
// ROUNDS SEED LOST TWICE LATE (out of 1,000 each)
#include <dlfcn.h>
#include <sys/socket.h>

#include "random_talk.h"

namespace {

// How often what befalls the datagrams of this rank, and how often it has.
struct Fortune {
  unsigned lost, twice, late;
};
Fortune wanted{}, met{};
std::mt19937 dice;
unsigned long sent = 0;
std::vector<char> kept;  // until another datagram of its socket has left
int kept_socket = -1;

bool befalls(unsigned share, unsigned& count) {
  if (dice() % 1000 >= share) return false;
  ++count;
  return true;
}

ssize_t next_send(int socket, const void* bytes, size_t length, int flags) {
  static const auto function = reinterpret_cast<decltype(&send)>(dlsym(RTLD_NEXT, "send"));
  return function(socket, bytes, length, flags);
}

bool is_for_datagrams(int socket) {
  int type = 0;
  socklen_t length = sizeof type;
  return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_DGRAM;
}

}  // namespace

extern "C" [[gnu::visibility("default")]] ssize_t send(int socket, const void* bytes, size_t length,
                                                       int flags) {
  if (!is_for_datagrams(socket)) return next_send(socket, bytes, length, flags);
  ++sent;
  const auto whole = static_cast<ssize_t>(length);
  if (befalls(wanted.lost, met.lost)) return whole;
  if (kept_socket < 0 && befalls(wanted.late, met.late)) {
    kept.assign(static_cast<const char*>(bytes), static_cast<const char*>(bytes) + length);
    kept_socket = socket;
    return whole;
  }
  next_send(socket, bytes, length, flags);
  if (befalls(wanted.twice, met.twice)) next_send(socket, bytes, length, flags);
  if (kept_socket == socket && dice() % 4 == 0) {
    next_send(socket, kept.data(), kept.size(), flags);
    kept_socket = -1;
  }
  return whole;
}

int main(int argc, char** argv) {
  using namespace spec::random_talk;
  using spec::me;
  using spec::require;
  require(argc == 6, "usage: datagrams ROUNDS SEED LOST TWICE LATE");
  const auto share = [&](int index) {
    return static_cast<unsigned>(std::strtoul(argv[index], nullptr, 10));
  };
  wanted = {share(3), share(4), share(5)};
  start(argc, argv);
  dice.seed(share(2) * 1000 + me);
  talk(argv[1], argv[2]);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  require(!wrong, "wrong bytes");
  std::printf("rank %u: %lu sends, %lu of units; %u lost, %u twice, %u late\n", me, sent,
              counted("datagrams "), met.lost, met.twice, met.late);
  require(sent > 0, "no datagram was sent");
  // A busy machine may leave few.
  const auto happened = [](unsigned wish, unsigned count) { return wish == 0 || count != 0; };
  require(sent < 1000 || (happened(wanted.lost, met.lost) && happened(wanted.twice, met.twice) &&
                          happened(wanted.late, met.late)),
          "a misfortune did not happen");
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (me == 0) std::puts("all is well");
  gasnet_exit(0);
}
