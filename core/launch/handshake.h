// Handshake: how a relay and the launcher that started it know each other.
//
// The launcher gives every relay a secret of its own, over the standard input of the agent that
// starts it: never in arguments or the environment, which others can read. Each side then proves
// with a keyed hash over both sides' random numbers that it knows the secret; the secret itself
// never goes over the network, so a relay that tries an address where something else listens gives
// nothing away. What follows is encrypted (cipher.h) where the user asks for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "launch/siphash.h"

namespace causeway::launch {

// The line that a relay reads from its standard input.
struct Invitation {
  uint32_t host = 0;
  Key secret{};
  uint16_t port = 0;
  double limit_s = 0.0;  // for the relay to reach the launcher
  bool encrypted = false;
  std::vector<std::string> addresses;  // numeric, of the launcher, to be tried in this order

  std::string pack() const;                      // one line, with its newline
  static Invitation unpack(const std::string&);  // throws Error
};

Key random_key();  // throws Error when the system gives no random numbers

inline constexpr size_t kHelloBytes = 32, kReplyBytes = 32, kProofBytes = 16;

// The relay's side. Blocks, `limit_s` at most. Throws Error.
void introduce(int socket, const Invitation& invitation, double limit_s);

// The launcher's side, fed with bytes as they come.
class Guest {
 public:
  explicit Guest(UniqueFd socket, double now) : socket_(std::move(socket)), came_at_(now) {}

  enum class State { waiting, accepted, refused };
  // `secrets`: by host.
  State pump(const std::vector<Key>& secrets);
  int fd() const { return socket_.get(); }
  UniqueFd take_socket() { return std::move(socket_); }
  uint32_t host() const { return host_; }
  double came_at() const { return came_at_; }

 private:
  bool read_hello(const std::vector<Key>& secrets);
  bool check_proof(const std::vector<Key>& secrets);

  UniqueFd socket_;
  double came_at_;
  std::string got_, transcript_;
  uint32_t host_ = 0;
  bool greeted_ = false;
};

}  // namespace causeway::launch
