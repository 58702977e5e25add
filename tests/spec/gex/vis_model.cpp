#include "vis_model.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <sstream>

using spec::job;

namespace vis {

uint64_t base_seed() {
  const char* text = std::getenv("SPEC_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 0) : 20070322;
}

std::byte* arena(gex_Rank_t rank) {
  return spec::segment_of(rank, (size_t{1} << 20) + arena_bytes() * job().rank);
}
size_t arena_bytes() {
  const size_t share = (spec::segment_bytes() - (size_t{1} << 20)) / job().size;
  return std::min<size_t>(share & ~size_t{63}, size_t{1} << 20);
}

namespace {

gex_Event_t no_op_is_wrong(gex_Event_t event) {
  CHECK(event != GEX_EVENT_NO_OP);
  return event;
}

void wait_leaf_then_root(gex_Event_t root) {
  gex_Event_Wait(gex_Event_QueryLeaf(root, GEX_EC_LC));
  gex_Event_Wait(root);
}

// Cuts `total` into random lengths, some of them 0.
std::vector<size_t> cut(Random& random, size_t total) {
  std::vector<size_t> out;
  const size_t typical = random.chance(30) ? 9 : random.chance(50) ? 200 : 9000;
  for (size_t left = total; left != 0;) {
    const size_t n = random.chance(5) ? 0 : std::min(left, random.within(1, typical));
    out.push_back(n);
    left -= n;
  }
  if (out.empty()) out.push_back(0);
  return out;
}

// Places disjoint pieces of these lengths somewhere in the arena, in random order.
std::vector<Vector::Piece> scatter(Random& random, const std::vector<size_t>& lengths,
                                   size_t arena) {
  const size_t used = std::accumulate(lengths.begin(), lengths.end(), size_t{0});
  size_t spare = arena - used;
  std::vector<Vector::Piece> out;
  size_t at = 0;
  for (const size_t length : lengths) {
    // Never more than is left over: the pieces fit as long as they fit without gaps.
    const size_t gap = random.chance(30) ? 0 : random.below(std::min<size_t>(spare, 64) + 1);
    spare -= gap;
    at += gap;
    out.push_back({at, length});
    at += length;
  }
  if (random.chance(60)) {
    for (size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[random.below(i)]);
  }
  return out;
}

std::vector<Move> match(const std::vector<Vector::Piece>& dst,
                        const std::vector<Vector::Piece>& src) {
  std::vector<Move> out;
  size_t d = 0, s = 0, d_at = 0, s_at = 0;
  while (d < dst.size() && s < src.size()) {
    const size_t n = std::min(dst[d].length - d_at, src[s].length - s_at);
    if (n != 0) out.push_back({dst[d].at + d_at, src[s].at + s_at, n});
    d_at += n;
    s_at += n;
    if (d_at == dst[d].length) ++d, d_at = 0;
    if (s < src.size() && s_at == src[s].length) ++s, s_at = 0;
  }
  return out;
}

}  // namespace

// ---- in every mode ------------------------------------------------------------------------------

void Transfer::put(Mode mode, const Ends& ends) {
  Ends e = ends;
  aim(e.remote, e.local);
  switch (mode) {
    case Mode::blocking:
      CHECK_EQ(put_now(e), 0);
      break;
    case Mode::nb:
      gex_Event_Wait(no_op_is_wrong(put_nb(e)));
      break;
    case Mode::nbi:
      CHECK_EQ(put_nbi(e), 0);
      gex_NBI_Wait(GEX_EC_PUT, 0);
      break;
    case Mode::nb_leaf:
      e.flags |= GEX_FLAG_ENABLE_LEAF_LC;
      wait_leaf_then_root(no_op_is_wrong(put_nb(e)));
      break;
    case Mode::nbi_leaf:
      e.flags |= GEX_FLAG_ENABLE_LEAF_LC;
      CHECK_EQ(put_nbi(e), 0);
      gex_NBI_Wait(GEX_EC_LC, 0);
      gex_NBI_Wait(GEX_EC_PUT, 0);
      break;
  }
}

void Transfer::get(Mode mode, const Ends& ends) {
  aim(ends.local, ends.remote);
  switch (mode) {
    case Mode::blocking:
      CHECK_EQ(get_now(ends), 0);
      break;
    case Mode::nb:
    case Mode::nb_leaf:
      gex_Event_Wait(no_op_is_wrong(get_nb(ends)));
      break;
    case Mode::nbi:
    case Mode::nbi_leaf:
      CHECK_EQ(get_nbi(ends), 0);
      gex_NBI_Wait(GEX_EC_GET, 0);
      break;
  }
}

// ---- vector -------------------------------------------------------------------------------------

Vector::Vector(std::vector<Piece> dst, std::vector<Piece> src)
    : dst_(std::move(dst)), src_(std::move(src)) {
  moves_ = match(dst_, src_);
}

Vector Vector::random(Random& random, size_t arena, size_t most) {
  const size_t total = random.chance(5) ? 0 : random.within(1, most);
  std::vector<Piece> dst = scatter(random, cut(random, total), arena);
  std::vector<Piece> src = scatter(random, cut(random, total), arena);
  if (random.chance(20)) {  // sources may overlap each other
    for (Piece& p : src) p.at = random.below(arena - p.length + 1);
  }
  if (random.chance(15)) dst = {{random.below(arena - total + 1), total}};
  if (random.chance(15)) src = {{random.below(arena - total + 1), total}};
  return {std::move(dst), std::move(src)};
}

std::string Vector::text() const {
  std::ostringstream out;
  out << "vector, " << src_.size() << " pieces to " << dst_.size();
  return out.str();
}

void Vector::aim(std::byte* dst, std::byte* src) {
  dst_list_.clear();
  src_list_.clear();
  for (const Piece& p : dst_) dst_list_.push_back({dst + p.at, p.length});
  for (const Piece& p : src_) src_list_.push_back({src + p.at, p.length});
}
int Vector::put_now(const Ends& e) {
  return gex_VIS_VectorPutBlocking(e.tm, e.rank, dst_list_.size(), dst_list_.data(),
                                   src_list_.size(), src_list_.data(), e.flags);
}
gex_Event_t Vector::put_nb(const Ends& e) {
  return gex_VIS_VectorPutNB(e.tm, e.rank, dst_list_.size(), dst_list_.data(), src_list_.size(),
                             src_list_.data(), e.flags);
}
int Vector::put_nbi(const Ends& e) {
  return gex_VIS_VectorPutNBI(e.tm, e.rank, dst_list_.size(), dst_list_.data(), src_list_.size(),
                              src_list_.data(), e.flags);
}
int Vector::get_now(const Ends& e) {
  return gex_VIS_VectorGetBlocking(e.tm, dst_list_.size(), dst_list_.data(), e.rank,
                                   src_list_.size(), src_list_.data(), e.flags);
}
gex_Event_t Vector::get_nb(const Ends& e) {
  return gex_VIS_VectorGetNB(e.tm, dst_list_.size(), dst_list_.data(), e.rank, src_list_.size(),
                             src_list_.data(), e.flags);
}
int Vector::get_nbi(const Ends& e) {
  return gex_VIS_VectorGetNBI(e.tm, dst_list_.size(), dst_list_.data(), e.rank, src_list_.size(),
                              src_list_.data(), e.flags);
}

// ---- indexed ------------------------------------------------------------------------------------

Indexed::Indexed(std::vector<size_t> dst, size_t dst_length, std::vector<size_t> src,
                 size_t src_length)
    : dst_(std::move(dst)), src_(std::move(src)), dst_length_(dst_length), src_length_(src_length) {
  std::vector<Vector::Piece> to, from;
  for (const size_t at : dst_) to.push_back({at, dst_length_});
  for (const size_t at : src_) from.push_back({at, src_length_});
  moves_ = match(to, from);
}

Indexed Indexed::random(Random& random, size_t arena, size_t most) {
  constexpr size_t kLengths[] = {1, 2, 3, 4, 8, 16, 24, 32, 64, 100, 1000, 5000};
  const size_t a = random.within(1, 4), b = random.within(1, 4);
  size_t unit = most;
  while (unit * a * b > most) unit = kLengths[random.below(std::size(kLengths))];
  const size_t blocks = random.within(1, std::max<size_t>(most / (unit * a * b), 1));
  const auto places = [&](size_t count, size_t length, bool may_overlap) {
    std::vector<size_t> out;
    for (const Vector::Piece& p : scatter(random, std::vector<size_t>(count, length), arena))
      out.push_back(p.at);
    if (may_overlap)
      for (size_t& at : out) at = random.below(arena - length + 1);
    return out;
  };
  const bool one_dst = random.chance(15), one_src = random.chance(15);
  const size_t total = unit * a * b * blocks;
  const size_t dst_length = one_dst ? total : unit * a, src_length = one_src ? total : unit * b;
  return {places(total / dst_length, dst_length, false), dst_length,
          places(total / src_length, src_length, random.chance(20)), src_length};
}

std::string Indexed::text() const {
  std::ostringstream out;
  out << "indexed, " << src_.size() << " x " << src_length_ << " to " << dst_.size() << " x "
      << dst_length_;
  return out.str();
}

void Indexed::aim(std::byte* dst, std::byte* src) {
  dst_list_.clear();
  src_list_.clear();
  for (const size_t at : dst_) dst_list_.push_back(dst + at);
  for (const size_t at : src_) src_list_.push_back(src + at);
}
int Indexed::put_now(const Ends& e) {
  return gex_VIS_IndexedPutBlocking(e.tm, e.rank, dst_list_.size(), dst_list_.data(), dst_length_,
                                    src_list_.size(), src_list_.data(), src_length_, e.flags);
}
gex_Event_t Indexed::put_nb(const Ends& e) {
  return gex_VIS_IndexedPutNB(e.tm, e.rank, dst_list_.size(), dst_list_.data(), dst_length_,
                              src_list_.size(), src_list_.data(), src_length_, e.flags);
}
int Indexed::put_nbi(const Ends& e) {
  return gex_VIS_IndexedPutNBI(e.tm, e.rank, dst_list_.size(), dst_list_.data(), dst_length_,
                               src_list_.size(), src_list_.data(), src_length_, e.flags);
}
int Indexed::get_now(const Ends& e) {
  return gex_VIS_IndexedGetBlocking(e.tm, dst_list_.size(), dst_list_.data(), dst_length_, e.rank,
                                    src_list_.size(), src_list_.data(), src_length_, e.flags);
}
gex_Event_t Indexed::get_nb(const Ends& e) {
  return gex_VIS_IndexedGetNB(e.tm, dst_list_.size(), dst_list_.data(), dst_length_, e.rank,
                              src_list_.size(), src_list_.data(), src_length_, e.flags);
}
int Indexed::get_nbi(const Ends& e) {
  return gex_VIS_IndexedGetNBI(e.tm, dst_list_.size(), dst_list_.data(), dst_length_, e.rank,
                               src_list_.size(), src_list_.data(), src_length_, e.flags);
}

// ---- strided ------------------------------------------------------------------------------------

Strided::Strided(size_t dst, std::vector<ptrdiff_t> dst_strides, size_t src,
                 std::vector<ptrdiff_t> src_strides, size_t elem, std::vector<size_t> counts)
    : dst_(dst),
      src_(src),
      dst_strides_(std::move(dst_strides)),
      src_strides_(std::move(src_strides)),
      elem_(elem),
      counts_(std::move(counts)) {
  size_t elements = elem_ != 0;
  for (const size_t n : counts_) elements *= n;
  for (size_t e = 0; e < elements; ++e) {
    ptrdiff_t to = static_cast<ptrdiff_t>(dst_), from = static_cast<ptrdiff_t>(src_);
    size_t rest = e;
    for (size_t i = 0; i < counts_.size(); ++i) {
      const auto index = static_cast<ptrdiff_t>(rest % counts_[i]);
      rest /= counts_[i];
      to += index * dst_strides_[i];
      from += index * src_strides_[i];
    }
    moves_.push_back({static_cast<size_t>(to), static_cast<size_t>(from), elem_});
  }
}

namespace {

// Strides of dimensions that lie within one another in random order, some backwards; and the
// offset of the first element.
size_t lay_out(Random& random, size_t elem, const std::vector<size_t>& counts, size_t arena,
               bool tight, std::vector<ptrdiff_t>& strides) {
  std::vector<size_t> order(counts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (size_t i = order.size(); i > 1; --i)
    if (random.chance(40)) std::swap(order[i - 1], order[random.below(i)]);
  strides.assign(counts.size(), 0);
  size_t inside = elem, back = 0;
  for (const size_t i : order) {
    const bool roomy = !tight && !random.chance(40);
    const size_t stride = inside + (roomy ? random.below(24) : 0);
    const size_t reach = counts[i] != 0 ? stride * (counts[i] - 1) : 0;
    inside += reach;
    const bool backwards = random.chance(25);
    if (backwards) back += reach;
    strides[i] = backwards ? -static_cast<ptrdiff_t>(stride) : static_cast<ptrdiff_t>(stride);
  }
  if (inside > arena) return lay_out(random, elem, counts, arena, true, strides);
  return back + random.below(arena - inside + 1);
}

}  // namespace

Strided Strided::random(Random& random, size_t arena, size_t most) {
  constexpr size_t kElements[] = {1, 2, 3, 4, 7, 8, 16, 24, 32, 64, 65, 100, 512, 3000, 6000};
  const size_t elem = random.chance(3) ? 0 : kElements[random.below(std::size(kElements))];
  std::vector<size_t> counts(random.below(6));
  size_t product = std::max<size_t>(elem, 1);
  for (size_t& n : counts) {
    const size_t fits = std::max<size_t>(most / product, 1);
    n = random.chance(2) ? 0
                         : random.within(1, std::min<size_t>(fits, random.chance(20) ? 300 : 9));
    product *= std::max<size_t>(n, 1);
  }
  std::vector<ptrdiff_t> to, from;
  const size_t dst = lay_out(random, elem, counts, arena, random.chance(25), to);
  size_t src = lay_out(random, elem, counts, arena, random.chance(25), from);
  if (random.chance(10)) {  // a source that is read again and again
    for (ptrdiff_t& stride : from) stride = 0;
    src = random.below(arena - elem + 1);
  }
  return {dst, std::move(to), src, std::move(from), elem, std::move(counts)};
}

std::string Strided::text() const {
  std::ostringstream out;
  out << "strided, elements of " << elem_ << ", counts";
  for (const size_t n : counts_) out << ' ' << n;
  out << ", to";
  for (const ptrdiff_t n : dst_strides_) out << ' ' << n;
  out << ", from";
  for (const ptrdiff_t n : src_strides_) out << ' ' << n;
  return out.str();
}

struct Strided::Metadata {
  explicit Metadata(const Strided& s) : to(s.dst_strides_), from(s.src_strides_), n(s.counts_) {}
  ~Metadata() {
    std::fill(to.begin(), to.end(), 1);
    std::fill(from.begin(), from.end(), 1);
    std::fill(n.begin(), n.end(), 77);
  }
  std::vector<ptrdiff_t> to, from;
  std::vector<size_t> n;
};

void Strided::aim(std::byte* dst, std::byte* src) {
  dst_addr_ = dst + dst_;
  src_addr_ = src + src_;
}
int Strided::put_now(const Ends& e) {
  const Metadata m(*this);
  return gex_VIS_StridedPutBlocking(e.tm, e.rank, dst_addr_, m.to.data(), src_addr_, m.from.data(),
                                    elem_, m.n.data(), m.n.size(), e.flags);
}
gex_Event_t Strided::put_nb(const Ends& e) {
  const Metadata m(*this);
  return gex_VIS_StridedPutNB(e.tm, e.rank, dst_addr_, m.to.data(), src_addr_, m.from.data(), elem_,
                              m.n.data(), m.n.size(), e.flags);
}
int Strided::put_nbi(const Ends& e) {
  const Metadata m(*this);
  return gex_VIS_StridedPutNBI(e.tm, e.rank, dst_addr_, m.to.data(), src_addr_, m.from.data(),
                               elem_, m.n.data(), m.n.size(), e.flags);
}
int Strided::get_now(const Ends& e) {
  const Metadata m(*this);
  return gex_VIS_StridedGetBlocking(e.tm, dst_addr_, m.to.data(), e.rank, src_addr_, m.from.data(),
                                    elem_, m.n.data(), m.n.size(), e.flags);
}
gex_Event_t Strided::get_nb(const Ends& e) {
  const Metadata m(*this);
  return gex_VIS_StridedGetNB(e.tm, dst_addr_, m.to.data(), e.rank, src_addr_, m.from.data(), elem_,
                              m.n.data(), m.n.size(), e.flags);
}
int Strided::get_nbi(const Ends& e) {
  const Metadata m(*this);
  return gex_VIS_StridedGetNBI(e.tm, dst_addr_, m.to.data(), e.rank, src_addr_, m.from.data(),
                               elem_, m.n.data(), m.n.size(), e.flags);
}

// ---- comparison ---------------------------------------------------------------------------------

namespace {

bool same(const char* what, const Transfer& transfer, Mode mode, uint64_t seed,
          const std::vector<char>& expected, const char* actual) {
  if (std::memcmp(expected.data(), actual, expected.size()) == 0) return true;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == actual[i]) continue;
    std::ostringstream out;
    out << what << " in mode " << static_cast<int>(mode) << ", seed " << seed << ", "
        << transfer.text() << ": byte " << i << " of " << expected.size() << " differs";
    FAIL(out.str());
    return false;
  }
  return true;
}

}  // namespace

bool agrees(Transfer& transfer, const Ends& where, uint64_t seed, size_t arena_size,
            std::byte* local_arena) {
  std::vector<char> source(arena_size), before(arena_size), local(arena_size), got(arena_size);
  char* const near = local_arena != nullptr ? reinterpret_cast<char*>(local_arena) : local.data();
  Ends ends = where;
  const bool offsets = (where.flags & GEX_FLAG_SELF_SEG_OFFSET) != 0;
  if (!offsets) ends.local = reinterpret_cast<std::byte*>(near);
  std::byte* const far = arena(where.rank);
  spec::fill(source.data(), arena_size, seed);
  spec::fill(before.data(), arena_size, ~seed);
  std::vector<char> expected = before;
  for (const Move& m : transfer.moves())
    std::memcpy(expected.data() + m.dst, source.data() + m.src, m.length);
  for (const Mode mode : kModes) {
    std::memcpy(near, source.data(), arena_size);
    gex_RMA_PutBlocking(job().tm, where.rank, far, before.data(), arena_size, 0);
    transfer.put(mode, ends);
    gex_RMA_GetBlocking(job().tm, got.data(), where.rank, far, arena_size, 0);
    if (!same("put", transfer, mode, seed, expected, got.data())) return false;

    std::memcpy(near, before.data(), arena_size);
    gex_RMA_PutBlocking(job().tm, where.rank, far, source.data(), arena_size, 0);
    transfer.get(mode, ends);
    if (!same("get", transfer, mode, seed, expected, near)) return false;
  }
  return true;
}

}  // namespace vis
