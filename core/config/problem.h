// Problems: everything that is wrong with the configuration, collected so that one run names all.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/config.h"

namespace causeway {

struct Problem {
  Origin where;
  std::string message;
  std::string str() const;  // "file:line:col: message"
};

class Problems {
 public:
  void add(const Origin& where, std::string message) {
    list_.push_back({where, std::move(message)});
  }
  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  const std::vector<Problem>& list() const { return list_; }

  // Into the order in which a person meets them: by source as listed, line and column; each once.
  void sort(const std::vector<std::string>& source_order);

  // One per line; beyond `most`, a line that says how many more there are.
  std::string text(size_t most) const;

 private:
  std::vector<Problem> list_;
};

}  // namespace causeway
