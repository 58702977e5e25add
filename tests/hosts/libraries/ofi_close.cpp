// Closing a datagram endpoint of libfabric's to which messages have come that nobody read, without
// the library: whose fault it is when a process is killed there.
//
//   ofi_close PROVIDER [known]
//
// Two processes with an endpoint each. One sends some messages, knows that they have been taken
// over by the other side's network, and says so over a socket; the other one then closes its
// endpoint. Status: 0 every close came back, 1 one ended its process, 2 the provider cannot be
// used, 77 it is not here. With `known` that end is expected, and its absence is status 1.
#include <sched.h>

#include <chrono>

#include "ofi_side.h"
#include "two_processes.h"

namespace {

using libraries::give_up, libraries::require, libraries::Side;

constexpr auto kPatience = std::chrono::seconds(30);
constexpr int kRounds = 3, kUnread = 8;
constexpr size_t kBytes = 64;

struct Nothing {
  uint8_t none = 0;
};

struct Buffers {
  alignas(64) char bytes[(kUnread + 1) * kBytes] = {};
  fi_context2 context[kUnread + 1] = {};
  fid_mr* mr = nullptr;
};

void open(Side& s, Buffers& b, const std::string& provider, int socket) {
  libraries::open_side(s, provider, FI_MSG);
  require(fi_mr_reg(s.domain, b.bytes, sizeof b.bytes, FI_SEND | FI_RECV, 0, 1, 0, &b.mr, nullptr),
          "fi_mr_reg");
  libraries::exchange(s, socket, Nothing{});
}

void await_completion(Side& s) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  fi_cq_data_entry entry;
  for (;;) {
    const ssize_t got = fi_cq_read(s.cq, &entry, 1);
    if (got == 1) return;
    if (got != -FI_EAGAIN) give_up(2, "fi_cq_read fails");
    if (std::chrono::steady_clock::now() > end) give_up(2, "a message does not end");
    sched_yield();
  }
}

void send_one(Side& s, Buffers& b, int i) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    const ssize_t answer =
        fi_send(s.ep, b.bytes + i * kBytes, kBytes, fi_mr_desc(b.mr), s.peer, &b.context[i]);
    if (answer == 0) return;
    if (answer != -FI_EAGAIN) require(answer, "fi_send");
    if (std::chrono::steady_clock::now() > end) give_up(2, "a message is never taken");
    fi_cq_read(s.cq, nullptr, 0);  // what connects the two
    sched_yield();
  }
}

// The first message makes the connection, and is read by the other side.
void send(const std::string& provider, int socket) {
  static Side side;
  static Buffers buffers;
  open(side, buffers, provider, socket);
  char word = 0;
  send_one(side, buffers, 0);
  await_completion(side);
  if (recv(socket, &word, 1, MSG_WAITALL) != 1) _exit(0);
  for (int i = 1; i <= kUnread; ++i) send_one(side, buffers, i);
  for (int i = 1; i <= kUnread; ++i) await_completion(side);
  if (write(socket, "s", 1) != 1) _exit(0);
  recv(socket, &word, 1, MSG_WAITALL);  // the other one has ended
  _exit(0);
}

void close_unread(const std::string& provider, int socket) {
  static Side side;
  static Buffers buffers;
  open(side, buffers, provider, socket);
  for (int i = 0; i <= kUnread; ++i)
    require(fi_recv(side.ep, buffers.bytes + i * kBytes, kBytes, fi_mr_desc(buffers.mr),
                    FI_ADDR_UNSPEC, &buffers.context[i]),
            "fi_recv");
  await_completion(side);
  char word = 0;
  if (write(socket, "r", 1) != 1 || recv(socket, &word, 1, MSG_WAITALL) != 1)
    give_up(2, "the sending process has ended");
  fi_close(&side.ep->fid);
  _exit(0);
}

// Status as of the program.
int round(const std::string& provider) {
  const auto ended = libraries::in_two_processes(
      [&](size_t i, int socket) { (i == 0 ? send : close_unread)(provider, socket); });
  if (WIFSIGNALED(ended[1])) {
    std::printf("%s: killed by signal %d inside fi_close with %d messages unread\n",
                provider.c_str(), WTERMSIG(ended[1]), kUnread);
    return 1;
  }
  for (const int status : ended)
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      return WIFEXITED(status) && WEXITSTATUS(status) == 77 ? 77 : 2;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) give_up(2, "usage: ofi_close PROVIDER [known]");
  const std::string provider = argv[1];
  const bool known = argc > 2 && std::strcmp(argv[2], "known") == 0;
  int status = 0;
  for (int i = 0; i < kRounds && status == 0; ++i) status = round(provider);
  if (status == 0) std::printf("%s: closed %d times with messages unread\n", argv[1], kRounds);
  return libraries::judge(provider, status, known, "asks for shared receive queues");
}
