#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "svg_matrix.h"
#include "text.h"
#include "trace_pictures.h"

namespace causeway::command {
namespace {

constexpr size_t kMostRows = 128;

// Bytes that went from one group of ranks to another.
class TrafficTable {
 public:
  explicit TrafficTable(uint32_t ranks)
      : each_((ranks + kMostRows - 1) / kMostRows),
        rows_((ranks + each_ - 1) / each_),
        ranks_(ranks),
        bytes_(rows_ * rows_),
        operations_(rows_ * rows_) {}

  void add(uint32_t from, uint32_t to, uint64_t bytes) {
    if (from >= ranks_ || to >= ranks_) return;  // a file may say anything
    const size_t at = from / each_ * rows_ + to / each_;
    bytes_[at] += bytes;
    ++operations_[at];
  }
  size_t rows() const { return rows_; }
  uint64_t bytes(size_t from, size_t to) const { return bytes_[from * rows_ + to]; }
  uint64_t operations(size_t from, size_t to) const { return operations_[from * rows_ + to]; }
  std::string label(size_t row) const {
    const size_t last = std::min<size_t>((row + 1) * each_, ranks_) - 1;
    return each_ == 1 ? fmt::format("rank {}", row) : fmt::format("{}-{}", row * each_, last);
  }

 private:
  size_t each_, rows_, ranks_;
  std::vector<uint64_t> bytes_, operations_;
};

constexpr const char* kShades[] = {"#eff3ff", "#d6e4f5", "#bdd7e7", "#94c4df",
                                   "#6baed6", "#4292c6", "#2171b5", "#08306b"};
constexpr size_t kDarkest = std::size(kShades) - 1;

// Shades by equal factors from the fewest bytes of any two ranks to the most.
struct Scale {
  uint64_t fewest = UINT64_MAX, most = 0;
  void include(uint64_t bytes) {
    most = std::max(most, bytes);
    if (bytes != 0) fewest = std::min(fewest, bytes);
  }
  // The fewest bytes of a shade.
  uint64_t begin(size_t shade) const {
    const double part = static_cast<double>(shade) / kDarkest;
    const double factor = static_cast<double>(most) / static_cast<double>(fewest);
    return static_cast<uint64_t>(
        std::llround(static_cast<double>(fewest) * std::pow(factor, part)));
  }
  size_t shade(uint64_t bytes) const {
    size_t out = kDarkest;
    while (out != 0 && bytes < begin(out)) --out;
    return out;
  }
};

bool reads(const cwyt_record& r) {
  return r.operation == number_of<&cwyc_ops::get>() || r.operation == number_of<&cwyc_ops::getv>();
}

}  // namespace

std::string trace_traffic(const std::vector<Trace>& traces) {
  uint32_t ranks = 1;
  for (const Trace& t : traces) ranks = std::max({ranks, t.header.size, t.header.rank + 1});
  TrafficTable traffic(ranks);
  for (const Trace& t : traces) {
    for (const cwyt_record& r : t.records) {
      if (!is_accepted(r) || r.operation >= CWYT_EVENTS) continue;
      const uint32_t own = t.header.rank;
      reads(r) ? traffic.add(r.peer, own, r.size) : traffic.add(own, r.peer, r.size);
    }
  }
  Scale scale;
  SvgMatrix picture;
  for (size_t from = 0; from < traffic.rows(); ++from) {
    picture.labels.push_back(traffic.label(from));
    for (size_t to = 0; to < traffic.rows(); ++to) scale.include(traffic.bytes(from, to));
  }
  picture.square = [&](size_t from, size_t to) -> SvgSquare {
    if (traffic.operations(from, to) == 0) return {};
    const uint64_t bytes = traffic.bytes(from, to);
    return {kShades[scale.shade(bytes)],
            fmt::format("{} to {}: {} bytes in {} operations", picture.labels[from],
                        picture.labels[to], bytes, traffic.operations(from, to))};
  };
  picture.legend = [&] {
    std::vector<SvgSquare> out;
    for (size_t shade = 0; shade <= kDarkest && scale.most != 0; ++shade)
      out.push_back({kShades[shade], fmt::format("from {} bytes", scale.begin(shade))});
    return out;
  };
  return svg_matrix(picture);
}

}  // namespace causeway::command
