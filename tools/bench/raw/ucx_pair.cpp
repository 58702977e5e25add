// The loops over UCX. A put has ended when it is visible, which takes a flush.
#include <sched.h>
#include <ucp/api/ucp.h>

#include <cstring>
#include <stdexcept>

#include "network_pair.h"

namespace causeway::bench::raw {
namespace {

enum : unsigned { kPingId = 1, kPongId = 2 };

void require(ucs_status_t status, const char* call) {
  if (status != UCS_OK)
    throw std::runtime_error(std::string(call) + ": " + ucs_status_string(status));
}

void append(std::string& out, const void* bytes, size_t length) {
  out.append(static_cast<const char*>(bytes), length);
}

ucp_request_param_t of_host_memory() {
  ucp_request_param_t param;
  param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  return param;
}

class UcxPair final : public NetworkPair {
 public:
  explicit UcxPair(const NetworkPairParams& params);
  ~UcxPair() override;
  void put(size_t length, uint64_t count, uint32_t window) override;
  void get(size_t length, uint64_t count, uint32_t window) override;
  void trips(uint64_t count, size_t payload) override;
  void progress() override;

 private:
  static ucs_status_t on_ping(void* self, const void*, size_t, void*, size_t,
                              const ucp_am_recv_param_t*) {
    static_cast<UcxPair*>(self)->send(kPongId);
    return UCS_OK;
  }
  static ucs_status_t on_pong(void* self, const void*, size_t, void*, size_t,
                              const ucp_am_recv_param_t*) {
    ++static_cast<UcxPair*>(self)->pongs_;
    return UCS_OK;
  }
  void handle(unsigned id, ucp_am_recv_callback_t callback);
  void map(const NetworkPairParams& params);
  std::string card() const;
  void connect(const std::string& card);
  void send(unsigned id);
  void step();
  void wait(ucs_status_ptr_t request);
  size_t stride(size_t length, uint32_t window) const {
    return length * window <= bytes_ ? length : 0;
  }

