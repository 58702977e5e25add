// over_cable SECONDS ADDRESS: rank 0 against the last rank, which is on another host, for so long:
// puts, gets, numbered messages and sums at once, each checked; then the same bytes over a bare TCP
// connection between the two, to ADDRESS of the last rank's host. Would catch, on a cable that
// loses, doubles, delays or reorders: a wrong byte, a message lost, doubled or cut, a sum counted
// twice. Says both rates, and how long the longest round took.
#include <arpa/inet.h>
#include <gasnet_ratomic.h>
#include <gasnetex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kPiece = 16384, kPieces = 8, kMessage = 900;
constexpr gex_AM_Index_t kNumbered = GEX_AM_INDEX_BASE, kPort = kNumbered + 1;

gex_TM_t team;
std::set<uint32_t> numbers;
uint32_t wrong = 0;
int port = 0;

unsigned char pattern(uint32_t round, size_t at) {
  return static_cast<unsigned char>(round * 131 + at * 7 + (at >> 8));
}

// Every number once; a payload is its number's pattern.
void numbered(gex_Token_t, void* payload, size_t nbytes, gex_AM_Arg_t number) {
  const auto* bytes = static_cast<unsigned char*>(payload);
  const auto n = static_cast<uint32_t>(number);
  bool good = nbytes == kMessage && numbers.insert(n).second;
  for (size_t i = 0; i < nbytes; ++i) good &= bytes[i] == pattern(n, i);
  wrong += good ? 0 : 1;
}
void take_port(gex_Token_t, gex_AM_Arg_t number) {
  port = number;
}

void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

struct Ends {
  unsigned char* there;  // kPieces * kPiece bytes, then a counter
  gex_AD_t domain;
  gex_Rank_t last;
};

// A round: the bytes that were put are got again, while messages and a sum are under way.
void run_round(const Ends& ends, uint32_t round, std::vector<unsigned char>& out,
               std::vector<unsigned char>& in) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = pattern(round, i);
  gex_NBI_BeginAccessRegion(0);
  for (size_t p = 0; p < kPieces; ++p)
    gex_RMA_PutNBI(team, ends.last, ends.there + p * kPiece, &out[p * kPiece], kPiece,
                   GEX_EVENT_DEFER, 0);
  const gex_Event_t puts = gex_NBI_EndAccessRegion(0);
  unsigned char message[kMessage];
  for (size_t i = 0; i < kMessage; ++i) message[i] = pattern(round, i);
  gex_AM_RequestMedium1(team, ends.last, kNumbered, message, kMessage, GEX_EVENT_NOW, 0,
                        static_cast<gex_AM_Arg_t>(round));
  uint64_t before = 0;
  const gex_Event_t sum = gex_AD_OpNB_U64(ends.domain, &before, ends.last,
                                          ends.there + kPieces * kPiece, GEX_OP_FADD, 1, 0, 0);
  gex_Event_Wait(puts);
  gex_Event_Wait(sum);
  wrong += before == round ? 0 : 1;
  gex_RMA_GetBlocking(team, in.data(), ends.last, ends.there, in.size(), 0);
  wrong += in == out ? 0 : 1;
}

int listen_at(const char* address, int* fd) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  inet_pton(AF_INET, address, &at.sin_addr);
  *fd = socket(AF_INET, SOCK_STREAM, 0);
  socklen_t length = sizeof at;
  if (bind(*fd, reinterpret_cast<sockaddr*>(&at), length) != 0 || listen(*fd, 1) != 0 ||
      getsockname(*fd, reinterpret_cast<sockaddr*>(&at), &length) != 0)
    return 0;
  return ntohs(at.sin_port);
}

