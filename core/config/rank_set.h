// RankSet: "0-3,7,12-" as sorted, disjoint, inclusive ranges.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace causeway {

class RankSet {
 public:
  // "" is every rank. Throws Error(CWY_ERR_INVALID) saying what is wrong with `text`.
  static RankSet parse(const std::string& text);
  static RankSet of(const std::vector<uint32_t>& ranks);

  bool contains(uint32_t rank) const;
  bool covers(const RankSet& other) const;
  bool intersects(const RankSet& other) const;
  static RankSet union_of(const std::vector<const RankSet*>& sets);
  std::string str() const;

 private:
  void normalize();
  std::vector<std::pair<uint32_t, uint32_t>> ranges_;
};

}  // namespace causeway
