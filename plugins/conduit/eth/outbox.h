// Units that wait to leave over a stream.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace causeway::eth {

struct Chunk;
struct Ticket;

// Bytes in one place. Lines of their own: what a thread writes at every send lies beside nothing
// that others read.
struct alignas(64) Piece {
  const char* data = nullptr;
  size_t length = 0;
  Ticket* ticket = nullptr;  // hears that they have left
  Chunk* chunk = nullptr;    // goes back to the pool behind them
  bool segment = false;      // memory of the client's that peers may read
};

// Small things are copied into a chunk, one behind the other; large ones stay where they are.
struct Outbox {
  std::vector<Piece> pieces;  // those before `first` have left; it keeps its room
  size_t first = 0;
  size_t bytes = 0;    // of all that wait
  size_t counted = 0;  // of them, those that the account of datagrams has as left already
  Chunk* chunk = nullptr;
  size_t fill = 0;       // of the chunk
  bool blocked = false;  // the socket takes nothing more for now: epoll tells
  bool broken = false;   // nor ever again; what came the other way is read yet
  std::vector<std::unique_ptr<char[]>> copies;  // of segments that were released meanwhile
  bool empty() const { return first == pieces.size(); }
};

}  // namespace causeway::eth
