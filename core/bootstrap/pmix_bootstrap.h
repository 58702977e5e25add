// PmixBootstrap: a rank as the client of a PMIx server, `causeway run`'s or somebody else's.
//
// A core rank is an index into a table of PMIx ranks. The two agree at the start under every
// launcher known today; a replacement keeps the PMIx rank that it had as a spare, so that they
// differ from then on. The table changes when PMIx's thread says so, and is behind its lock.
#pragma once

#include <pmix.h>

#include <future>
#include <memory>
#include <optional>

#include "bootstrap/bootstrap.h"
#include "bootstrap/job_state.h"

namespace causeway {

class PmixBootstrap final : public Bootstrap {
 public:
  // Joins the job. Throws Error: CWY_ERR_UNREACHABLE when the server named in the environment is
  // gone or does not answer within `timeout_ns`.
  explicit PmixBootstrap(uint64_t timeout_ns);
  ~PmixBootstrap() override;

  uint32_t rank() const override { return rank_; }
  uint32_t size() const override { return size_; }
  const std::string& job_id() const override { return job_id_; }
  const std::string& session_dir() const override { return session_dir_; }
  bool own_launcher() const override { return own_launcher_; }
  std::vector<uint32_t> local_ranks() const override { return local_ranks_; }
  std::string host_id() const override { return host_id_; }
  std::string host_name() const override { return host_name_; }
  // Spares may wait on a host that has no rank yet.
  bool one_host() const override { return hosts_ <= 1 && Bootstrap::one_host(); }
  std::string job_key(uint64_t timeout_ns) override;
  CardTable exchange(const std::string& card, uint64_t timeout_ns) override;
  void tell(const Texts& texts) override { publish(texts); }
  std::future<std::optional<std::string>> told(uint32_t rank, const std::string& key,
                                               uint64_t timeout_ns) override;
  void fence(uint64_t timeout_ns, Among among) override;
  void started() override;
  void on_death(std::function<void(uint32_t, const std::string&)> callback) override {
    state_->set(&JobState::Callbacks::death, std::move(callback));
  }
  void on_departure(std::function<void(uint32_t)> callback) override {
    state_->set(&JobState::Callbacks::departure, std::move(callback));
  }
  void on_all_leave(std::function<void()> callback) override {
    state_->set(&JobState::Callbacks::all_leave, std::move(callback));
  }
  bool survives_failures() const override { return survives_; }
  bool spare() const override { return spare_; }
  std::optional<Place> wait_for_place(uint64_t timeout_ns) override;
  uint32_t epoch() const override { return epoch_; }
  void on_replacement(std::function<void(uint32_t, uint32_t)> callback) override {
    state_->set(&JobState::Callbacks::replacement, std::move(callback));
  }
  std::string card_of(uint32_t rank, uint64_t timeout_ns) override;
  void let_go_on(uint32_t rank) override;
  void abort(int status, const std::string& line) override;
  bool begin_leave(std::optional<int> code) override;
  void finalize(std::optional<int> code) override;
  std::future<std::optional<Goodbye>> goodbye_of(uint32_t rank) override;

 private:
  void join(uint64_t timeout_ns);
  void find_job();
  void find_local_ranks();
  pmix_proc_t whole_job() const;
  CardTable gather_cards(const std::string& card, uint64_t timeout_ns);
  void listen_for_deaths();
  static void stop_listening();
  pmix_status_t post_fence(bool collect, Among among,
                           std::function<void(pmix_status_t)> done) const;
  void fence_collecting(bool collect, uint64_t timeout_ns, const std::string& key,
                        JobState::Known known = {});
  void tell_launcher(pmix_status_t event, const char* key, std::optional<uint32_t> number);
  void meet_those_who_leave();
  pmix_proc_t proc_of(uint32_t rank) const;
  std::vector<pmix_proc_t> members(Among among) const;
  static void publish(const Texts& texts);
  // A text that the rank has published. Throws Error when it is not there; await() waits for it.
  std::string fetch(uint32_t rank, const std::string& key, uint64_t timeout_ns);
  std::string await(uint32_t rank, const std::string& key, uint64_t timeout_ns);
  using Answer = std::function<void(std::optional<std::string>)>;
  void ask(uint32_t rank, const std::string& key, uint64_t timeout_ns, Answer then);
  std::future<std::optional<std::string>> ask_card(uint32_t rank, const std::string& key,
                                                   uint64_t timeout_ns);
  std::optional<std::string> get_card(uint32_t rank, const std::string& key);
  std::string missing_ranks(const std::string& key);

  pmix_proc_t self_{};
  std::string job_id_, session_dir_;
  bool own_launcher_ = false;
  bool joined_ = false;
  bool leaving_ = false;
  bool survives_ = false;
  bool spare_ = false;
  std::string host_id_, host_name_;
  uint32_t hosts_ = 1;  // our launcher's number of them; another one's says nothing here
  uint32_t rank_ = 0;
  uint32_t epoch_ = 1;
  uint32_t size_ = 0;
  uint32_t processes_ = 0;  // the ranks and their spares
  uint32_t exchanges_ = 0;  // so that every exchange has its own key
  std::vector<uint32_t> local_ranks_;
  // Shared with PMIx's thread, which may call back after this object is gone.
  std::shared_ptr<JobState> state_;
};

}  // namespace causeway
