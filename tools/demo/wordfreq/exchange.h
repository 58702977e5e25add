// Exchange: every word's counts reach the rank that owns the word.
//
// Counts travel in medium active messages, many words to a message. Every message is answered by
// a short reply once the owner has added it to its table; a rank sends while fewer than a window
// of its messages are unanswered, and knows that its counts have arrived when none is.
#pragma once

#include <gasnetex.h>

#include <map>
#include <string>
#include <vector>

#include "text.h"

namespace wordfreq {

class Exchange {
 public:
  // The handlers of this client, for one gex_EP_RegisterHandlers call. One exchange per process.
  static std::vector<gex_AM_Entry_t> handlers();

  explicit Exchange(gex_TM_t team);
  ~Exchange();

  // Sends the counts on their way to the owners.
  void add(const Counts& counts);
  // Returns when every message of this rank has been counted by its owner.
  void finish();

  // The words that this rank owns. Complete once every rank has finished.
  const Counts& owned() const { return owned_; }

  // Called by handlers.
  void receive(const char* bytes, size_t length);
  void receive_piece(uint32_t from, uint32_t word, uint64_t total, uint64_t offset, uint64_t count,
                     const char* bytes, size_t length);
  void answered() { unanswered_ = unanswered_ - 1; }

 private:
  // A word too long for one message, while its pieces arrive (in any order).
  struct LongWord {
    std::string text;
    uint64_t arrived = 0;
  };

  uint32_t owner_of(const std::string& word) const;
  void append(uint32_t owner, const std::string& word, uint64_t count);
  void send(uint32_t owner);
  void send_pieces(uint32_t owner, const std::string& word, uint64_t count);
  void wait_for_window();

  gex_TM_t team_;
  std::vector<size_t> capacity_;     // of a message to each rank
  std::vector<std::string> buffer_;  // the message being filled for each rank
  volatile uint32_t unanswered_ = 0;
  uint32_t long_words_ = 0;  // sent by this rank
  Counts owned_;
  std::map<std::pair<uint32_t, uint32_t>, LongWord> arriving_;  // by sender and its numbering
};

}  // namespace wordfreq
