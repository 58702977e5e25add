// Passive communication (GASPI 17.1, chapter 9): a send says that it is ready, a receive asks for
// the data, so nothing is kept at the receiver before somebody wants it, and senders are served in
// the order in which they came; one that does not answer is passed by. The receiver polls
// for a moment. Then it sleeps on a condition that the poll of another thread signals, or in the
// conduits' own sleep where there is no such thread.
#pragma once

#include <GASPI.h>

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "api/gaspi/control.h"
#include "api/gaspi/deadline.h"

namespace causeway::gaspi {

struct World;

class Passive {
 public:
  explicit Passive(World& world) : world_(world) {}

  gaspi_return_t send(const void* data, uint64_t size, uint32_t rank, Deadline& deadline);
  gaspi_return_t receive(void* to, uint64_t room, gaspi_rank_t* from, Deadline& deadline);
  void purge();
  // The memory goes: sends from it that were given up are cancelled.
  void forget_memory(const char* base, uint64_t size);
  // The rank's process is lost: what was to go there does not, and what had come stays.
  void forget(uint32_t rank);

  void on_control_message(uint32_t from, ControlMessage message, const Header& header,
                          std::string& text);

 private:
  // A send that no receive has taken yet. It outlives a call that timed out, and is found again by
  // its arguments.
  struct Send {
    const void* data;
    uint64_t size;
    uint32_t rank;
    bool waited = false;  // a thread is in gaspi_passive_send for it
    bool taken = false;
  };
  struct Offer {
    uint32_t from;
    uint64_t number, size;  // number 0: the sender is lost
    bool asked = false;     // for its data
    bool arrived = false;   // which is `text`
    std::string text;
  };
  gaspi_return_t take(void* to, uint64_t room, gaspi_rank_t* from);
  void sleep(Deadline& deadline, uint64_t seen);

  World& world_;
  std::mutex mutex_;  // what follows
  uint64_t next_ = 1;
  std::map<uint64_t, Send> sends_;
  std::deque<Offer> offers_;             // in the order in which they came
  std::atomic<uint64_t> last_asked_{0};  // when the latest was, in ns; written under the mutex
};

}  // namespace causeway::gaspi
