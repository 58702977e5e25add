#include "trace_file.h"

#include <algorithm>
#include <cstring>

#include "base/regular_file.h"
#include "text.h"

namespace causeway::command {
namespace {

// Makes a text of the header fit for any terminal and JSON.
void make_plain(char* text) {
  constexpr size_t kBytes = sizeof cwyt_header{}.job;
  static_assert(kBytes == sizeof cwyt_header{}.over && kBytes == sizeof cwyt_header{}.host);
  text[kBytes - 1] = '\0';
  plain(text).copy(text, kBytes - 1);
}

bool is_known(uint8_t operation) {
  return operation < kOperationNames.size() && kOperationNames[operation] != nullptr;
}

}  // namespace

void refuse_trace(const std::string& file, const std::string& why) {
  throw Error(CWY_ERR_INVALID, "{}: {}", file, why);
}

// Nothing in the file is believed: it may be anything, or end anywhere.
Trace read_trace(const std::string& file) {
  std::string why;
  const std::optional<std::string> text = read_regular_file(file, SIZE_MAX, why);
  if (!text) refuse_trace(file, why);
  Trace t;
  text->copy(reinterpret_cast<char*>(&t.header), sizeof t.header);
  const cwyt_header& h = t.header;
  if (text->size() < sizeof h || h.magic != CWYT_MAGIC || h.record_bytes != sizeof(cwyt_record) ||
      h.capacity == 0)
    refuse_trace(file, "is not a trace that this version reads");
  for (char* word : {t.header.job, t.header.over, t.header.host}) make_plain(word);
  // More than the option `size` admits, or any job does.
  if (h.capacity > (uint64_t{1} << 40) / sizeof(cwyt_record) || h.count >> 56 != 0)
    refuse_trace(file, "is damaged: nobody records that much");
  const uint64_t bytes = std::max<uint64_t>(text->size(), CWYT_HEADER_BYTES) - CWYT_HEADER_BYTES;
  const uint64_t kept = std::min(h.count, h.capacity), first = t.lost = h.count - kept;
  const uint64_t there = std::min<uint64_t>(bytes / sizeof(cwyt_record), kept);
  t.cut = kept - there;
  t.records.reserve(there);
  const auto take = [&](uint64_t place, uint64_t n) {
    cwyt_record r;
    std::memcpy(&r, text->data() + CWYT_HEADER_BYTES + place * sizeof r, sizeof r);
    if (r.generation == cwyt_generation(n, h.capacity) && is_known(r.operation))
      t.records.push_back(r);
    else
      ++t.unfinished;
  };
  const uint64_t oldest = first % h.capacity;  // its place
  for (uint64_t place = oldest; place < there; ++place) take(place, first + place - oldest);
  for (uint64_t place = 0; place < std::min(oldest, there); ++place)
    take(place, first + h.capacity - oldest + place);
  return t;
}

}  // namespace causeway::command