  bool failure_mode_;  // as the conduit chooses it: not over shared memory
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_mem_h memory_ = nullptr;
  ucp_ep_h ep_ = nullptr;
  ucp_rkey_h key_ = nullptr;
  size_t bytes_;
  unsigned char* local_;
  uint64_t base_ = 0, remote_ = 0, pongs_ = 0;
  uint32_t idle_ = 0;
  uint64_t message_[kMessageBytes / 8] = {1, 2};
};

UcxPair::UcxPair(const NetworkPairParams& params)
    : failure_mode_(params.transport.find("shm") == std::string::npos &&
                    params.transport.find("posix") == std::string::npos),
      bytes_(params.bytes),
      local_(params.memory + params.bytes) {
  ucp_config_t* config = nullptr;
  require(ucp_config_read(nullptr, nullptr, &config), "ucp_config_read");
  require(ucp_config_modify(config, "TLS", params.transport.c_str()), "ucp_config_modify");
  ucp_params_t wanted{};
  wanted.field_mask = UCP_PARAM_FIELD_FEATURES;
  wanted.features = UCP_FEATURE_AM | UCP_FEATURE_RMA;
  const ucs_status_t made = ucp_init(&wanted, config, &context_);
  ucp_config_release(config);
  require(made, "ucp_init");
  ucp_worker_params_t worker{};
  worker.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker.thread_mode = UCS_THREAD_MODE_SINGLE;
  require(ucp_worker_create(context_, &worker, &worker_), "ucp_worker_create");
  handle(kPingId, on_ping);
  handle(kPongId, on_pong);
  map(params);
  connect(params.exchange(card()));
}

// Memory that UCX allocates, as the conduit's segments are: over shared memory it can be mapped.
void UcxPair::map(const NetworkPairParams& params) {
  ucp_mem_map_params_t map{};
  map.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  map.length = 2 * params.bytes;
  map.flags = UCP_MEM_MAP_ALLOCATE;
  require(ucp_mem_map(context_, &map, &memory_), "ucp_mem_map");
  ucp_mem_attr_t attr{};
  attr.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
  require(ucp_mem_query(memory_, &attr), "ucp_mem_query");
  std::memset(attr.address, 1, 2 * params.bytes);  // its pages exist from here on
  base_ = reinterpret_cast<uint64_t>(attr.address);
  local_ = static_cast<unsigned char*>(attr.address) + params.bytes;
}

UcxPair::~UcxPair() {
  if (key_ != nullptr) ucp_rkey_destroy(key_);
  if (memory_ != nullptr) ucp_mem_unmap(context_, memory_);
  if (worker_ != nullptr) ucp_worker_destroy(worker_);
  if (context_ != nullptr) ucp_cleanup(context_);
}

void UcxPair::handle(unsigned id, ucp_am_recv_callback_t callback) {
  ucp_am_handler_param_t param{};
  param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                     UCP_AM_HANDLER_PARAM_FIELD_ARG;
  param.id = id;
  param.cb = callback;
  param.arg = this;
  require(ucp_worker_set_am_recv_handler(worker_, &param), "ucp_worker_set_am_recv_handler");
}

// base, length of the worker's address, address, key
std::string UcxPair::card() const {
  std::string out;
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

void UcxPair::connect(const std::string& card) {
  size_t address_length = 0;
  if (card.size() < sizeof remote_ + sizeof address_length) throw std::runtime_error("short card");
  std::memcpy(&remote_, card.data(), sizeof remote_);
  std::memcpy(&address_length, card.data() + sizeof remote_, sizeof address_length);
  const char* address = card.data() + sizeof remote_ + sizeof address_length;
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
  params.address = reinterpret_cast<const ucp_address_t*>(address);
  params.err_mode = failure_mode_ ? UCP_ERR_HANDLING_MODE_PEER : UCP_ERR_HANDLING_MODE_NONE;
  require(ucp_ep_create(worker_, &params, &ep_), "ucp_ep_create");
  require(ucp_ep_rkey_unpack(ep_, address + address_length, &key_), "ucp_ep_rkey_unpack");
}

void UcxPair::wait(ucs_status_ptr_t request) {
  if (request == nullptr) return;
  if (UCS_PTR_IS_ERR(request)) require(UCS_PTR_STATUS(request), "an operation");
  while (ucp_request_check_status(request) == UCS_INPROGRESS) step();
  ucp_request_free(request);
}

// A put needs no look at its own request: the flush behind it answers for all.
void UcxPair::put(size_t length, uint64_t count, uint32_t window) {
  const ucp_request_param_t param = of_host_memory();
  const size_t step = stride(length, window);
  for (uint64_t begun = 0; begun < count; begun += window) {
    for (uint32_t i = 0; i < window; ++i) {
      const ucs_status_ptr_t sent =
          ucp_put_nbx(ep_, local_ + step * i, length, remote_ + step * i, key_, &param);
      if (UCS_PTR_IS_PTR(sent)) ucp_request_free(sent);  // freed by UCX when it has ended
    }
    wait(ucp_ep_flush_nbx(ep_, &param));
  }
}

void UcxPair::get(size_t length, uint64_t count, uint32_t window) {
  const ucp_request_param_t param = of_host_memory();
  const size_t step = stride(length, window);
  ucs_status_ptr_t requests[kMostAtOnce];
  for (uint64_t begun = 0; begun < count; begun += window) {
    for (uint32_t i = 0; i < window; ++i)
      requests[i] = ucp_get_nbx(ep_, local_ + step * i, length, remote_ + step * i, key_, &param);
    for (uint32_t i = 0; i < window; ++i) wait(requests[i]);
  }
}

void UcxPair::progress() {
  ucp_worker_progress(worker_);
}

// Waiting: gives way to the other side where both share a core.
void UcxPair::step() {
  if (ucp_worker_progress(worker_) == 0 && ++idle_ % 1000 == 0) sched_yield();
}

void UcxPair::send(unsigned id) {
  const ucp_request_param_t param = of_host_memory();
  const ucs_status_ptr_t sent =
      ucp_am_send_nbx(ep_, id, message_, sizeof message_, nullptr, 0, &param);
  if (UCS_PTR_IS_PTR(sent)) ucp_request_free(sent);
}

void UcxPair::trips(uint64_t count, size_t /*payload*/) {
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t before = pongs_;
    send(kPingId);
    while (*const_cast<volatile uint64_t*>(&pongs_) == before) step();
  }
}

}  // namespace

std::unique_ptr<NetworkPair> make_network_pair(const NetworkPairParams& params) {
  return std::make_unique<UcxPair>(params);
}

}  // namespace causeway::bench::raw
