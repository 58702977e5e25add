#include "base/warn_once.h"

#include <mutex>
#include <unordered_set>

namespace causeway {

bool is_first(const std::string& text) {
  // Never destroyed: calls may warn while the process ends.
  static auto& mutex = *new std::mutex;
  static auto& said = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  return said.insert(text).second;
}

}  // namespace causeway
