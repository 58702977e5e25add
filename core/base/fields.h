// Fields: texts of any bytes with names, one behind the other, as ranks tell them each other.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace causeway {

void put_field(std::string& out, std::string_view name, std::string_view value);
// The name and the value of the first field of `fields`, which loses it. Throws Error: there is
// none that is whole.
std::pair<std::string_view, std::string_view> take_field(std::string_view& fields);

}  // namespace causeway
