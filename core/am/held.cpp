#include "am/held.h"

#include <causeway/conduit.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <mutex>

#include "am/deliver.h"
#include "base/context.h"
#include "object/handler_table.h"

namespace causeway {
namespace {

struct HeldMessage {
  Peer* from;
  uint64_t word;
  uint32_t kind;
  unsigned nargs;
  std::array<int32_t, kMaxHandlerArgs> args;
  void* payload;
  size_t length;
  std::unique_ptr<std::max_align_t[]> copy;  // of a medium's payload
};

std::mutex g_held_mutex;
bool g_holding = false;  // under g_held_mutex, as the list
std::deque<HeldMessage> g_held;

}  // namespace

void begin_holding() {
  const std::lock_guard lock(g_held_mutex);
  g_holding = true;
}

void end_holding() {
  const std::lock_guard lock(g_held_mutex);
  g_holding = false;
  if (g_held.empty()) return;
  held_waiting.store(true, std::memory_order_relaxed);
  context().attention.store(true, std::memory_order_release);
}

void run_held_messages() {
  std::deque<HeldMessage> held;
  {
    const std::lock_guard lock(g_held_mutex);
    held.swap(g_held);
    held_waiting.store(false, std::memory_order_relaxed);
  }
  // Handlers run without the lock: they may reply, and so receive.
  for (const HeldMessage& m : held)
    run_message(*m.from, m.word, m.kind, m.args.data(), m.nargs, m.payload, m.length);
}

bool hold(Peer& from, uint64_t word, uint32_t kind, const int32_t* args, unsigned nargs,
          void* payload, size_t length) {
  const std::lock_guard lock(g_held_mutex);
  if (!g_holding || nargs > kMaxHandlerArgs) return false;
  HeldMessage m{&from, word, kind, nargs, {}, payload, length, nullptr};
  std::copy_n(args, nargs, m.args.begin());
  if (kind == CWYC_AM_MEDIUM && length != 0) {
    const size_t units = (length + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
    m.copy = std::make_unique<std::max_align_t[]>(units);
    m.payload = m.copy.get();
    std::copy_n(static_cast<const char*>(payload), length, static_cast<char*>(m.payload));
  }
  g_held.push_back(std::move(m));
  return true;
}

}  // namespace causeway
