#include "svg_matrix.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/shown_text.h"
#include "characters.h"
#include "text.h"

namespace causeway::command {
namespace {

constexpr size_t kLine = 16;  // pixels

std::string words(size_t x, size_t y, const std::string& more, const std::string& text) {
  return fmt::format("<text x=\"{}\" y=\"{}\"{}>{}</text>\n", x, y, more, xml_text(text));
}

std::string squares(const SvgMatrix& matrix, size_t left, size_t side) {
  std::string out;
  for (size_t row = 0; row < matrix.labels.size(); ++row) {
    const size_t at = left + row * side;
    const std::string turned =
        fmt::format(" transform=\"translate({},{}) rotate(-90)\"", at + side / 2 + 4, left - 6);
    out += words(left - 6, at + side / 2 + 4, " text-anchor=\"end\"", matrix.labels[row]);
    out += words(0, 0, turned, matrix.labels[row]);
    for (size_t column = 0; column < matrix.labels.size(); ++column) {
      const SvgSquare square = matrix.square(row, column);
      if (square.colour.empty()) continue;
      out += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\">"
          "<title>{}</title></rect>\n",
          left + column * side, at, side - 1, side - 1, square.colour, xml_text(square.text));
    }
  }
  return out;
}

}  // namespace

std::string xml_text(const std::string& text) {
  std::string out;
  for (const char c : in_characters(text)) {
    const char* const name = c == '&'   ? "&amp;"
                             : c == '<' ? "&lt;"
                             : c == '>' ? "&gt;"
                             : c == '"' ? "&quot;"
                                        : nullptr;
    name != nullptr ? out += name : out += is_control(c) ? '?' : c;
  }
  return out;
}

std::string svg_matrix(const SvgMatrix& matrix) {
  const size_t count = std::max<size_t>(matrix.labels.size(), 1);
  size_t longest = 0;
  for (const std::string& label : matrix.labels) longest = std::max(longest, label.size());
  const size_t left = 20 + longest * 8, side = std::clamp<size_t>(640 / count, 14, 40);
  const std::string drawn = squares(matrix, left, side);
  std::string legend;
  size_t y = left + count * side + 2 * kLine;
  for (const SvgSquare& entry : matrix.legend()) {
    legend += fmt::format("<rect x=\"10\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n",
                          y - 10, entry.colour);
    for (const std::string& line : folded(entry.text, 90)) {
      legend += words(30, y, "", line);
      y += kLine;
    }
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\"><rect width=\"{0}\" height=\"{1}\" "
      "fill=\"#fff\"/>\n{2}{3}</svg>\n",
      std::max<size_t>(left + count * side + 20, 640), y, drawn, legend);
}

}  // namespace causeway::command
