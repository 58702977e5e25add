#include "exchange.h"

#include <algorithm>
#include <cstring>

#include "handlers.h"

namespace wordfreq {
namespace {

constexpr uint32_t kWindow = 64;  // messages of one rank that may be unanswered
constexpr unsigned kPieceArguments = 7;

Exchange* exchange = nullptr;  // the one of this process, for its handlers

// A word in a message: this, then the letters.
struct Record {
  uint64_t count;
  uint32_t letters;
};
constexpr size_t kRecordBytes = sizeof(uint64_t) + sizeof(uint32_t);

void put_record(std::string& message, const std::string& word, uint64_t count) {
  const auto letters = static_cast<uint32_t>(word.size());
  message.append(reinterpret_cast<const char*>(&count), sizeof count);
  message.append(reinterpret_cast<const char*>(&letters), sizeof letters);
  message.append(word);
}

gex_AM_Arg_t high(uint64_t value) {
  return static_cast<gex_AM_Arg_t>(value >> 32);
}
gex_AM_Arg_t low(uint64_t value) {
  return static_cast<gex_AM_Arg_t>(value);
}
uint64_t join(gex_AM_Arg_t high_half, gex_AM_Arg_t low_half) {
  return static_cast<uint64_t>(static_cast<uint32_t>(high_half)) << 32 |
         static_cast<uint32_t>(low_half);
}

extern "C" {
void wordfreq_on_counts(gex_Token_t token, void* payload, size_t bytes) {
  exchange->receive(static_cast<const char*>(payload), bytes);
  gex_AM_ReplyShort0(token, kAnswer, 0);
}

void wordfreq_on_piece(gex_Token_t token, void* payload, size_t bytes, gex_AM_Arg_t word,
                       gex_AM_Arg_t total1, gex_AM_Arg_t total0, gex_AM_Arg_t offset1,
                       gex_AM_Arg_t offset0, gex_AM_Arg_t count1, gex_AM_Arg_t count0) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  exchange->receive_piece(info.gex_srcrank, static_cast<uint32_t>(word), join(total1, total0),
                          join(offset1, offset0), join(count1, count0),
                          static_cast<const char*>(payload), bytes);
  gex_AM_ReplyShort0(token, kAnswer, 0);
}

void wordfreq_on_answer(gex_Token_t) {
  exchange->answered();
}
}

}  // namespace

std::vector<gex_AM_Entry_t> Exchange::handlers() {
  const gex_Flags_t medium = GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST;
  return {handler(kCounts, wordfreq_on_counts, medium, 0, "counts"),
          handler(kPiece, wordfreq_on_piece, medium, kPieceArguments, "piece"),
          handler(kAnswer, wordfreq_on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, "answer")};
}

Exchange::Exchange(gex_TM_t team) : team_(team), buffer_(gex_TM_QuerySize(team)) {
  exchange = this;
  for (gex_Rank_t rank = 0; rank < gex_TM_QuerySize(team); ++rank)
    capacity_.push_back(gex_AM_MaxRequestMedium(team, rank, GEX_EVENT_NOW, 0, kPieceArguments));
}

Exchange::~Exchange() {
  exchange = nullptr;
}

// FNV-1a: the same on every rank.
uint32_t Exchange::owner_of(const std::string& word) const {
  uint64_t hash = 14695981039346656037u;
  for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return static_cast<uint32_t>(hash >> 32) % gex_TM_QuerySize(team_);
}

void Exchange::wait_for_window() {
  GASNET_BLOCKUNTIL(unanswered_ < kWindow);
}

void Exchange::send(uint32_t owner) {
  std::string& message = buffer_[owner];
  if (message.empty()) return;
  wait_for_window();
  unanswered_ = unanswered_ + 1;
  gex_AM_RequestMedium0(team_, owner, kCounts, message.data(), message.size(), GEX_EVENT_NOW, 0);
  message.clear();
}

void Exchange::send_pieces(uint32_t owner, const std::string& word, uint64_t count) {
  const auto number = static_cast<gex_AM_Arg_t>(long_words_++);
  const uint64_t total = word.size();
  for (uint64_t offset = 0; offset < total; offset += capacity_[owner]) {
    const size_t bytes = std::min<uint64_t>(capacity_[owner], total - offset);
    wait_for_window();
    unanswered_ = unanswered_ + 1;
    gex_AM_RequestMedium7(team_, owner, kPiece, word.data() + offset, bytes, GEX_EVENT_NOW, 0,
                          number, high(total), low(total), high(offset), low(offset), high(count),
                          low(count));
  }
}

void Exchange::append(uint32_t owner, const std::string& word, uint64_t count) {
  if (kRecordBytes + word.size() > capacity_[owner]) {
    send_pieces(owner, word, count);
    return;
  }
  if (buffer_[owner].size() + kRecordBytes + word.size() > capacity_[owner]) send(owner);
  put_record(buffer_[owner], word, count);
}

void Exchange::add(const Counts& counts) {
  for (const auto& [word, count] : counts) append(owner_of(word), word, count);
}

void Exchange::finish() {
  for (uint32_t owner = 0; owner < buffer_.size(); ++owner) send(owner);
  GASNET_BLOCKUNTIL(unanswered_ == 0);
}

void Exchange::receive(const char* bytes, size_t length) {
  const char* const end = bytes + length;
  while (bytes < end) {
    Record record;
    memcpy(&record.count, bytes, sizeof record.count);
    memcpy(&record.letters, bytes + sizeof record.count, sizeof record.letters);
    bytes += kRecordBytes;
    owned_[std::string(bytes, record.letters)] += record.count;
    bytes += record.letters;
  }
}

void Exchange::receive_piece(uint32_t from, uint32_t word, uint64_t total, uint64_t offset,
                             uint64_t count, const char* bytes, size_t length) {
  LongWord& arriving = arriving_[{from, word}];
  arriving.text.resize(total);
  memcpy(arriving.text.data() + offset, bytes, length);
  arriving.arrived += length;
  if (arriving.arrived < total) return;
  owned_[arriving.text] += count;
  arriving_.erase({from, word});
}

}  // namespace wordfreq
