// Addresses: what a rank has opened, by name, and how it is addressed there. There is one such list
// for every rank of a job, so the names, which most ranks have in common, are kept once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace causeway {

class Addresses {
 public:
  // `name` is not there yet.
  void add(const std::string& name, std::string_view address);
  // Valid as long as this object is and nothing is added.
  std::optional<std::string_view> find(std::string_view name) const;
  // By number; names in the order in which they were added.
  const std::vector<std::string>& names() const { return *names_; }
  std::string_view at(size_t index) const;
  bool empty() const { return names_->empty(); }
  // "self shm ".
  std::string list() const;

  // Takes over the names of `other` where they are the same, and gives back what is not needed.
  void share(const Addresses& other);
  // The bytes that this object holds of its own.
  const std::string& packed() const { return packed_; }

 private:
  using Length = uint32_t;

  std::shared_ptr<std::vector<std::string>> names_ = std::make_shared<std::vector<std::string>>();
  std::string packed_;  // of each name in turn: Length, bytes
};

}  // namespace causeway
