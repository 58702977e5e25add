#include "trace_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error.h"
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
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse_trace(file, std::strerror(errno));
  Trace t;
  in.read(reinterpret_cast<char*>(&t.header), sizeof t.header);
  const cwyt_header& h = t.header;
  if (!in || h.magic != CWYT_MAGIC || h.record_bytes != sizeof(cwyt_record) || h.capacity == 0) {
    refuse_trace(file, "is not a trace that this version reads");
  }
  for (char* text : {t.header.job, t.header.over, t.header.host}) make_plain(text);
  in.seekg(0, std::ios::end);
  const auto bytes = static_cast<uint64_t>(std::max<std::streamoff>(in.tellg(), CWYT_HEADER_BYTES));
  const uint64_t there =
      std::min((bytes - CWYT_HEADER_BYTES) / sizeof(cwyt_record), std::min(h.count, h.capacity));
  in.seekg(CWYT_HEADER_BYTES);
  std::vector<cwyt_record> ring(there);
  in.read(reinterpret_cast<char*>(ring.data()),
          static_cast<std::streamsize>(there * sizeof(cwyt_record)));
  if (!in && there != 0) refuse_trace(file, "cannot be read to its end");
  const uint64_t first = h.count > h.capacity ? h.count - h.capacity : 0;
  t.records.reserve(there);
  for (uint64_t n = first; n < h.count; ++n) {
    const uint64_t place = n % h.capacity;
    if (place >= there) {
      ++t.cut;
      continue;
    }
    const cwyt_record& r = ring[place];
    if (r.generation == cwyt_generation(n, h.capacity) && is_known(r.operation)) {
      t.records.push_back(r);
    } else {
      ++t.unfinished;
    }
  }
  return t;
}

}  // namespace causeway::command
