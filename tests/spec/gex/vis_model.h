// A naive model of vector, indexed and strided transfers: a list of (destination, source, length)
// moves, applied byte by byte to copies of the memory, against which the library's result is held.
#pragma once

#include <gasnet_vis.h>

#include <cstring>
#include <string>
#include <vector>

#include "../harness.h"

namespace vis {

// splitmix64: the same numbers everywhere for one seed.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  size_t below(size_t n) { return static_cast<size_t>(next() % n); }
  size_t within(size_t least, size_t most) { return least + below(most - least + 1); }
  bool chance(unsigned percent) { return below(100) < percent; }

 private:
  uint64_t state_;
};

// SPEC_SEED chooses another run; every failure names the seed.
uint64_t base_seed();

struct Move {
  size_t dst, src, length;
};

enum class Mode { blocking, nb, nbi, nb_leaf, nbi_leaf };
constexpr Mode kModes[] = {Mode::blocking, Mode::nb, Mode::nbi, Mode::nb_leaf, Mode::nbi_leaf};

// Where the two ends of a call begin: addresses, or NULL where offsets are passed as such.
struct Ends {
  gex_TM_t tm;
  gex_Rank_t rank;
  std::byte* local;
  std::byte* remote;
  gex_Flags_t flags = 0;
};

// One transfer: what is to move, in arena offsets, and how to ask the library for it.
class Transfer {
 public:
  virtual ~Transfer() = default;
  virtual std::string text() const = 0;
  // Asks in the given mode and waits until all is complete.
  void put(Mode mode, const Ends& ends);
  void get(Mode mode, const Ends& ends);
  const std::vector<Move>& moves() const { return moves_; }

 protected:
  virtual void aim(std::byte* dst, std::byte* src) = 0;
  virtual int put_now(const Ends& e) = 0;
  virtual gex_Event_t put_nb(const Ends& e) = 0;
  virtual int put_nbi(const Ends& e) = 0;
  virtual int get_now(const Ends& e) = 0;
  virtual gex_Event_t get_nb(const Ends& e) = 0;
  virtual int get_nbi(const Ends& e) = 0;
  std::vector<Move> moves_;
};

class Vector : public Transfer {
 public:
  struct Piece {
    size_t at, length;
  };
  Vector(std::vector<Piece> dst, std::vector<Piece> src);
  static Vector random(Random& random, size_t arena, size_t most);
  std::string text() const override;

 private:
  void aim(std::byte* dst, std::byte* src) override;
  int put_now(const Ends& e) override;
  gex_Event_t put_nb(const Ends& e) override;
  int put_nbi(const Ends& e) override;
  int get_now(const Ends& e) override;
  gex_Event_t get_nb(const Ends& e) override;
  int get_nbi(const Ends& e) override;
  std::vector<Piece> dst_, src_;
  std::vector<gex_Memvec_t> dst_list_, src_list_;
};

class Indexed : public Transfer {
 public:
  Indexed(std::vector<size_t> dst, size_t dst_length, std::vector<size_t> src, size_t src_length);
  static Indexed random(Random& random, size_t arena, size_t most);
  std::string text() const override;

 private:
  void aim(std::byte* dst, std::byte* src) override;
  int put_now(const Ends& e) override;
  gex_Event_t put_nb(const Ends& e) override;
  int put_nbi(const Ends& e) override;
  int get_now(const Ends& e) override;
  gex_Event_t get_nb(const Ends& e) override;
  int get_nbi(const Ends& e) override;
  std::vector<size_t> dst_, src_;
  size_t dst_length_, src_length_;
  std::vector<void*> dst_list_, src_list_;
};

class Strided : public Transfer {
 public:
  // Offsets of the first element, strides and counts as the call takes them.
  Strided(size_t dst, std::vector<ptrdiff_t> dst_strides, size_t src,
          std::vector<ptrdiff_t> src_strides, size_t elem, std::vector<size_t> counts);
  static Strided random(Random& random, size_t arena, size_t most);
  std::string text() const override;

 private:
  // Metadata that lives for the call only: the call must have consumed it.
  struct Metadata;
  void aim(std::byte* dst, std::byte* src) override;
  int put_now(const Ends& e) override;
  gex_Event_t put_nb(const Ends& e) override;
  int put_nbi(const Ends& e) override;
  int get_now(const Ends& e) override;
  gex_Event_t get_nb(const Ends& e) override;
  int get_nbi(const Ends& e) override;
  size_t dst_, src_;
  std::vector<ptrdiff_t> dst_strides_, src_strides_;
  size_t elem_;
  std::vector<size_t> counts_;
  std::byte *dst_addr_ = nullptr, *src_addr_ = nullptr;
};

// This rank's part of the segment of `rank`, and its size.
std::byte* arena(gex_Rank_t rank);
size_t arena_bytes();

// Puts and gets the transfer between local memory and the arena at ends.rank in every mode, and
// compares all bytes of the arena with the model. False, with a failure reported, when one differs.
// ends.local is ignored unless `local_arena` names memory to use.
bool agrees(Transfer& transfer, const Ends& ends, uint64_t seed, size_t arena_size,
            std::byte* local_arena = nullptr);

}  // namespace vis
