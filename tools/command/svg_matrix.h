// A picture of a table of squares with a row and a column for each host or rank, as SVG.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace causeway::command {

// The colours of all pictures, in this order.
inline constexpr const char* kPalette[] = {"#4e79a7", "#f28e2b", "#59a14f", "#b07aa1",
                                           "#edc948", "#76b7b2", "#9c755f", "#ff9da7"};

// With the characters that XML takes for its own replaced.
std::string xml_text(const std::string& text);

struct SvgSquare {
  std::string colour;  // "#4e79a7"; empty: no square
  std::string text;    // shown where the pointer rests, or beside a square of the legend
};
struct SvgMatrix {
  std::vector<std::string> labels;  // of the rows from above, and of the columns
  std::function<SvgSquare(size_t row, size_t column)> square;
  std::function<std::vector<SvgSquare>()> legend;  // called last
};
std::string svg_matrix(const SvgMatrix& matrix);

}  // namespace causeway::command
