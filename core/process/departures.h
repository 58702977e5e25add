// Peers that cannot be reached any more: have they failed, or have they left in good order?
//
// A conduit sees that a peer's process or connection is gone, not why. A rank that called
// gasnet_exit is gone in the same way, possibly before its news has come here, and a job that ends
// well must not be ended as one that failed. The launcher knows, and announces failures by itself.
// The peer knows, and tells the bootstrap when it leaves.
#pragma once

#include <cstdint>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/bootstrap.h"

namespace causeway {

class Departures {
 public:
  struct Suspect {
    uint32_t rank;
    std::string how;
  };
  struct Finding {
    enum class Kind {
      nothing,  // nobody is suspected
      waiting,  // ask again soon
      left,     // `who` left in good order, with `code`, or alone
      failed    // `who` has failed as far as anybody knows
    } kind;
    std::optional<int> code = std::nullopt;
    Suspect who{};
  };

  // From any thread.
  void suspect(uint32_t rank, const std::string& how);

  bool any();

  // Never blocks. One rank is looked into at a time: the first that is known to have failed decides
  // for all; who has left is not suspected any more. Where the launcher is ours it has
  // `launcher_ns` to end the job before silence counts. From any thread; calls are serialised.
  Finding look(Bootstrap& bootstrap, uint64_t launcher_ns);

 private:
  Finding judge(Bootstrap& bootstrap, uint64_t launcher_ns, const Suspect& who);

  std::mutex mutex_;
  std::vector<Suspect> suspects_;
  // Times of the first suspect, in nanoseconds.
  uint64_t ask_again_ = 0;
  uint64_t give_up_ = 0;  // who has said nothing by then has failed; 0: not looked into yet
  std::future<std::optional<Bootstrap::Goodbye>> answer_;
};

}  // namespace causeway
