// Threads that post while the test's own thread makes progress.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "session.h"

namespace causeway::conformance {

// Runs work(t) on so many threads at once. What they threw, by thread; "" where nothing.
template <typename Work>
std::vector<std::string> beside_progress(Session& s, uint32_t count, Work&& work) {
  std::vector<std::string> failures(count);
  // Sequentially consistent: the progress loop ends after all of the work.
  std::atomic<uint32_t> running{count};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < count; ++t) {
    threads.emplace_back([&, t] {
      try {
        work(t);
      } catch (const std::exception& e) {
        failures[t] = e.what();
      }
      running.fetch_sub(1);
    });
  }
  while (running.load() != 0) s.ep().step();
  for (std::thread& thread : threads) thread.join();
  return failures;
}

}  // namespace causeway::conformance
