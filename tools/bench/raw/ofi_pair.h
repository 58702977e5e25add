// Two processes joined by a plain libfabric endpoint pair: the loops that the ofi conduit is
// measured against. Same provider, same sizes, same completion (FI_DELIVERY_COMPLETE).
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace causeway::bench {

class OfiPair {
 public:
  // Gives the other process these bytes and returns the other's. Called by both at once.
  using Exchange = std::function<std::string(const std::string&)>;

  // `first` connects to the other. `memory` of `length` bytes can be reached by the other. Throws
  // std::runtime_error with libfabric's words.
  OfiPair(const std::string& provider, bool connected, bool first, void* memory, size_t length,
          const Exchange& exchange);
  ~OfiPair();
  OfiPair(const OfiPair&) = delete;
  OfiPair& operator=(const OfiPair&) = delete;

  // `count` operations one after the other, each complete before the next.
  void put_each(const void* source, size_t length, int count);
  void get_each(void* target, size_t length, int count);
  // As many, up to `window` of them at a time.
  void put_many(const void* source, size_t length, int count, int window);
  void get_many(void* target, size_t length, int count, int window);
  // `count` messages of `length` bytes there and back; the other side runs serve().
  void ping(size_t length, int count);
  // Answers messages and makes progress until stop() of the other side arrives.
  void serve();
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace causeway::bench
