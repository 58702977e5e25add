#include "base/fields.h"

#include <charconv>

#include "base/error.h"

namespace causeway {

void put_field(std::string& out, std::string_view name, std::string_view value) {
  out += fmt::format("{} {} ", name, value.size());
  out += value;
  out += '\n';
}

std::pair<std::string_view, std::string_view> take_field(std::string_view& fields) {
  const size_t space = fields.find(' ');
  const size_t space2 = space == fields.npos ? space : fields.find(' ', space + 1);
  size_t length = SIZE_MAX;
  if (space2 != fields.npos)
    std::from_chars(fields.data() + space + 1, fields.data() + space2, length);
  if (space2 == fields.npos || length >= fields.size() - space2 - 1)
    throw Error(CWY_ERR_INVALID, "the word of a rank is garbled or cut short");
  const std::pair field{fields.substr(0, space), fields.substr(space2 + 1, length)};
  fields.remove_prefix(space2 + 1 + length + 1);
  return field;
}

}  // namespace causeway
