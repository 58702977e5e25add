// An agent for jobs on several hosts that brings one of them a relay which misbehaves:
//   launch_relay HOST BAD_HOST MODE CAUSEWAY relay
// On any other host than BAD_HOST it becomes the relay itself. MODE:
//   die     joins the launcher and ends before the job starts: the other hosts' relays begin once
//           its socket is closed
//   never   does not join
//   late    becomes the relay, after two seconds
//   done    says that nothing is left, while its processes should run
//   beats   gives signs of life, and nothing else
//   ended   says that its processes have ended, but never that it is done
//   streams says so and that it is done, but ends no stream
//   chatty  remarks, and remarks, and never says that its processes have ended
//   talks   says that they have, and goes on to send what they wrote
//   floods  sends more output than the launcher has room for
//   others  says that the process of another host has ended the job
//   fences  joins a fence of the other host's processes
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "base/error.h"
#include "launch/addresses.h"
#include "launch/handshake.h"
#include "launch/start_order.h"
#include "launch/wire.h"
#include "launch/workforce.h"

namespace {

using namespace causeway::launch;
using causeway::UniqueFd;

UniqueFd join() {
  std::string line;
  std::getline(std::cin, line);
  const Invitation invitation = Invitation::unpack(line);
  for (const std::string& address : invitation.addresses) {
    try {
      UniqueFd socket = causeway::launch::connect_to(address, invitation.port, 5.0);
      introduce(socket.get(), invitation, 5.0);
      return socket;
    } catch (const causeway::Error&) {
      continue;
    }
  }
  throw causeway::Error(CWY_ERR_UNREACHABLE, "launch_relay: the launcher is not there");
}

void on_start(Channel& link, const std::string& mode, const StartOrder& order) {
  const bool ends = mode == "done" || mode == "ended" || mode == "streams" || mode == "talks";
  for (const uint32_t process : order.layout.on_host(order.host)) {
    if (mode == "beats") continue;
    link.send(Word::started, pack(process, int32_t{1}));
    if (ends && mode != "done") link.send(Word::ended, pack(process, int32_t{0}));
  }
  if (mode == "done" || mode == "streams") link.send(Word::done);
  const uint32_t other = order.layout.on_host(1 - order.host).front();
  if (mode == "others") {
    const auto aborted = PmixReport::Kind::aborted;
    link.send(Word::report, pack(aborted, other, int32_t{9}, std::string("a lie")));
  }
  if (mode == "fences") link.send(Word::fence, pack(std::vector<uint32_t>{other}) + "lies");
}

void talk(Channel& link, const std::string& mode) {
  link.send(mode == "chatty" ? Word::remark : Word::beat, pack(std::string("still here")));
  const std::string bytes(64 << 10, 'x');
  const std::string output = pack(uint32_t{0}, uint32_t{STDOUT_FILENO}) + bytes;
  for (int i = 0; i < 3 && mode == "talks"; ++i) link.send(Word::output, output);
  for (int i = 0; i < 100 && mode == "floods"; ++i) link.send(Word::output, output);
}

// Until the launcher has had enough.
void misbehave(UniqueFd socket, const std::string& mode) {
  const UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  Channel link(std::move(socket));
  link.attend(epoll.get(), 0);
  while (link) {
    epoll_event event{};
    ::epoll_wait(epoll.get(), &event, 1, 100);
    for (const Frame& frame : link.pump()) {
      if (frame.word == Word::start) on_start(link, mode, StartOrder::unpack(frame.body));
      if (frame.word == Word::dismiss && mode == "streams") return;
    }
    talk(link, mode);
  }
}

// There once the relay that dies has closed its socket; outside of what the test finds empty.
std::string sign_of_death() {
  return std::string(std::getenv("TMPDIR")) + "/../a_relay_died";
}

int become(char** relay) {
  ::execv(relay[0], relay);
  return 127;
}

void die(UniqueFd socket) {
  socket.reset();
  const UniqueFd sign(::open(sign_of_death().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  if (!sign) std::perror("launch_relay");
}

// The launcher ends it where that never happens.
void wait_for_death() {
  while (::access(sign_of_death().c_str(), F_OK) != 0) ::usleep(1000);
}

int act(const std::string& mode, char** relay) {
  if (mode == "never") ::pause();
  if (mode == "late") {
    ::sleep(2);
    return become(relay);
  }
  UniqueFd socket = join();
  if (mode == "die") {
    die(std::move(socket));
  } else {
    misbehave(std::move(socket), mode);
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  char** relay = argv + 4;
  if (std::string(argv[1]) != argv[2]) {
    if (std::string(argv[3]) == "die") wait_for_death();
    return become(relay);
  }
  try {
    return act(argv[3], relay);
  } catch (const causeway::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
