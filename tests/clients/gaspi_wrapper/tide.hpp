// A C++ library around GASPI ("tide"): what is created is destroyed, what fails is thrown.
#pragma once

extern "C" {
#include <GASPI.h>
}

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tide {

class Error : public std::runtime_error {
 public:
  Error(gaspi_return_t code, const std::string& call);
  gaspi_return_t code() const { return code_; }

 private:
  gaspi_return_t code_;
};
// Throws unless `code` is GASPI_SUCCESS.
void check(gaspi_return_t code, const char* call);

// From the first line of main to its last.
class Runtime {
 public:
  explicit Runtime(gaspi_config_t (*adapt)(gaspi_config_t) = nullptr);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
};
gaspi_rank_t rank();
gaspi_rank_t ranks();

// A queue that the process made; posts that find it full wait and try again.
class Queue {
 public:
  Queue();
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  gaspi_queue_id_t id() const { return id_; }
  gaspi_number_t size() const;
  void wait() const;
  // `post` is called with the queue until it returns something other than GASPI_QUEUE_FULL.
  void post(const char* call, const std::function<gaspi_return_t(gaspi_queue_id_t)>& post) const;

 private:
  gaspi_queue_id_t id_ = 0;
};

// Some of the processes, in the order of their ranks.
class Group {
 public:
  explicit Group(const std::vector<gaspi_rank_t>& members);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  gaspi_group_t id() const { return id_; }
  std::vector<gaspi_rank_t> members() const;

 private:
  gaspi_group_t id_ = 0;
};

// Memory that the processes of a group share, made by all of them.
class Segment {
 public:
  explicit Segment(std::size_t bytes, gaspi_group_t group = GASPI_GROUP_ALL);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  gaspi_segment_id_t id() const { return id_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(base_);
  }
  void write(gaspi_offset_t from, gaspi_rank_t to, gaspi_offset_t there, std::size_t bytes,
             const Queue& queue) const;
  void write_notify(gaspi_offset_t from, gaspi_rank_t to, gaspi_offset_t there, std::size_t bytes,
                    gaspi_notification_id_t id, gaspi_notification_t value,
                    const Queue& queue) const;
  void read(gaspi_offset_t to, gaspi_rank_t from, gaspi_offset_t there, std::size_t bytes,
            const Queue& queue) const;
  // The notification of the range that has come, and its value, which is 0 again.
  struct Notified {
    gaspi_notification_id_t id;
    gaspi_notification_t value;
  };
  Notified wait_some(gaspi_notification_id_t first, gaspi_number_t count) const;

 private:
  gaspi_segment_id_t id_ = 0;
  gaspi_pointer_t base_ = nullptr;
};

void barrier(gaspi_group_t group = GASPI_GROUP_ALL);
template <typename T>
struct Type;
template <>
struct Type<int> {
  static constexpr gaspi_datatype_t value = GASPI_TYPE_INT;
};
template <>
struct Type<unsigned long> {
  static constexpr gaspi_datatype_t value = GASPI_TYPE_ULONG;
};
template <>
struct Type<double> {
  static constexpr gaspi_datatype_t value = GASPI_TYPE_DOUBLE;
};
void all_reduce(const void* mine, void* all, std::size_t count, gaspi_operation_t operation,
                gaspi_datatype_t type, gaspi_group_t group);
template <typename T>
std::vector<T> all_reduce(const std::vector<T>& mine, gaspi_operation_t operation,
                          gaspi_group_t group = GASPI_GROUP_ALL) {
  std::vector<T> all(mine.size());
  all_reduce(mine.data(), all.data(), mine.size(), operation, Type<T>::value, group);
  return all;
}
// Combines pairs (value, place) to the largest value and where it is.
struct Place {
  double value;
  long place;
};
Place all_largest(Place mine, gaspi_group_t group = GASPI_GROUP_ALL);

}  // namespace tide
