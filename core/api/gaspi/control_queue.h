// ControlQueue: control messages on their way out, and control messages that come in piece by
// piece.
//
// A link may deliver active messages in any order (rails, chaos). So control messages are numbered
// for each process that they go to, and a control message that arrives early is held until those
// before it have arrived. A control message gets its number when its first piece is sent: one that
// is dropped before leaves no gap.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api/gaspi/control.h"

namespace causeway::gaspi {

class ControlQueue {
 public:
  explicit ControlQueue(World& world) : world_(world) {}

  void post(uint32_t rank, ControlMessage message, const Header& header, std::string text);
  uint32_t send();
  // Also when another thread is sending: what was posted before the call has been handed to its
  // link, unless that takes no more. From client context, with no lock held.
  void flush();
  uint32_t deliver();
  void on_piece(uint32_t from, const int32_t* args, const void* payload, size_t length);
  bool all_sent();
  void forget(uint32_t rank);

 private:
  struct Outgoing {
    uint32_t to, epoch;  // epoch: of the process that it is for
    uint32_t id = 0;     // once begun
    ControlMessage message{};
    Header header;
    std::string text;
    size_t sent = 0;
    bool begun = false;
  };
  struct Incoming {
    uint32_t from = 0, epoch = 0;
    ControlMessage message{};
    Header header;
    std::string text;
    size_t received = 0;
  };
  enum class Sent { all, later, lost };
  // Control messages to a process, or from one, by its epoch.
  struct Numbers {
    uint32_t epoch = 0, next = 0;
  };
  struct Order {
    Numbers numbers;
    std::map<uint32_t, Incoming> early;  // by id
  };
  Sent send_pieces(Outgoing& out);
  uint32_t send_all();
  uint32_t next_id(const Outgoing& out);
  void arrived(uint32_t id, Incoming&& in);
  void hand_in(Incoming&& in);

  World& world_;
  std::mutex out_mutex_;  // held while sending; never taken inside a delivery
  std::vector<Outgoing> out_;
  std::map<uint32_t, Numbers> numbers_;  // by rank; under out_mutex_
  uint32_t unordered_ = 0;               // under out_mutex_
  std::mutex new_mutex_;                 // control messages that are to join out_; held for moments
  std::vector<Outgoing> new_;
  std::mutex in_mutex_;  // taken inside deliveries: nothing is sent under it
  std::map<std::pair<uint32_t, uint32_t>, Incoming> partial_;  // (from, id)
  std::map<uint32_t, Order> orders_;                           // by rank
  std::deque<Incoming> in_;
  std::mutex deliver_mutex_;  // one thread hands control messages over at a time
};

}  // namespace causeway::gaspi
