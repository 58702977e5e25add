// MailBox: letters on their way out, and letters that come in piece by piece.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "api/gaspi/mail.h"

namespace causeway::gaspi {

class MailBox {
 public:
  explicit MailBox(World& world) : world_(world) {}

  void post(uint32_t rank, Letter letter, const Header& header, std::string text);
  uint32_t send();
  uint32_t deliver();
  void on_piece(uint32_t from, const int32_t* args, const void* payload, size_t length);
  bool all_sent();
  void forget(uint32_t rank);

 private:
  struct Outgoing {
    uint32_t to, epoch, id;  // epoch: of the process that it is for
    Letter letter;
    Header header;
    std::string text;
    size_t sent = 0;
    bool begun = false;
  };
  struct Incoming {
    uint32_t from = 0, epoch = 0;
    Letter letter{};
    Header header;
    std::string text;
    size_t received = 0;
  };
  enum class Sent { all, later, lost };
  Sent send_pieces(Outgoing& out);
  void arrived(Incoming&& in);

  World& world_;
  std::mutex out_mutex_;  // held while sending; never taken inside a delivery
  std::deque<Outgoing> out_;
  std::mutex new_mutex_;  // letters that are to join out_; held for moments
  std::deque<Outgoing> new_;
  uint32_t next_id_ = 0;  // under new_mutex_
  std::mutex in_mutex_;   // taken inside deliveries: nothing is sent under it
  std::map<std::pair<uint32_t, uint32_t>, Incoming> partial_;  // (from, id)
  std::deque<Incoming> in_;
  std::mutex deliver_mutex_;  // one thread hands letters over at a time
};

}  // namespace causeway::gaspi
