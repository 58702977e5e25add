// How far the runs behind a figure lie apart, and between which bounds their median is known.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace causeway::bench {

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// All but `runs` are parts of the figure, so that they hold in whatever unit that is told.
struct Spread {
  unsigned runs = 0;         // repetitions or launches
  double low = 1, high = 1;  // the bounds of the median
  double mad = 0;            // the median of the distances from the figure
};

// How many of the sorted values at either end lie outside of the bounds of the median, with a
// confidence of 95 %: order statistics, which ask for no distribution. Each value lies below the
// true median with a chance of one half, so no more than so many of `runs` coins fall on heads in
// at most 2.5 % of all throws. 0: too few runs to say.
inline size_t outside_of_median(size_t runs) {
  const double n = static_cast<double>(runs);
  double tail = 0;
  for (size_t k = 0;; ++k) {
    const double heads = static_cast<double>(k);
    tail += std::exp(std::lgamma(n + 1) - std::lgamma(heads + 1) - std::lgamma(n - heads + 1) -
                     n * std::log(2));
    if (tail > 0.025 || k == runs) return k;
  }
}

// Around `figure`, which stands for them. Of fewer than six values the bounds are the least and the
// most of them. The figure lies within, also where it is that of a launch that its ratio chose.
inline Spread spread_of(std::vector<double> values, double figure) {
  if (values.size() < 2 || !(figure > 0)) return {};
  std::sort(values.begin(), values.end());
  const size_t outside = std::max<size_t>(outside_of_median(values.size()), 1);
  Spread out{static_cast<unsigned>(values.size()), std::min(values[outside - 1], figure) / figure,
             std::max(values[values.size() - outside], figure) / figure, 0};
  for (double& value : values) value = std::abs(value / figure - 1);
  out.mad = median(std::move(values));
  return out;
}

}  // namespace causeway::bench
