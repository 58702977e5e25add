// Answers first contacts while the client computes.
//
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <thread>

#include "../common/descriptor.h"

struct cwyc_ep;

namespace causeway::verbs {

// A thread that sleeps until a hello arrives, makes the queue pair, and sends the welcome: from
// then on puts, gets and atomics of the peer need nothing of this process. Nothing else is done
// here, and the core is never called: what a welcome or a refusal completes waits for `progress`.
class Greeter {
 public:
  explicit Greeter(cwyc_ep* ep);
  bool runs() const { return thread_.joinable(); }
  ~Greeter();
  Greeter(const Greeter&) = delete;
  Greeter& operator=(const Greeter&) = delete;

 private:
  void run();
  bool answer();

  cwyc_ep* ep_;
  Descriptor stop_;
  std::thread thread_;
};

}  // namespace causeway::verbs
