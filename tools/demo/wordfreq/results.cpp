#include "results.h"

#include <algorithm>
#include <cstring>

#include "handlers.h"

namespace wordfreq {
namespace {

constexpr size_t kPartBytes = Results::kSegmentBytes - sizeof(Results::Header);

Results* results = nullptr;  // the one of this process, for its handlers

extern "C" {
void wordfreq_on_refill(gex_Token_t token, gex_AM_Arg_t high, gex_AM_Arg_t low) {
  results->refill(static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 |
                  static_cast<uint32_t>(low));
  gex_AM_ReplyShort0(token, kRefilled, 0);
}
void wordfreq_on_refilled(gex_Token_t) {
  results->refilled();
}
}

void put_entry(std::string& bytes, const Entry& entry) {
  const uint64_t letters = entry.word.size();
  bytes.append(reinterpret_cast<const char*>(&entry.count), sizeof entry.count);
  bytes.append(reinterpret_cast<const char*>(&letters), sizeof letters);
  bytes.append(entry.word);
}

}  // namespace

bool comes_before(const Entry& a, const Entry& b) {
  return a.count != b.count ? a.count > b.count : a.word < b.word;
}

std::vector<Entry> most_frequent(std::vector<Entry> entries, size_t top) {
  const size_t kept = top == 0 ? entries.size() : std::min(top, entries.size());
  const auto end = entries.begin() + static_cast<std::ptrdiff_t>(kept);
  std::partial_sort(entries.begin(), end, entries.end(), comes_before);
  entries.resize(kept);
  return entries;
}

std::vector<gex_AM_Entry_t> Results::handlers() {
  return {
      handler(kRefill, wordfreq_on_refill, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, "refill"),
      handler(kRefilled, wordfreq_on_refilled, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0,
              "refilled")};
}

Results::Results(gex_TM_t team, const Counts& owned, size_t top)
    : team_(team), own_segment_(segment_of(gex_TM_QueryRank(team))) {
  results = this;
  std::vector<Entry> entries;
  for (const auto& [word, count] : owned) {
    entries.push_back({word, count});
    header_.words += count;
  }
  header_.distinct = entries.size();
  for (const Entry& entry : most_frequent(std::move(entries), top)) put_entry(bytes_, entry);
  header_.bytes = bytes_.size();
}

Results::~Results() {
  results = nullptr;
}

char* Results::segment_of(uint32_t rank) const {
  void* address = nullptr;
  gex_Segment_QueryBound(team_, rank, &address, nullptr, nullptr);
  return static_cast<char*>(address);
}

void Results::publish() {
  const gex_Rank_t me = gex_TM_QueryRank(team_);
  const size_t first = std::min(bytes_.size(), kPartBytes);
  gex_RMA_PutBlocking(team_, me, own_segment_, &header_, sizeof header_, 0);
  if (first > 0)
    gex_RMA_PutBlocking(team_, me, own_segment_ + sizeof header_, bytes_.data(), first, 0);
}

// In a handler, where puts are forbidden: the segment is this rank's own memory.
void Results::refill(uint64_t offset) {
  const size_t part = std::min<uint64_t>(kPartBytes, bytes_.size() - offset);
  memcpy(own_segment_ + sizeof header_, bytes_.data() + offset, part);
}

void Results::fetch(uint32_t owner, std::vector<Entry>& entries, Header& totals) {
  char* const segment = segment_of(owner);
  Header header;
  gex_RMA_GetBlocking(team_, &header, owner, segment, sizeof header, 0);
  totals.words += header.words;
  totals.distinct += header.distinct;
  std::string bytes(header.bytes, '\0');
  for (uint64_t offset = 0; offset < header.bytes; offset += kPartBytes) {
    if (offset > 0) {
      const uint64_t refills = refills_;
      gex_AM_RequestShort2(team_, owner, kRefill, 0, static_cast<gex_AM_Arg_t>(offset >> 32),
                           static_cast<gex_AM_Arg_t>(offset));
      GASNET_BLOCKUNTIL(refills_ == refills + 1);
    }
    const size_t part = std::min<uint64_t>(kPartBytes, header.bytes - offset);
    gex_RMA_GetBlocking(team_, bytes.data() + offset, owner, segment + sizeof header, part, 0);
  }
  for (Entry& entry : parse(bytes)) entries.push_back(std::move(entry));
}

std::vector<Entry> Results::parse(const std::string& bytes) const {
  std::vector<Entry> entries;
  for (size_t at = 0; at < bytes.size();) {
    uint64_t count, letters;
    memcpy(&count, bytes.data() + at, sizeof count);
    memcpy(&letters, bytes.data() + at + sizeof count, sizeof letters);
    at += sizeof count + sizeof letters;
    entries.push_back({bytes.substr(at, letters), count});
    at += letters;
  }
  return entries;
}

}  // namespace wordfreq
