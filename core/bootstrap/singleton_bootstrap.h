// SingletonBootstrap: a program started without any launcher is a job of one rank.
#pragma once

#include "bootstrap/bootstrap.h"

namespace causeway {

class SingletonBootstrap final : public Bootstrap {
 public:
  SingletonBootstrap();

  uint32_t rank() const override { return 0; }
  uint32_t size() const override { return 1; }
  const std::string& job_id() const override { return job_id_; }
  const std::string& session_dir() const override { return no_directory_; }
  bool own_launcher() const override { return false; }
  std::vector<uint32_t> local_ranks() const override { return {0}; }
  std::vector<std::string> exchange(const std::string& card, uint64_t) override { return {card}; }
  void fence(uint64_t) override {}
  void on_death(std::function<void(uint32_t, const std::string&)>) override {}
  // There is no launcher to ask: prints the line and returns; the caller ends itself.
  void abort(int status, const std::string& line) override;
  void finalize(std::optional<int>) override {}

 private:
  std::string job_id_;
  std::string no_directory_;
};

}  // namespace causeway
