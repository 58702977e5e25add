// Results: each owner lays its most frequent words out in its segment; rank 0 fetches them with
// one-sided gets.
//
// The segment is a window over an owner's results, which may be longer than it: a header, then
// bytes. An owner puts the first part there itself; rank 0 asks for further parts by message.
#pragma once

#include <gasnetex.h>

#include <string>
#include <vector>

#include "text.h"

namespace wordfreq {

struct Entry {
  std::string word;
  uint64_t count;
};

// The order of `sort -k1,1nr -k2,2`: by count downwards, then by word in bytes.
bool comes_before(const Entry& a, const Entry& b);
// The first `top` entries in that order; 0 stands for all.
std::vector<Entry> most_frequent(std::vector<Entry> entries, size_t top);

class Results {
 public:
  static std::vector<gex_AM_Entry_t> handlers();
  static constexpr size_t kSegmentBytes = 1 << 20;

  struct Header {
    uint64_t words;     // all occurrences
    uint64_t distinct;  // different words
    uint64_t bytes;     // of the results that follow, in parts
  };

  Results(gex_TM_t team, const Counts& owned, size_t top);
  ~Results();

  // Puts the header and the first part into this rank's own segment.
  void publish();
  // Rank 0: appends the owner's entries and adds its totals. All must have published.
  void fetch(uint32_t owner, std::vector<Entry>& entries, Header& totals);

  // Called by handlers.
  void refill(uint64_t offset);
  void refilled() { refills_ = refills_ + 1; }

 private:
  char* segment_of(uint32_t rank) const;
  std::vector<Entry> parse(const std::string& bytes) const;

  gex_TM_t team_;
  Header header_{};
  std::string bytes_;  // this rank's results
  char* own_segment_;
  volatile uint64_t refills_ = 0;
};

}  // namespace wordfreq
