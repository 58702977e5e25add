// eavesdrop INTERFACE WORD: says "listening", and at SIGTERM how many of the frames that came by
// here had WORD in them, and how many there were: "heard 3 of 120".
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace {

volatile sig_atomic_t g_over = 0;

int open_ear(const char* interface) {
  const int ear = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
  sockaddr_ll where{};
  where.sll_family = AF_PACKET;
  where.sll_protocol = htons(ETH_P_ALL);
  where.sll_ifindex = static_cast<int>(::if_nametoindex(interface));
  const int room = 64 << 20;
  ::setsockopt(ear, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  return ::bind(ear, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0 ? ear : -1;
}

}  // namespace

int main(int argc, char** argv) {
  const int ear = argc == 3 ? open_ear(argv[1]) : -1;
  if (ear < 0) {
    std::perror("eavesdrop");
    return 1;
  }
  ::signal(SIGTERM, [](int) { g_over = 1; });
  std::puts("listening");
  std::fflush(stdout);
  unsigned heard = 0, all = 0;
  static char frame[128 << 10];
  for (pollfd ready{ear, POLLIN, 0}; ::poll(&ready, 1, g_over != 0 ? 0 : 100) > 0 || g_over == 0;) {
    const ssize_t size = ::recv(ear, frame, sizeof frame, MSG_DONTWAIT);
    if (size <= 0) continue;
    ++all;
    heard +=
        std::string_view(frame, static_cast<size_t>(size)).find(argv[2]) != std::string_view::npos
            ? 1
            : 0;
  }
  std::printf("heard %u of %u\n", heard, all);
  return 0;
}
