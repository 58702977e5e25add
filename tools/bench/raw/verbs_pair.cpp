// The loops over libibverbs: one reliable queue pair each way, everything signalled, small data
// inline. A put has ended with its acknowledgement, a get with its data, as the conduit says.
#include <infiniband/verbs.h>
#include <sched.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "network_pair.h"

namespace causeway::bench::raw {
namespace {

constexpr uint32_t kReceives = 64;
constexpr uint32_t kInline = 64;
enum : uint64_t { kOperation = 1, kReceiveFirst = 16 };

void require(bool good, const char* call) {
  if (!good) throw std::runtime_error(std::string(call) + ": " + strerror(errno));
}
void must(int error, const char* call) {
  if (error != 0) throw std::runtime_error(std::string(call) + ": " + strerror(error));
}

struct Card {
  uint32_t number, packet;
  uint32_t key, unused;
  uint64_t base;
  ibv_gid gid;
};

class VerbsPair final : public NetworkPair {
 public:
  explicit VerbsPair(const NetworkPairParams& params);
  ~VerbsPair() override;
  void put(size_t length, uint64_t count, uint32_t window) override {
    batches(IBV_WR_RDMA_WRITE, length, count, window);
  }
  void get(size_t length, uint64_t count, uint32_t window) override {
    batches(IBV_WR_RDMA_READ, length, count, window);
  }
  void trips(uint64_t count, size_t payload) override;
  void progress() override;

 private:
  void open(const std::string& device);
  void make_queue_pair();
  void connect(const Card& theirs);
  void post_receive(uint64_t slot);
  void post(ibv_wr_opcode opcode, size_t at, size_t length);
  void send_message();
  void batches(ibv_wr_opcode opcode, size_t length, uint64_t count, uint32_t window);
  void poll();

