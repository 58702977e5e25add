// Bootstrap: how ranks find each other. Nothing else in the core knows how they were started.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/card_table.h"

namespace causeway {

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  virtual uint32_t rank() const = 0;
  virtual uint32_t size() const = 0;
  virtual const std::string& job_id() const = 0;       // printable, <= 63 bytes
  virtual const std::string& session_dir() const = 0;  // "" when the launcher gives none
  virtual bool own_launcher() const = 0;               // started by `causeway run` or a fork
  // Ranks that the launcher placed on this node, this one included, increasing. A first guess:
  // plugins size themselves by it before the ranks' own cards say where each one runs.
  virtual std::vector<uint32_t> local_ranks() const = 0;
  // No rank of the job is on another host than this one, and none will be: as the launcher says.
  virtual bool one_host() const { return local_ranks().size() == size(); }

  // Which host this process runs on, as the launcher tells hosts apart; "" when it does not say.
  // Ranks with different ids are on different hosts, whatever the operating system says.
  virtual std::string host_id() const { return ""; }
  // The launcher's name for it; "": it has none but the system's.
  virtual std::string host_name() const { return ""; }

  // 16 bytes, the same for every rank of the job, that nobody else can guess. Collective where the
  // launcher has none. Throws Error as exchange() does.
  virtual std::string job_key(uint64_t timeout_ns) = 0;

  // Publishes this rank's card, waits until every rank has, and returns all cards by rank.
  // Collective. Throws Error: CWY_ERR_TIMEOUT after `timeout_ns`, naming the ranks missing where
  // that is known; CWY_ERR_PEER_FAILED when a rank died meanwhile.
  virtual CardTable exchange(const std::string& card, uint64_t timeout_ns) = 0;

  // Barrier over all ranks; same errors. Or over those that the launcher has not told dead: where
  // another one dies, the others meet without it.
  enum class Among { all, living };
  virtual void fence(uint64_t timeout_ns, Among among = Among::all) = 0;

  // This rank has ended its start and needs nobody for it any more. Until every rank has said so, a
  // failure ends the job, also one that survives failures: a start that misses a rank cannot be
  // completed. Throws Error: CWY_ERR_UNREACHABLE.
  virtual void started() {}

  // Called from a thread of the bootstrap's own when a rank is known to have died. At most once
  // per rank and epoch. Set before exchange().
  virtual void on_death(std::function<void(uint32_t rank, const std::string& how)> callback) = 0;

  // Called from the thread of on_death() when the launcher says that a rank has left alone: its
  // main has returned. Our launcher does, a moment later, where others stay. Set before exchange().
  // NOLINTNEXTLINE(performance-unnecessary-value-param): those who override it keep it.
  virtual void on_departure(std::function<void(uint32_t rank)> /*callback*/) {}

  // Called from the thread of on_death() when every rank has come to its end (begin_leave), or has
  // ended. Set before exchange().
  // NOLINTNEXTLINE(performance-unnecessary-value-param): those who override it keep it.
  virtual void on_all_leave(std::function<void()> /*callback*/) {}

  // ---- Jobs that outlive a failure: `causeway run --on-failure=continue [--spares N]` ----

  // The launcher keeps the job when a rank dies: on_death() is all that happens.
  virtual bool survives_failures() const { return false; }

  // This process was started as a spare and has no rank yet: rank() is size() until it has.
  virtual bool spare() const { return false; }

  struct Place {
    uint32_t rank;
    uint32_t epoch;  // 2 for the first replacement of a rank
  };
  // In a spare: until it is given the place of a failed rank; rank() and epoch() are that then, and
  // spare() is false. nullopt after `timeout_ns`, and when the launcher is gone. When the job ends
  // without it, the launcher kills a waiting spare.
  virtual std::optional<Place> wait_for_place(uint64_t timeout_ns) {
    static_cast<void>(timeout_ns);
    return std::nullopt;
  }

  // 1, and one more for each process that has taken this rank over.
  virtual uint32_t epoch() const { return 1; }

  // Called from the thread of on_death() when a rank that died has a new process, in every process
  // but the new one, after on_death() for the old one. The new one may not have published its card
  // yet: card_of() waits for it. Set before exchange().
  virtual void on_replacement(
      // NOLINTNEXTLINE(performance-unnecessary-value-param): those who override it keep it.
      std::function<void(uint32_t rank, uint32_t epoch)> /*callback*/) {}

  // The card that `rank`'s present process gave to its first exchange(), as soon as it has. Not
  // collective, and not from within a callback. Throws Error: CWY_ERR_TIMEOUT after `timeout_ns`,
  // CWY_ERR_PEER_FAILED when that process has died without it.
  virtual std::string card_of(uint32_t rank, uint64_t timeout_ns);

  // Asks the launcher to send SIGCONT to the rank's process, which may be on any host. Returns at
  // once; nothing is promised: a foreign launcher has no word for it.
  virtual void let_go_on(uint32_t /*rank*/) {}

  // Asks the launcher to end the job with this status and line. Does not return on success of a
  // foreign launcher that kills the caller; otherwise returns.
  virtual void abort(int status, const std::string& line) = 0;

  // The last word of a rank that has left: the job's status it asked for; nothing: it left alone.
  struct Goodbye {
    std::optional<int> code;
  };

  // This rank has come to its end and will say goodbye with the same code. Our launcher counts from
  // here how long the others may stay. False: nobody is there to be told, or that has been done.
  // Where the launcher is not ours, on_all_leave() may never come. Returns at once.
  virtual bool begin_leave(std::optional<int> /*code*/) { return false; }

  // Orderly goodbye: after it, the launcher does not take this rank's exit for a failure. With a
  // code this rank has ended the job (gasnet_exit); goodbye_of() tells the others.
  // Throws after kFinalizeWithin.
  virtual void finalize(std::optional<int> code) = 0;
  // Longer than PMIx's own wait for the answer to a goodbye, two seconds.
  static constexpr std::chrono::seconds kFinalizeWithin{10};

  // The last word of `rank`, which cannot be reached any more. nullopt: nothing that has arrived
  // yet. The answer may take a second or two; abandoning the future is allowed. To be asked a
  // moment after the rank has gone: a server on another host that had no answer once may not look
  // again, so that a rank of another host may seem to have said nothing.
  virtual std::future<std::optional<Goodbye>> goodbye_of(uint32_t rank);

  // Texts of this process that single ranks ask for, each under a key of its own. Told once per
  // key. Throws Error: CWY_ERR_UNREACHABLE.
  using Texts = std::vector<std::pair<std::string, std::string>>;
  virtual void tell(const Texts& /*keys and texts*/) {}
  // The text that the present process of `rank` has told under a key; waited for as long as
  // `timeout_ns` where the launcher can do so: nothing may come before it is told. Abandoning the
  // future is allowed. Throws Error: CWY_ERR_PEER_FAILED.
  virtual std::future<std::optional<std::string>> told(uint32_t rank, const std::string& key,
                                                       uint64_t timeout_ns);
};

// Picks by environment: PMIx (`causeway run`, srun --mpi=pmix, prterun, mpirun); CAUSEWAY_RANKS=N
// or, in a program of identity smp, GASNET_PSHM_NODES=N (forks N ranks here: returns in the ranks,
// and in the original process becomes the launcher and exits with the job's status); otherwise one
// rank alone. Throws Error with advice when a foreign launcher's variables are present without a
// PMIx server behind them (DESIGN section 5). Must be called before the process has a second
// thread.
std::unique_ptr<Bootstrap> make_bootstrap(uint64_t timeout_ns);

}  // namespace causeway
