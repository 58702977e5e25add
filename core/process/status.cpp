#include "process/status.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string_view>

#include "base/clock.h"
#include "base/context.h"
#include "base/log.h"
#include "base/quiet_thread.h"
#include "base/unique_fd.h"
#include "base/waits.h"
#include "object/endpoint.h"
#include "spawn/limits.h"
#include "thread/thread_state.h"

namespace causeway {
namespace {

// Written once, while one thread is in the library. NULL: nothing is shown.
StatusPage* g_page = nullptr;

// Held while conduits are asked, and from end_status() on for ever.
constinit std::timed_mutex g_counting;

// With room for so many peers. The descriptor stays open, for readers.
StatusPage* make_page(uint32_t peers) {
  const size_t bytes = StatusPage::bytes(peers);
  if (!file_may_have(bytes)) return nullptr;
  UniqueFd fd(::memfd_create(StatusPage::kName, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) return nullptr;
  // Readers need not fear that it becomes shorter.
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return nullptr;
  void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return nullptr;
  fd.release();
  return static_cast<StatusPage*>(at);  // of zeros, which are not touched before they change
}

struct Tally {
  StatusPage& page;
  uint32_t answer;

  static void add(void* self, uint32_t rank, const uint64_t* counts, uint32_t count) {
    const auto& [page, answer] = *static_cast<Tally*>(self);
    StatusPage::Counts* const of_peer =
        rank < page.peers ? page.of_peers(answer, page.peers) + rank : nullptr;
    for (StatusPage::Counts* to : {&page.answers[answer].all, of_peer}) {
      for (uint32_t i = 0; to != nullptr && i < std::min<uint32_t>(count, to->size()); ++i)
        (*to)[i].store((*to)[i].load(std::memory_order_relaxed) + counts[i],
                       std::memory_order_relaxed);
    }
  }
};

void count(StatusPage& page) {
  const uint32_t turn = page.turn.load(std::memory_order_relaxed) + 1;
  Tally tally{page, turn % 2};
  StatusPage::Answer& answer = page.answers[tally.answer];
  std::atomic_thread_fence(std::memory_order_release);  // what follows is not seen before that turn
  const auto clear = [](StatusPage::Counts& counts) {
    for (auto& count : counts) count.store(0, std::memory_order_relaxed);
  };
  clear(answer.all);
  std::for_each_n(page.of_peers(tally.answer, page.peers), page.peers, clear);
  uint64_t connections = 0;
  for (const auto& cep : context().base_endpoint().conduit_eps()) {
    connections += cep->connections.load(std::memory_order_relaxed);
    cep->conduit->module().ep_traffic(cep->ep, Tally::add, &tally);
  }
  answer.connections.store(connections, std::memory_order_relaxed);
  answer.handlers.store(threads_in_handlers(true), std::memory_order_relaxed);
  answer.taken_ns.store(now_ns(), std::memory_order_relaxed);
  page.turn.store(turn, std::memory_order_release);
}

// Until the process ends; allocates nothing.
void answer_questions(StatusPage& page) {
  ::pthread_setname_np(::pthread_self(), StatusPage::kName);
  for (uint32_t seen = 0; !exiting();) {
    const uint32_t asked = page.asked.load(std::memory_order_acquire);
    if (asked == seen) {
      ::syscall(SYS_futex, &page.asked, FUTEX_WAIT, asked, nullptr, nullptr, 0);
      continue;
    }
    {
      const std::lock_guard lock(g_counting);
      count(page);
    }
    seen = asked;
    page.answered.store(asked, std::memory_order_release);
  }
}

}  // namespace

void show_status(const cwy_job& job) {
  const uint32_t peers = job.size <= StatusPage::kMostPeers ? job.size : 0;
  StatusPage* const page = make_page(peers);
  if (page == nullptr) return log_debug("process: `causeway ps` does not see this rank: no memory");
  page->version = StatusPage::kVersion;
  page->pid = static_cast<uint32_t>(::getpid());
  page->rank = job.rank;
  page->ranks = job.size;
  page->ranks_here = job.local_count;
  page->epoch = job.epoch;
  page->peers = peers;
  std::string_view(job.job_id).copy(page->job, sizeof page->job - 1);
  page->began_ns = now_ns();
  page->magic.store(StatusPage::kMagic, std::memory_order_release);
  g_page = page;
  show_waits(page->waits);
}

void show_phase(StatusPage::Phase phase) {
  if (g_page == nullptr) return;
  const uint32_t before = g_page->phase.exchange(phase, std::memory_order_acq_rel);
  if (phase != StatusPage::runs || before != StatusPage::starts) return;
  quiet_thread_beside("`causeway ps` sees no counts of this rank",
                      [] { answer_questions(*g_page); });
}

void end_status() {
  constexpr std::chrono::seconds kCounting(1);  // far more than it takes
  if (g_page != nullptr) (void)g_counting.try_lock_for(kCounting);
}

}  // namespace causeway
