// The text form of settings: "path.to.key=value[,path=value]" in CAUSEWAY_SET and --set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/document.h"

namespace causeway {

// Splits at commas outside brackets, braces and quotes. Outside of those, `\,` is a comma that
// does not split and `\\` a backslash. Blanks around an item and empty items are dropped.
std::vector<std::string> split_sets(const std::string& text);

// The inverse for one item: the text that split_sets() turns into exactly `item`. For a launcher
// that passes its flags on through CAUSEWAY_SET.
std::string escape_set(const std::string& item);

// An item as a document of its own, every position of which reads "<label>: <item>". A value that
// begins with [ { " or ' is YAML; `null` and `~` are null; anything else is itself, so that `*` and
// `#` need no quotes here. On a problem: nullopt.
std::optional<Node> parse_set(const std::string& item, const std::string& label,
                              Problems& problems);

}  // namespace causeway
