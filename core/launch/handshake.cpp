#include "launch/handshake.h"

#include <fmt/ranges.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/error.h"
#include "launch/addresses.h"
#include "launch/clock.h"
#include "spawn/job_id.h"

namespace causeway::launch {
namespace {

constexpr char kMagic[] = "CWYRLY01";
constexpr const char* kLineHead = "causeway-relay-2";

std::string_view view_of(const Key& key) {
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

// The name of the side that proves it goes into the hash: what one side has sent is no use as the
// other's answer.
std::string proof(const Key& secret, const char* who, std::string_view transcript) {
  const auto hash = siphash(secret, std::string(who) + std::string(transcript));
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

// In a time that does not tell where the first difference is.
bool equal(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

void send_fully(int socket, std::string_view bytes) {
  // A few bytes on a new connection: they fit into its buffer.
  if (::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(bytes.size()))
    throw Error(CWY_ERR_UNREACHABLE, "the connection failed: {}", std::strerror(errno));
}

}  // namespace

Key random_key() {
  const std::string bytes = new_secret();
  Key key;
  std::ranges::copy(bytes, key.begin());
  return key;
}

std::string Invitation::pack() const {
  return fmt::format("{} {} {:02x} {} {:.0f} {:d} {}\n", kLineHead, host, fmt::join(secret, ""),
                     port, limit_s * 1e3, encrypted, fmt::join(addresses, ","));
}

Invitation Invitation::unpack(const std::string& line) {
  std::istringstream in(line);
  std::string head, hex, list;
  Invitation invitation;
  double limit_ms = 0.0;
  in >> head >> invitation.host >> hex >> invitation.port >> limit_ms >> invitation.encrypted >>
      list;
  if (head.rfind("causeway-relay-", 0) == 0 && head != kLineHead)
    throw Error(CWY_ERR_INVALID,
                "the launcher is of another version ({}, here {}); install the "
                "same one on every host",
                head, kLineHead);
  if (in.fail() || head != kLineHead || hex.size() != 32)
    throw Error(CWY_ERR_INVALID,
                "no invitation on standard input: `causeway relay` is started by "
                "`causeway run --host-file`, not by hand");
  for (size_t i = 0; i < 16; ++i)
    invitation.secret[i] =
        static_cast<uint8_t>(std::strtoul(hex.substr(2 * i, 2).c_str(), nullptr, 16));
  invitation.limit_s = limit_ms * 1e-3;
  std::istringstream addresses(list);
  for (std::string address; std::getline(addresses, address, ',');)
    invitation.addresses.push_back(address);
  return invitation;
}

void introduce(int socket, const Invitation& invitation, double limit_s) {
  const double until = now_s() + limit_s;
  std::string hello(kMagic, 8);
  const uint32_t numbers[2] = {invitation.host, 0};
  hello.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
  hello.append(view_of(random_key()));
  send_fully(socket, hello);
  const std::string reply =
      receive(socket, kReplyBytes, until, "no answer", "the connection was closed");
  const std::string transcript = hello + reply.substr(0, 16);
  if (!equal(reply.substr(16), proof(invitation.secret, "launcher", transcript)))
    throw Error(CWY_ERR_INVALID, "somebody else listens there");
  send_fully(socket, proof(invitation.secret, "relay", transcript));
}

bool Guest::read_hello(const std::vector<Key>& secrets) {
  if (std::memcmp(got_.data(), kMagic, 8) != 0) return false;
  std::memcpy(&host_, got_.data() + 8, sizeof host_);
  if (host_ >= secrets.size()) return false;
  const std::string nonce(view_of(random_key()));
  transcript_ = got_.substr(0, kHelloBytes) + nonce;
  got_.erase(0, kHelloBytes);
  greeted_ = true;
  const std::string reply = nonce + proof(secrets[host_], "launcher", transcript_);
  return ::send(socket_.get(), reply.data(), reply.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(reply.size());
}

bool Guest::check_proof(const std::vector<Key>& secrets) {
  return equal(got_, proof(secrets[host_], "relay", transcript_));
}

Guest::State Guest::pump(const std::vector<Key>& secrets) {
  const size_t wanted = greeted_ ? kProofBytes : kHelloBytes;
  char chunk[kHelloBytes];
  // Not a byte beyond the handshake: what follows is read by the connection's new owner.
  const ssize_t n = ::recv(socket_.get(), chunk, wanted - got_.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return State::waiting;
  if (n <= 0) return State::refused;
  got_.append(chunk, static_cast<size_t>(n));
  if (got_.size() < wanted) return State::waiting;
  if (greeted_) return check_proof(secrets) ? State::accepted : State::refused;
  return read_hello(secrets) ? State::waiting : State::refused;
}

}  // namespace causeway::launch
