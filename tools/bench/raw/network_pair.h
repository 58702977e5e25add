// Two processes joined by a network's own library and nothing else: the loops that a conduit over
// that library is measured against. Same transport, same sizes, same moment of completion.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>

namespace causeway::bench::raw {

// A message of trips(): as long as the frame of a short active message with an argument.
inline constexpr size_t kMessageBytes = 32;
inline constexpr uint32_t kMostAtOnce = 256;

class NetworkPair {
 public:
  // Gives the other process these bytes and returns the other's. Called by both at once, as often.
  using Exchange = std::function<std::string(const std::string&)>;

  virtual ~NetworkPair() = default;
  NetworkPair(const NetworkPair&) = delete;
  NetworkPair& operator=(const NetworkPair&) = delete;

  // The memory that both sides made in the same way: `bytes` that the other process reaches, and
  // as many behind them that operations take their local data from.
  // `count` operations of `length` bytes, `window` posted at a time, each batch complete before the
  // next one begins; a put is complete when its data is visible at the target.
  virtual void put(size_t length, uint64_t count, uint32_t window) = 0;
  virtual void get(size_t length, uint64_t count, uint32_t window) = 0;
  // `count` messages of kMessageBytes there and back, one at a time.
  // With `payload` bytes behind each, which is 0 for a pair without has_payloads().
  virtual void trips(uint64_t count, size_t payload) = 0;
  virtual bool has_payloads() const { return false; }
  // The other side meanwhile: moves things on, answers messages.
  virtual void progress() = 0;

 protected:
  NetworkPair() = default;
};

// What the other process gives for `own`.
template <typename T>
T exchanged(const NetworkPair::Exchange& exchange, const T& own) {
  const std::string theirs = exchange(std::string(reinterpret_cast<const char*>(&own), sizeof own));
  T out;
  std::memcpy(&out, theirs.data(), sizeof out);
  return out;
}

struct NetworkPairParams {
  std::string transport;  // what stands behind the slash: a provider, transports, or nothing
  bool first;             // of the two; it connects
  unsigned char* memory;  // 2 * bytes, page-aligned, touched
  size_t bytes;
  NetworkPair::Exchange exchange;
};

// The pair of the library that the program is linked with. Throws std::runtime_error with its
// words.
std::unique_ptr<NetworkPair> make_network_pair(const NetworkPairParams& params);

}  // namespace causeway::bench::raw
