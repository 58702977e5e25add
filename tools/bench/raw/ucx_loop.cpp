#include "ucx_loop.h"

#include <cstring>
#include <stdexcept>

namespace causeway::bench::raw {
namespace {

enum : unsigned { kPingId = 1, kPongId = 2 };

void require(ucs_status_t status, const char* call) {
  if (status != UCS_OK)
    throw std::runtime_error(std::string(call) + ": " + ucs_status_string(status));
}

void append(std::vector<unsigned char>& out, const void* bytes, size_t length) {
  const auto* from = static_cast<const unsigned char*>(bytes);
  out.insert(out.end(), from, from + length);
}

}  // namespace

UcxLoop::UcxLoop(const std::string& tls, size_t memory_bytes)
    : failure_mode_(tls.find("shm") == std::string::npos &&
                    tls.find("posix") == std::string::npos) {
  ucp_config_t* config = nullptr;
  require(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
  require(ucp_config_modify(config, "TLS", tls.c_str()), "ucp_config_modify");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_WAKEUP;
  const ucs_status_t made = ucp_init(&params, config, &context_);
  ucp_config_release(config);
  require(made, "ucp_init");
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SINGLE;
  require(ucp_worker_create(context_, &worker, &worker_), "ucp_worker_create");
  handle(kPingId, on_ping);
  handle(kPongId, on_pong);
  ucp_mem_map_params_t map{};
  map.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  map.length = memory_bytes;
  map.flags = UCP_MEM_MAP_ALLOCATE;
  require(ucp_mem_map(context_, &map, &memory_), "ucp_mem_map");
  ucp_mem_attr_t attr{};
  attr.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
  require(ucp_mem_query(memory_, &attr), "ucp_mem_query");
  std::memset(attr.address, 1, memory_bytes);  // its pages exist from here on
  base_ = reinterpret_cast<uint64_t>(attr.address);
}

UcxLoop::~UcxLoop() {
  if (key_ != nullptr) ucp_rkey_destroy(key_);
  if (memory_ != nullptr) ucp_mem_unmap(context_, memory_);
  if (worker_ != nullptr) ucp_worker_destroy(worker_);
  if (context_ != nullptr) ucp_cleanup(context_);
}

void UcxLoop::handle(unsigned id, ucp_am_recv_callback_t callback) {
  ucp_am_handler_param_t param{};
  param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                     UCP_AM_HANDLER_PARAM_FIELD_ARG;
  param.id = id;
  param.cb = callback;
  param.arg = this;
  require(ucp_worker_set_am_recv_handler(worker_, &param), "ucp_worker_set_am_recv_handler");
}

// base, length of the worker's address, address, key
std::vector<unsigned char> UcxLoop::card() const {
  std::vector<unsigned char> out;
  ucp_address_t* address = nullptr;
  size_t length = 0;
  require(ucp_worker_get_address(worker_, &address, &length), "ucp_worker_get_address");
  append(out, &base_, sizeof base_);
  append(out, &length, sizeof length);
  append(out, address, length);
  ucp_worker_release_address(worker_, address);
  void* key = nullptr;
  require(ucp_rkey_pack(context_, memory_, &key, &length), "ucp_rkey_pack");
  append(out, key, length);
  ucp_rkey_buffer_release(key);
  return out;
}

void UcxLoop::connect(const unsigned char* card, size_t length) {
  size_t address_length = 0;
  if (length < sizeof remote_ + sizeof address_length) throw std::runtime_error("short card");
  std::memcpy(&remote_, card, sizeof remote_);
  std::memcpy(&address_length, card + sizeof remote_, sizeof address_length);
  const unsigned char* address = card + sizeof remote_ + sizeof address_length;
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  params.address = reinterpret_cast<const ucp_address_t*>(address);
  params.err_mode = failure_mode_ ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
  require(ucp_ep_create(worker_, &params, &ep_), "ucp_ep_create");
  require(ucp_ep_rkey_unpack(ep_, address + address_length, &key_), "ucp_ep_rkey_unpack");
}

void UcxLoop::wait(ucs_status_ptr_t request) {
  if (request == nullptr) return;
  if (UCS_PTR_IS_ERR(request)) require(UCS_PTR_STATUS(request), "an operation");
  while (ucp_request_check_status(request) == UCS_INPROGRESS) progress();
  ucp_request_free(request);
}

void UcxLoop::put(const void* source, size_t bytes) {
  ucp_request_param_t param;
  param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  const ucs_status_ptr_t sent = ucp_put_nbx(ep_, source, bytes, remote_, key_, &param);
  wait(ucp_ep_flush_nbx(ep_, &param));
  wait(sent);
}

void UcxLoop::get(void* target, size_t bytes) {
  ucp_request_param_t param;
  param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  wait(ucp_get_nbx(ep_, target, bytes, remote_, key_, &param));
}

void UcxLoop::flood(const void* source, uint64_t count, unsigned window) {
  ucp_request_param_t param;
  param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  for (uint64_t done = 0; done < count; done += window) {
    for (unsigned i = 0; i < window; ++i) {
      const ucs_status_ptr_t sent = ucp_put_nbx(ep_, source, 8, remote_ + 8 * i, key_, &param);
      if (UCS_PTR_IS_PTR(sent)) ucp_request_free(sent);  // freed by UCX when it has ended
    }
    wait(ucp_ep_flush_nbx(ep_, &param));
  }
}

void UcxLoop::send(unsigned id) {
  ucp_request_param_t param;
  param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  const ucs_status_ptr_t sent =
      ucp_am_send_nbx(ep_, id, message_, sizeof message_, nullptr, 0, &param);
  if (UCS_PTR_IS_PTR(sent)) ucp_request_free(sent);
}

void UcxLoop::round_trip() {
  const uint64_t before = pongs_;
  send(kPingId);
  while (*const_cast<volatile uint64_t*>(&pongs_) == before) progress();
}

ucs_status_t UcxLoop::on_ping(void* self, const void*, size_t, void*, size_t,
                              const ucp_am_recv_param_t*) {
  static_cast<UcxLoop*>(self)->send(kPongId);
  return UCS_OK;
}

ucs_status_t UcxLoop::on_pong(void* self, const void*, size_t, void*, size_t,
                              const ucp_am_recv_param_t*) {
  ++static_cast<UcxLoop*>(self)->pongs_;
  return UCS_OK;
}

}  // namespace causeway::bench::raw
