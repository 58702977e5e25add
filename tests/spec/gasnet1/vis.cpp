// Vector, indexed and strided forms: each call moves the right bytes to the right places and leaves
// the gaps alone. The machinery has tests of its own in tests/spec/gex; here the shapes count.
#include <gasnet_vis.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "gasnet1.h"

using spec::job;

namespace {

constexpr size_t kArea = size_t{9} << 20;
constexpr size_t kBytes = 4096;
constexpr unsigned kPieces = 12;

gasnet_node_t to() {
  return job().peer();
}
void meet() {
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
}

// What is written stands in an otherwise constant background.
using Image = std::vector<unsigned char>;
Image background() {
  return Image(kBytes, 0xEE);
}
unsigned char* remote() {
  return reinterpret_cast<unsigned char*>(spec::segment_of(to(), kArea));
}
unsigned char* own() {
  return reinterpret_cast<unsigned char*>(spec::my_segment(kArea));
}
unsigned char datum(gasnet_node_t node, size_t i) {
  return static_cast<unsigned char>(node * 31 + i * 7 + 1);
}

enum class How { blocking, nb, nbi };
constexpr How kWays[] = {How::blocking, How::nb, How::nbi};

// Runs one put in all three ways; `expect` says what the target's memory is to hold then.
template <typename Put, typename Expect>
void check_put(Put&& put, Expect&& expect) {
  for (const How how : kWays) {
    std::memset(own(), 0xEE, kBytes);
    meet();
    put(how);
    if (how == How::nbi) gasnet_wait_syncnbi_puts();
    meet();
    Image expected = background();
    expect(expected, job().behind());
    CHECK(std::equal(expected.begin(), expected.end(), own()));
    meet();
  }
}
// The same for a get into a local image.
template <typename Get, typename Expect>
void check_get(Get&& get, Expect&& expect) {
  for (size_t i = 0; i < kBytes; ++i) own()[i] = datum(job().rank, i);
  meet();
  for (const How how : kWays) {
    Image local = background();
    get(how, local.data());
    if (how == How::nbi) gasnet_wait_syncnbi_gets();
    Image expected = background();
    expect(expected);
    CHECK(local == expected);
  }
  meet();
}

// Pieces of growing length with gaps, and one run that has as many bytes.
struct Pieces {
  explicit Pieces(unsigned char* base) {
    size_t at = 3;
    for (unsigned i = 0; i < kPieces; ++i) {
      list.push_back({base + at, i});  // the first one is empty
      total += i;
      at += i + 5;
    }
  }
  std::vector<gasnet_memvec_t> list;
  size_t total = 0;
};

constexpr size_t kElement = 6, kStride = 16, kPlane = 128;
const size_t kCount[] = {kElement, 5, 3};          // bytes, rows, planes
const size_t kSpread[] = {kStride, kPlane};        // at the sparse end
const size_t kDense[] = {kElement, 5 * kElement};  // at the packed end
constexpr size_t kSection = kElement * 5 * 3;

template <typename Visit>
void each_element(Visit&& visit) {
  for (size_t plane = 0; plane < 3; ++plane)
    for (size_t row = 0; row < 5; ++row)
      for (size_t byte = 0; byte < kElement; ++byte)
        visit(plane * kPlane + row * kStride + byte, plane * 5 * kElement + row * kElement + byte);
}

}  // namespace

SPEC_CASE(vis, putv) {
  Pieces there(remote());
  std::vector<unsigned char> source(there.total);
  for (size_t i = 0; i < source.size(); ++i) source[i] = datum(job().rank, i);
  const gasnet_memvec_t run = {source.data(), there.total};
  check_put(
      [&](How how) {
        if (how == How::blocking)
          gasnet_putv_bulk(to(), kPieces, there.list.data(), 1, &run);
        else if (how == How::nb)
          gasnet_wait_syncnb(gasnet_putv_nb_bulk(to(), kPieces, there.list.data(), 1, &run));
        else
          gasnet_putv_nbi_bulk(to(), kPieces, there.list.data(), 1, &run);
      },
      [&](Image& expected, gasnet_node_t from) {
        size_t i = 0;
        for (const gasnet_memvec_t& piece : Pieces(expected.data()).list)
          for (size_t b = 0; b < piece.len; ++b)
            static_cast<unsigned char*>(piece.addr)[b] = datum(from, i++);
      });
}

SPEC_CASE(vis, getv) {
  check_get(
      [&](How how, unsigned char* local) {
        Pieces here(local);
        const gasnet_memvec_t run = {remote() + 100, here.total};
        if (how == How::blocking)
          gasnet_getv_bulk(kPieces, here.list.data(), to(), 1, &run);
        else if (how == How::nb)
          gasnet_wait_syncnb(gasnet_getv_nb_bulk(kPieces, here.list.data(), to(), 1, &run));
        else {
          gasnet_getv_nbi_bulk(kPieces, here.list.data(), to(), 1, &run);
          gasnet_wait_syncnbi_gets();  // the list must live until then
        }
      },
      [&](Image& expected) {
        size_t i = 100;
        for (const gasnet_memvec_t& piece : Pieces(expected.data()).list)
          for (size_t b = 0; b < piece.len; ++b)
            static_cast<unsigned char*>(piece.addr)[b] = datum(to(), i++);
      });
}