  ibv_context* context_ = nullptr;
  ibv_pd* pd_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_qp* qp_ = nullptr;
  ibv_mr *mr_ = nullptr, *receive_mr_ = nullptr;
  ibv_mtu mtu_ = IBV_MTU_1024;
  unsigned char* memory_;
  size_t bytes_;
  int gid_index_ = 0;
  uint64_t remote_ = 0;
  uint32_t remote_key_ = 0;
  uint32_t depth_ = 2 * kMostAtOnce, in_flight_ = 0, idle_ = 0;
  uint64_t arrived_ = 0;
  unsigned char receive_[kReceives * kMessageBytes] = {};
};

// The named device, or the first one with an active port.
void VerbsPair::open(const std::string& device) {
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  require(list != nullptr && count > 0, "no RDMA device");
  for (int i = 0; i < count && context_ == nullptr; ++i) {
    if (!device.empty() && device != ibv_get_device_name(list[i])) continue;
    ibv_context* const one = ibv_open_device(list[i]);
    ibv_port_attr port{};
    if (one != nullptr && ibv_query_port(one, 1, &port) == 0 && port.state == IBV_PORT_ACTIVE) {
      context_ = one;
      mtu_ = port.active_mtu;
    } else if (one != nullptr) {
      ibv_close_device(one);
    }
  }
  ibv_free_device_list(list);
  if (context_ == nullptr) throw std::runtime_error("no active RDMA device " + device);
  // An IPv4 address, where there is one, is what routes.
  for (int i = 0; i < 16; ++i) {
    ibv_gid gid{};
    if (ibv_query_gid(context_, 1, i, &gid) != 0) break;
    if (gid.raw[10] == 0xff && gid.raw[11] == 0xff) gid_index_ = i;
  }
}

void VerbsPair::make_queue_pair() {
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq_;
  init.qp_type = IBV_QPT_RC;
  init.sq_sig_all = 1;
  init.cap = {depth_, kReceives, 1, 1, kInline};
  qp_ = ibv_create_qp(pd_, &init);
  require(qp_ != nullptr, "ibv_create_qp");
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
  must(ibv_modify_qp(qp_, &attr,
                     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
       "ibv_modify_qp to INIT");
}

void VerbsPair::connect(const Card& theirs) {
  remote_ = theirs.base;
  remote_key_ = theirs.key;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = mtu_;
  attr.dest_qp_num = theirs.number;
  attr.rq_psn = theirs.packet;
  attr.max_dest_rd_atomic = 16;
  attr.min_rnr_timer = 12;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.grh.dgid = theirs.gid;
  attr.ah_attr.grh.sgid_index = static_cast<uint8_t>(gid_index_);
  attr.ah_attr.grh.hop_limit = 64;
  must(ibv_modify_qp(qp_, &attr,
                     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
       "ibv_modify_qp to RTR");
  attr = {};
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 17;
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;
  attr.sq_psn = 0;
  attr.max_rd_atomic = 16;
  must(ibv_modify_qp(qp_, &attr,
                     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                         IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
       "ibv_modify_qp to RTS");
}

VerbsPair::VerbsPair(const NetworkPairParams& params)
    : memory_(params.memory), bytes_(params.bytes) {
  open(params.transport);
  pd_ = ibv_alloc_pd(context_);
  require(pd_ != nullptr, "ibv_alloc_pd");
  cq_ = ibv_create_cq(context_, static_cast<int>(depth_ + kReceives), nullptr, nullptr, 0);
  require(cq_ != nullptr, "ibv_create_cq");
  mr_ = ibv_reg_mr(pd_, memory_, 2 * bytes_,
                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
  const int local = IBV_ACCESS_LOCAL_WRITE;  // the macro compares it with another enumeration
  receive_mr_ = ibv_reg_mr(pd_, receive_, sizeof receive_, local);
  require(mr_ != nullptr && receive_mr_ != nullptr, "ibv_reg_mr");
  make_queue_pair();
  for (uint32_t i = 0; i < kReceives; ++i) post_receive(i);
  Card own{qp_->qp_num, 0, mr_->rkey, 0, reinterpret_cast<uint64_t>(memory_), {}};
  must(ibv_query_gid(context_, 1, gid_index_, &own.gid), "ibv_query_gid");
  connect(exchanged(params.exchange, own));
  params.exchange("");  // both can receive from here on
}

VerbsPair::~VerbsPair() {
  if (qp_ != nullptr) ibv_destroy_qp(qp_);
  if (mr_ != nullptr) ibv_dereg_mr(mr_);
  if (receive_mr_ != nullptr) ibv_dereg_mr(receive_mr_);
  if (cq_ != nullptr) ibv_destroy_cq(cq_);
  if (pd_ != nullptr) ibv_dealloc_pd(pd_);
  if (context_ != nullptr) ibv_close_device(context_);
}

void VerbsPair::post_receive(uint64_t slot) {
  ibv_sge piece{reinterpret_cast<uint64_t>(receive_ + slot * kMessageBytes), kMessageBytes,
                receive_mr_->lkey};
  ibv_recv_wr work{}, *bad = nullptr;
  work.wr_id = kReceiveFirst + slot;
  work.sg_list = &piece;
  work.num_sge = 1;
  must(ibv_post_recv(qp_, &work, &bad), "ibv_post_recv");
}

void VerbsPair::post(ibv_wr_opcode opcode, size_t at, size_t length) {
  ibv_sge piece{reinterpret_cast<uint64_t>(memory_ + bytes_ + at), static_cast<uint32_t>(length),
                mr_->lkey};
  ibv_send_wr work{}, *bad = nullptr;
  work.wr_id = kOperation;
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = opcode;
  work.send_flags = opcode != IBV_WR_RDMA_READ && length <= kInline ? IBV_SEND_INLINE : 0;
  work.wr.rdma.remote_addr = remote_ + at;
  work.wr.rdma.rkey = remote_key_;
  while (in_flight_ == depth_) poll();
  must(ibv_post_send(qp_, &work, &bad), "ibv_post_send");
  ++in_flight_;
}

void VerbsPair::poll() {
  ibv_wc entries[16];
  const int got = ibv_poll_cq(cq_, 16, entries);
  if (got <= 0) {
    if (++idle_ % 1000 == 0) sched_yield();
    return;
  }
  for (int i = 0; i < got; ++i) {
    if (entries[i].status != IBV_WC_SUCCESS)
      throw std::runtime_error(ibv_wc_status_str(entries[i].status));
    if (entries[i].wr_id == kOperation) {
      --in_flight_;
      continue;
    }
    ++arrived_;
    post_receive(entries[i].wr_id - kReceiveFirst);
  }
}

void VerbsPair::batches(ibv_wr_opcode opcode, size_t length, uint64_t count, uint32_t window) {
  const size_t step = length * window <= bytes_ ? length : 0;
  for (uint64_t begun = 0; begun < count; begun += window) {
    for (uint32_t i = 0; i < window; ++i) post(opcode, step * i, length);
    while (in_flight_ != 0) poll();
  }
}

void VerbsPair::send_message() {
  post(IBV_WR_SEND, 0, kMessageBytes);
}

void VerbsPair::trips(uint64_t count, size_t /*payload*/) {
  for (uint64_t i = 0; i < count; ++i) {
    arrived_ = 0;
    send_message();
    while (arrived_ == 0) poll();
  }
}

void VerbsPair::progress() {
  poll();
  for (; arrived_ > 0; --arrived_) send_message();
}

}  // namespace

std::unique_ptr<NetworkPair> make_network_pair(const NetworkPairParams& params) {
  return std::make_unique<VerbsPair>(params);
}

}  // namespace causeway::bench::raw
