// The library's public header. Its users never see GASNet's headers, so whatever belongs to GASNet
// is a void* here, and the runtime casts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "future.hpp"

namespace futures {

struct team {
  void* handle = nullptr;
  int rank = 0, size = 0;
};

struct counters {
  void* handle = nullptr;
};

void init(int* argc, char*** argv, std::size_t segment_bytes);
void finalize(int status);  // never returns
[[noreturn]] void die(const char* what);

const team& world();
team split(const team& parent, int color, int key);
void destroy(team& t);
future<unit> barrier(const team& t);

// Addresses are offsets into the segment of a rank of the world.
void* local(std::size_t offset);
future<unit> rput(int rank, std::size_t offset, const void* from, std::size_t bytes);
future<unit> rget(void* into, int rank, std::size_t offset, std::size_t bytes);

counters make_counters(const team& t);
void destroy(counters& c);
future<std::uint64_t> fetch_add(const counters& c, int rank, std::size_t offset, std::uint64_t by);

typedef std::int64_t (*function)(std::int64_t);
future<std::int64_t> rpc(int rank, function f, std::int64_t argument);

}  // namespace futures
