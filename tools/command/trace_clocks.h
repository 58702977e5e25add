// Messages of several trace files, from sender to receiver, and one clock for all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "trace_file.h"

namespace causeway::command {

struct Message {
  size_t from_trace, sent;    // the sender's record
  size_t to_trace, received;  // the receiver's
};
// Pairs records of equal tags in the order of their times. Where a sender's oldest records were
// overwritten, the pairs are made from the end.
std::vector<Message> match_messages(const std::vector<Trace>& traces);

// The start of what a record tells, by the clock of its host.
inline uint64_t begin_of(const Trace& trace, const cwyt_record& record) {
  return trace.header.begin_ns + record.time_ns - record.duration_ns;
}

// Turns times of one host into those of the first trace's: exact at two times, and in between and
// beyond as if both clocks kept their pace.
struct HostClock {
  int64_t at[2] = {0, 1};     // ns, by the host's own clock
  int64_t ahead[2] = {0, 0};  // to be added then
  bool measured = true;       // false: no messages in both directions; by the time of day
  int64_t uncertain_ns = 0;   // half of what the messages leave open
  int64_t common(uint64_t own) const;
};
// By trace. Ranks of one host have one clock. Between hosts the ways of messages in both directions
// tell the difference: one by which none arrives before it was sent, and which changes evenly where
// no constant one does that.
std::vector<HostClock> common_clocks(const std::vector<Trace>& traces,
                                     const std::vector<Message>& messages);

}  // namespace causeway::command
