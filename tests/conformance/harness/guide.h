// guide: where a case's promise is written, and what of the plugin keeps it.
#pragma once

#include <string>

namespace causeway::conformance {

// Two indented lines for the case of that name; "" for names that are no case's.
std::string guide(const std::string& case_name);

}  // namespace causeway::conformance
