// Names of hosts for people: "login, node[001-064,070]".
#pragma once

#include <string>
#include <vector>

namespace causeway::command {

// Names that differ in their last number only are drawn together, as schedulers write them.
std::string host_list(std::vector<std::string> names);

}  // namespace causeway::command
