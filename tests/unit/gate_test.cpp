// The launcher's hand between the PMIx server library and its clients (core/launch/gate.h):
// accept() and send() of this process are the gate's.
#include "launch/gate.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "base/unique_fd.h"

namespace causeway {
namespace {

// A listener as the library has one, and a client that has sent a whole first message to it.
class Gate : public testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);  // as the launcher has it
    launch::guard_connections();
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    auto* const address = reinterpret_cast<sockaddr*>(&here);
    listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(listener_.get(), address, size), 0);
    ASSERT_EQ(::listen(listener_.get(), 4), 0);
    ASSERT_EQ(::getsockname(listener_.get(), address, &size), 0);
    client_ = UniqueFd(::socket(AF_INET, SOCK_STREAM, 0));
    ASSERT_EQ(::connect(client_.get(), address, size), 0);
    const uint64_t first_message[] = {~uint64_t{0}, 0};
    ASSERT_EQ(::send(client_.get(), first_message, sizeof first_message, 0), 16);
    guest_ = UniqueFd(::accept(listener_.get(), nullptr, nullptr));
    ASSERT_TRUE(guest_) << "the gate keeps a client that has said its first message";
  }
  void TearDown() override { launch::stop_guarding(); }

  UniqueFd listener_, client_, guest_;
};

// Catches: a client's death between its first message and the last part of the answer, which ended
// the launcher: the library goes on using what it frees when it cannot answer.
TEST_F(Gate, an_answer_to_a_client_that_has_died_does_not_fail) {
  client_.reset();
  for (int part = 0; part < 3; ++part) EXPECT_EQ(::send(guest_.get(), "part", 4, 0), 4) << part;
}

// Catches: an answer that a living client does not get.
TEST_F(Gate, an_answer_to_a_client_that_lives_arrives) {
  EXPECT_EQ(::send(guest_.get(), "answer", 6, 0), 6);
  char answer[8] = {};
  EXPECT_EQ(::recv(client_.get(), answer, sizeof answer, 0), 6);
  EXPECT_EQ(std::string(answer), "answer");
}

// Catches: failures of other sockets that nobody hears of any more.
TEST_F(Gate, what_is_sent_elsewhere_fails_as_ever) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const UniqueFd mine(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(::send(mine.get(), "word", 4, 0), -1);
  EXPECT_EQ(errno, EPIPE);
}

}  // namespace
}  // namespace causeway
