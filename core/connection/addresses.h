// Addresses: what a rank has opened, by name, and how it is addressed there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace causeway {

class Addresses {
 public:
  // `name` is not there yet.
  void add(std::string_view name, std::string_view address) { all_.emplace_back(name, address); }
  // Valid as long as this object is and nothing is added.
  std::optional<std::string_view> find(std::string_view name) const {
    for (const auto& [known, address] : all_)
      if (known == name) return address;
    return std::nullopt;
  }
  // In the order in which they were added.
  const std::vector<std::pair<std::string, std::string>>& all() const { return all_; }
  // "self shm ".
  std::string list() const {
    std::string out;
    for (const auto& [name, address] : all_) out += name + ' ';
    return out;
  }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

}  // namespace causeway
