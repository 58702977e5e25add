// RanLines: the lines of the specification suites that ran, as executed.sh finds them.
#pragma once

#include <fstream>
#include <map>
#include <string>

class RanLines {
 public:
  // Lines "tests/spec/FILE:LINE WORD", where WORD is "ran", "not" or, where there is no code, "-".
  // The counts of several objects for one line are added. False when the file cannot be read.
  bool read(const std::string& path) {
    std::ifstream in(path);
    for (std::string place, word; in >> place >> word;) {
      const size_t colon = place.rfind(':');
      if (word == "-" || colon == std::string::npos) continue;
      bool& ran = files_[place.substr(0, colon)][std::stoul(place.substr(colon + 1))];
      ran = ran || word == "ran";
    }
    return !files_.empty();
  }

  // A line without code of its own belongs to the statement before it.
  bool has(const std::string& path, size_t line) const {
    const size_t from = path.rfind("tests/spec/");
    const auto file = files_.find(from == std::string::npos ? path : path.substr(from));
    if (file == files_.end()) return false;
    auto at = file->second.upper_bound(line);
    return at != file->second.begin() && (--at)->second;
  }

 private:
  std::map<std::string, std::map<size_t, bool>> files_;
};