// Twelve pieces of 4 bytes at one end, three of 16 at the other.
SPEC_CASE(vis, puti) {
  std::vector<void*> dst, src;
  std::vector<unsigned char> source(48);
  for (size_t i = 0; i < 48; ++i) source[i] = datum(job().rank, i);
  for (size_t i = 0; i < 12; ++i) dst.push_back(remote() + 10 + i * 9);
  for (size_t i = 0; i < 3; ++i) src.push_back(source.data() + 16 * i);
  check_put(
      [&](How how) {
        if (how == How::blocking)
          gasnet_puti_bulk(to(), 12, dst.data(), 4, 3, src.data(), 16);
        else if (how == How::nb)
          gasnet_wait_syncnb(gasnet_puti_nb_bulk(to(), 12, dst.data(), 4, 3, src.data(), 16));
        else
          gasnet_puti_nbi_bulk(to(), 12, dst.data(), 4, 3, src.data(), 16);
      },
      [&](Image& expected, gasnet_node_t from) {
        for (size_t i = 0; i < 48; ++i) expected[10 + i / 4 * 9 + i % 4] = datum(from, i);
      });
}

SPEC_CASE(vis, geti) {
  std::vector<void*> src;
  for (size_t i = 0; i < 3; ++i) src.push_back(remote() + 200 * i);
  check_get(
      [&](How how, unsigned char* local) {
        std::vector<void*> dst;
        for (size_t i = 0; i < 12; ++i) dst.push_back(local + 10 + i * 9);
        if (how == How::blocking)
          gasnet_geti_bulk(12, dst.data(), 4, to(), 3, src.data(), 16);
        else if (how == How::nb)
          gasnet_wait_syncnb(gasnet_geti_nb_bulk(12, dst.data(), 4, to(), 3, src.data(), 16));
        else {
          gasnet_geti_nbi_bulk(12, dst.data(), 4, to(), 3, src.data(), 16);
          gasnet_wait_syncnbi_gets();
        }
      },
      [&](Image& expected) {
        for (size_t i = 0; i < 48; ++i)
          expected[10 + i / 4 * 9 + i % 4] = datum(to(), i / 16 * 200 + i % 16);
      });
}

SPEC_CASE(vis, puts) {
  std::vector<unsigned char> source(kSection);
  for (size_t i = 0; i < kSection; ++i) source[i] = datum(job().rank, i);
  check_put(
      [&](How how) {
        if (how == How::blocking)
          gasnet_puts_bulk(to(), remote(), kSpread, source.data(), kDense, kCount, 2);
        else if (how == How::nb)
          gasnet_wait_syncnb(
              gasnet_puts_nb_bulk(to(), remote(), kSpread, source.data(), kDense, kCount, 2));
        else
          gasnet_puts_nbi_bulk(to(), remote(), kSpread, source.data(), kDense, kCount, 2);
      },
      [&](Image& expected, gasnet_node_t from) {
        each_element([&](size_t sparse, size_t dense) { expected[sparse] = datum(from, dense); });
      });
}

SPEC_CASE(vis, gets) {
  check_get(
      [&](How how, unsigned char* local) {
        if (how == How::blocking)
          gasnet_gets_bulk(local, kDense, to(), remote(), kSpread, kCount, 2);
        else if (how == How::nb)
          gasnet_wait_syncnb(
              gasnet_gets_nb_bulk(local, kDense, to(), remote(), kSpread, kCount, 2));
        else
          gasnet_gets_nbi_bulk(local, kDense, to(), remote(), kSpread, kCount, 2);
      },
      [&](Image& expected) {
        each_element([&](size_t sparse, size_t dense) { expected[dense] = datum(to(), sparse); });
      });
}

// No strides: a copy of count[0] bytes. Any count of 0: nothing.
SPEC_CASE(vis, strided_degenerate) {
  unsigned char source[64];
  for (size_t i = 0; i < sizeof source; ++i) source[i] = datum(job().rank, i);
  std::memset(own(), 0xEE, kBytes);
  meet();
  const size_t plain[] = {50};
  gasnet_puts_bulk(to(), remote(), nullptr, source, nullptr, plain, 0);
  const size_t nothing[] = {8, 0, 2}, none[] = {0, 3, 2};
  gasnet_puts_bulk(to(), remote() + 100, kSpread, source, kDense, nothing, 2);
  gasnet_puts_bulk(to(), remote() + 100, kSpread, source, kDense, none, 2);
  gasnet_wait_syncnb(gasnet_gets_nb_bulk(source, kDense, to(), remote(), kSpread, nothing, 2));
  // All other arguments of a transfer of nothing are ignored.
  gasnet_puts_bulk(1000000, nullptr, nullptr, nullptr, nullptr, nothing, 2);
  gasnet_gets_nbi_bulk(nullptr, nullptr, 1000000, nullptr, nullptr, none, 2);
  gasnet_putv_bulk(1000000, 0, nullptr, 0, nullptr);
  gasnet_geti_bulk(0, nullptr, 8, 1000000, 0, nullptr, 8);
  gasnet_wait_syncnbi_all();
  meet();
  Image expected = background();
  for (size_t i = 0; i < 50; ++i) expected[i] = datum(job().behind(), i);
  CHECK(std::equal(expected.begin(), expected.end(), own()));
  meet();
}

// Inside an access region, they belong to it.
SPEC_CASE(vis, regions) {
  unsigned char source[32];
  for (size_t i = 0; i < sizeof source; ++i) source[i] = datum(job().rank, i);
  std::memset(own(), 0xEE, kBytes);
  meet();
  const gasnet_memvec_t from = {source, 32}, there = {remote() + 8, 32};
  gasnet_begin_nbi_accessregion();
  gasnet_putv_nbi_bulk(to(), 1, &there, 1, &from);
  gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
  meet();
  for (size_t i = 0; i < 32; ++i) CHECK_EQ(own()[8 + i], datum(job().behind(), i));
  meet();
}
