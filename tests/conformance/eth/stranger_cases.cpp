// Strangers at the door of the conduit `eth`: connections that show nothing, garbage, half
// of an introduction, or an introduction of another job. Each is closed, and the job's own traffic
// goes on meanwhile.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "../../../plugins/conduit/eth/wire.h"
#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

eth::Address address_of(Session& s) {
  Card card;
  s.ep().address(card, {1, 1});
  eth::Address address;
  if (card.address_len != sizeof address) throw Error(CWY_ERR_INVALID, "the address is not eth's");
  std::memcpy(&address, card.address, sizeof address);
  return address;
}

class Stranger {
 public:
  explicit Stranger(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
      throw Error(CWY_ERR_UNREACHABLE, "nobody listens at port {}", port);
  }
  ~Stranger() { close(fd_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  void say(const void* bytes, size_t length) {
    if (send(fd_, bytes, length, MSG_NOSIGNAL) != static_cast<ssize_t>(length))
      throw Error(CWY_ERR_UNREACHABLE, "the endpoint did not take {} bytes", length);
  }
  // Whether the endpoint has closed the connection, without a word.
  bool is_dismissed() {
    char byte;
    const ssize_t got = recv(fd_, &byte, 1, MSG_DONTWAIT);
    if (got > 0) throw Error(CWY_ERR_INVALID, "the endpoint answered a stranger");
    return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
  }

 private:
  int fd_;
};

void traffic_goes_on(Session& s) {
  uint8_t out[64], back[64] = {};
  for (size_t i = 0; i < sizeof out; ++i) out[i] = static_cast<uint8_t>(i * 5 + 1);
  s.conn().put(out, s.remote().base(), s.remote(), sizeof out);
  s.conn().get_data(back, s.remote().base(), s.remote(), sizeof back);
  EXPECT_TRUE(std::memcmp(out, back, sizeof out) == 0);
}

void dismissed_with(const std::vector<uint8_t>& words) {
  Session s;
  Stranger stranger(address_of(s).port);
  if (!words.empty()) stranger.say(words.data(), words.size());
  traffic_goes_on(s);
  s.ep().until([&] { return stranger.is_dismissed(); }, "the end of a stranger's connection");
  traffic_goes_on(s);
}

// Catches an endpoint that waits for ever for an introduction.
void silence_is_closed() {
  dismissed_with({});
}

void garbage_is_closed() {
  std::vector<uint8_t> words(4096);
  for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<uint8_t>(i * 31 + 7);
  dismissed_with(words);
}

void half_an_introduction_is_closed() {
  dismissed_with(std::vector<uint8_t>(sizeof(fabric::Introduction) / 2, 0x43));
}

// All is right, but the key: catches an endpoint that lets anybody in who knows the format.
void another_job_is_closed() {
  Session s;
  const eth::Address address = address_of(s);
  fabric::Introduction hello{};
  hello.magic = eth::wire_magic;
  hello.version = fabric::wire_version;
  hello.window[0] = hello.window[1] = 16;
  hello.epoch = 1;
  hello.job = 0x1234567890abcdef;
  hello.nonce = 77;
  hello.to = address.nonce;
  Stranger stranger(address.port);
  stranger.say(&hello, sizeof hello);
  s.ep().until([&] { return stranger.is_dismissed(); }, "the end of another job's connection");
  traffic_goes_on(s);
}

// Catches an endpoint that many silent connections keep from its work.
void many_silent_ones_hinder_nobody() {
  Session s;
  std::vector<std::unique_ptr<Stranger>> strangers;
  for (int i = 0; i < 300; ++i) strangers.push_back(std::make_unique<Stranger>(address_of(s).port));
  for (int i = 0; i < 20; ++i) traffic_goes_on(s);
  s.ep().until([&] { return strangers.back()->is_dismissed(); }, "the end of the last one");
}

const Cases cases{
    {"Stranger", "silence_is_closed", kPut | kGet | kMemory, silence_is_closed},
    {"Stranger", "garbage_is_closed", kPut | kGet | kMemory, garbage_is_closed},
    {"Stranger", "half_an_introduction_is_closed", kPut | kGet | kMemory,
     half_an_introduction_is_closed},
    {"Stranger", "another_job_is_closed", kPut | kGet | kMemory, another_job_is_closed},
    {"Stranger", "many_silent_ones_hinder_nobody", kPut | kGet | kMemory,
     many_silent_ones_hinder_nobody},
};

}  // namespace
}  // namespace causeway::conformance