bool transfer(int fd, bool sends, char* bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t n =
        sends ? write(fd, bytes + done, size - done) : read(fd, bytes + done, size - done);
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

// A round over the bare connection waits as often as the library's: as many bytes there, their
// acknowledgement, a request, and as many bytes back.
bool bare_round(int fd, bool asks, std::vector<char>& bytes) {
  char word = 0;
  return transfer(fd, asks, bytes.data(), bytes.size()) && transfer(fd, !asks, &word, 1) &&
         transfer(fd, asks, &word, 1) && transfer(fd, !asks, bytes.data(), bytes.size());
}

void serve_bare(int listener) {
  const int fd = accept(listener, nullptr, nullptr);
  std::vector<char> bytes(kPieces * kPiece + kMessage);
  while (bare_round(fd, false, bytes)) {
  }
  close(fd);
}

template <class Round>
double megabytes_per_second(double seconds, double& longest, Round&& round) {
  const auto began = Clock::now();
  std::chrono::duration<double> took{};
  uint32_t rounds = 0;
  longest = 0;
  while (took.count() < seconds) {
    round(rounds++);
    const std::chrono::duration<double> now = Clock::now() - began;
    longest = std::max(longest, (now - took).count());
    took = now;
  }
  return rounds * 2e-6 * kPieces * kPiece / took.count();
}

double bare_rate(double seconds, const char* address) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, address, &at.sin_addr);
  const int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  bool good = connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
  std::vector<char> bytes(kPieces * kPiece + kMessage);
  double longest = 0;
  const double rate = megabytes_per_second(
      seconds, longest, [&](uint32_t) { good = good && bare_round(fd, true, bytes); });
  close(fd);
  return good ? rate : 0;
}

void measure(const Ends& ends, double seconds, const char* address) {
  std::vector<unsigned char> out(kPieces * kPiece), in(out.size());
  uint32_t rounds = 0;
  double longest = 0;
  const double ours = megabytes_per_second(seconds, longest, [&](uint32_t round) {
    run_round(ends, round, out, in);
    rounds = round + 1;
  });
  barrier();
  GASNET_BLOCKUNTIL(port != 0);
  const double bare = bare_rate(seconds / 2, address);
  std::printf(
      "over_cable: %u rounds, %u wrong; longest round %.0f ms; %.2f MB/s, bare TCP %.2f, ratio "
      "%.2f\n",
      rounds, wrong, longest * 1e3, ours, bare, bare > 0 ? ours / bare : 0.0);
}

// All messages have come when their sum has: one for each.
void be_the_other(const unsigned char* own, const char* address) {
  int listener = -1;
  barrier();
  const auto* rounds = reinterpret_cast<const volatile uint64_t*>(own + kPieces * kPiece);
  GASNET_BLOCKUNTIL(numbers.size() + wrong >= *rounds);
  const int at = listen_at(address, &listener);
  gex_AM_RequestShort1(team, 0, kPort, 0, at != 0 ? at : -1);
  gasnet_AMPoll();
  serve_bare(listener);
  close(listener);
  if (wrong != 0) std::printf("over_cable: %u messages wrong of %zu\n", wrong, numbers.size());
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_Segment_t segment;
  gex_Client_Init(&client, &ep, &team, "OVER_CABLE", &argc, &argv, 0);
  const double seconds = argc > 2 ? std::atof(argv[1]) : 1;
  const char* const address = argc > 2 ? argv[2] : "127.0.0.1";
  gex_AM_Entry_t entries[] = {{kNumbered, reinterpret_cast<gex_AM_Fn_t>(numbered),
                               GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, nullptr, "numbered"},
                              {kPort, reinterpret_cast<gex_AM_Fn_t>(take_port),
                               GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, nullptr, "port"}};
  gex_EP_RegisterHandlers(ep, entries, 2);
  gex_Segment_Attach(&segment, team, 1 << 20);
  Ends ends{nullptr, nullptr, gex_TM_QuerySize(team) - 1};
  void* there = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, ends.last, &there, nullptr, nullptr, 0));
  ends.there = static_cast<unsigned char*>(there);
  gex_AD_Create(&ends.domain, team, GEX_DT_U64, GEX_OP_FADD, 0);
  barrier();
  const gex_Rank_t rank = gex_TM_QueryRank(team);
  if (rank == 0) {
    measure(ends, seconds, address);
  } else if (rank == ends.last) {
    be_the_other(static_cast<unsigned char*>(gex_Segment_QueryAddr(segment)), address);
  } else {
    barrier();
  }
  barrier();
  gex_AD_Destroy(ends.domain);
  gasnet_exit(wrong != 0 ? 1 : 0);
}
