// Errors, the runtime, and queues.
#include "tide.hpp"

#include <cstdio>

namespace tide {
namespace {

std::string text_of(gaspi_return_t code, const std::string& call) {
  gaspi_string_t text = nullptr;
  if (gaspi_print_error(code, &text) != GASPI_SUCCESS || text == nullptr) return call + ": unknown";
  return call + ": " + text;
}

}  // namespace

Error::Error(gaspi_return_t code, const std::string& call)
    : std::runtime_error(text_of(code, call)), code_(code) {}

void check(gaspi_return_t code, const char* call) {
  if (code != GASPI_SUCCESS) throw Error(code, call);
}

Runtime::Runtime(gaspi_config_t (*adapt)(gaspi_config_t)) {
  if (adapt) {
    gaspi_config_t config;
    check(gaspi_config_get(&config), "gaspi_config_get");
    check(gaspi_config_set(adapt(config)), "gaspi_config_set");
  }
  check(gaspi_proc_init(GASPI_BLOCK), "gaspi_proc_init");
}
Runtime::~Runtime() {
  if (gaspi_proc_term(GASPI_BLOCK) != GASPI_SUCCESS)
    std::fprintf(stderr, "gaspi_proc_term fails\n");
}

gaspi_rank_t rank() {
  gaspi_rank_t value;
  check(gaspi_proc_rank(&value), "gaspi_proc_rank");
  return value;
}
gaspi_rank_t ranks() {
  gaspi_rank_t value;
  check(gaspi_proc_num(&value), "gaspi_proc_num");
  return value;
}

Queue::Queue() {
  check(gaspi_queue_create(&id_, GASPI_BLOCK), "gaspi_queue_create");
}
Queue::~Queue() {
  if (gaspi_wait(id_, GASPI_BLOCK) != GASPI_SUCCESS || gaspi_queue_delete(id_) != GASPI_SUCCESS)
    std::fprintf(stderr, "queue %d is not deleted\n", static_cast<int>(id_));
}
gaspi_number_t Queue::size() const {
  gaspi_number_t value;
  check(gaspi_queue_size(id_, &value), "gaspi_queue_size");
  return value;
}
void Queue::wait() const {
  check(gaspi_wait(id_, GASPI_BLOCK), "gaspi_wait");
}
void Queue::post(const char* call,
                 const std::function<gaspi_return_t(gaspi_queue_id_t)>& post) const {
  gaspi_return_t result;
  while ((result = post(id_)) == GASPI_QUEUE_FULL) wait();
  check(result, call);
}

}  // namespace tide
