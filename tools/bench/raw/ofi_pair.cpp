// The loops over libfabric. A put is complete as FI_DELIVERY_COMPLETE says.

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "network_pair.h"

namespace causeway::bench::raw {
namespace {

constexpr int kReceives = 64;
constexpr size_t kReceiveBytes = 256;

void must(ssize_t answer, const char* call) {
  if (answer != 0)
    throw std::runtime_error(std::string(call) + ": " + fi_strerror(static_cast<int>(-answer)));
}

struct Close {
  template <class T>
  void operator()(T* object) const {
    if (object != nullptr) fi_close(&object->fid);
  }
};
template <class T>
using Fid = std::unique_ptr<T, Close>;

// Where a call puts the object that it opens, to be owned from then on.
template <class T>
class Opened {
 public:
  explicit Opened(Fid<T>& owner) : owner_(owner) {}
  ~Opened() { owner_.reset(object_); }
  operator T**() { return &object_; }

 private:
  Fid<T>& owner_;
  T* object_ = nullptr;
};

// The data that each side gives the other.
struct Words {
  uint64_t base, key;
  uint64_t length;
  uint8_t address[128];
};

struct Parts {
  fi_info* info = nullptr;
  Fid<fid_fabric> fabric;
  Fid<fid_domain> domain;
  Fid<fid_eq> eq;
  Fid<fid_cq> cq;
  Fid<fid_av> av;
  Fid<fid_pep> passive;
  Fid<fid_mr> mr, local_mr;
  Fid<fid_ep> ep;
  char* local = nullptr;
  void* desc = nullptr;  // of `local`, where the provider wants that
  fi_addr_t peer = FI_ADDR_UNSPEC;
  uint64_t remote = 0, key = 0;
  std::vector<char> receive = std::vector<char>(kReceives * kReceiveBytes);
  uint64_t done = 0, arrived = 0;
  uint32_t idle = 0;

  ~Parts() {
    ep.reset();
    if (info != nullptr) fi_freeinfo(info);
  }

  // A look at the queue. Receives are told from other completions by their context.
  void poll() {
    fi_cq_msg_entry entries[16];
    const ssize_t got = fi_cq_read(cq.get(), entries, 16);
    if (got == -FI_EAVAIL) throw std::runtime_error("an operation of the raw loop failed");
    if (got <= 0) {
      if (++idle % 1000 == 0) sched_yield();
      return;
    }
    idle = 0;
    for (ssize_t i = 0; i < got; ++i) {
      if (entries[i].op_context == nullptr) {
        ++done;
        continue;
      }
      ++arrived;
      post(static_cast<char*>(entries[i].op_context));
    }
  }
  void post(char* buffer) {
    must(fi_recv(ep.get(), buffer, kReceiveBytes, nullptr, FI_ADDR_UNSPEC, buffer), "fi_recv");
  }
  template <class Post>
  void posted(Post&& call) {
    ssize_t answer = 0;
    while ((answer = call()) == -FI_EAGAIN) poll();
    must(answer, "posting");
  }
  void put(size_t at, size_t length) {
    const iovec piece{local + at, length};
    const fi_rma_iov target{remote + at, length, key};
    fi_msg_rma message{};
    message.msg_iov = &piece;
    message.desc = &desc;
    message.iov_count = 1;
    message.addr = peer;
    message.rma_iov = &target;
    message.rma_iov_count = 1;
    posted([&] { return fi_writemsg(ep.get(), &message, FI_COMPLETION | FI_DELIVERY_COMPLETE); });
  }
  void get(size_t at, size_t length) {
    posted([&] {
      return fi_read(ep.get(), local + at, length, desc, peer, remote + at, key, nullptr);
    });
  }
  void await(uint64_t count) {
    while (done < count) poll();
  }
  void send(const void* data, size_t length) {
    posted([&] { return fi_inject(ep.get(), data, length, peer); });
  }
};

fi_info* find(const std::string& provider, bool connected) {
  fi_info* hints = fi_allocinfo();
  hints->caps = FI_MSG | FI_RMA;
  hints->ep_attr->type = connected ? FI_EP_MSG : FI_EP_RDM;
  hints->mode = FI_CONTEXT;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->fabric_attr->prov_name = strdup(provider.c_str());
  fi_info* list = nullptr;
  const int error = fi_getinfo(FI_VERSION(1, 15), nullptr, nullptr, 0, hints, &list);
  fi_freeinfo(hints);
  must(error, "fi_getinfo");
  fi_info* best = list;
  while (best != nullptr && best->fabric_attr->prov_name != provider) best = best->next;
  fi_info* own = best != nullptr ? fi_dupinfo(best) : nullptr;
  fi_freeinfo(list);
  if (own == nullptr) throw std::runtime_error("no provider " + provider);
  return own;
}

uint32_t next_event(fid_eq* eq, fi_eq_cm_entry& entry) {
  uint32_t event = 0;
  ssize_t got = 0;
  while ((got = fi_eq_read(eq, &event, &entry, sizeof entry, 0)) == -FI_EAGAIN) sched_yield();
  if (got < 0) throw std::runtime_error("connecting failed");
  return event;
}

bool is_connected(const std::string& provider) {
  return provider == "tcp" || provider == "verbs" || provider == "net" || provider == "sockets";
}

// The launcher removes what begins so, however the job ends.
void name_shared_object(fi_info& info) {
  const char* const session = getenv("CAUSEWAY_SESSION_DIR");
  if (session == nullptr) return;
  const std::string name =
      "fi_shm://" + std::string(basename(session)) + ".raw." + std::to_string(getpid());
  free(info.src_addr);
  info.src_addr = strdup(name.c_str());
  info.src_addrlen = name.size() + 1;
  info.addr_format = FI_ADDR_STR;
}

void open_domain(Parts& p, const std::string& provider, bool connected) {
  p.info = find(provider, connected);
  if (provider == "shm") name_shared_object(*p.info);
  must(fi_fabric(p.info->fabric_attr, Opened(p.fabric), nullptr), "fi_fabric");
  must(fi_domain(p.fabric.get(), p.info, Opened(p.domain), nullptr), "fi_domain");
  fi_cq_attr cq_attr{};
  cq_attr.format = FI_CQ_FORMAT_MSG;
  cq_attr.size = 4096;
  must(fi_cq_open(p.domain.get(), &cq_attr, Opened(p.cq), nullptr), "fi_cq_open");
}

// The first half of the memory is the peer's to read and write, the second half is where this
// side's own operations have their data.
void register_memory(Parts& p, const NetworkPairParams& params) {
  must(fi_mr_reg(p.domain.get(), params.memory, params.bytes, FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
                 7, 0, Opened(p.mr), nullptr),
       "fi_mr_reg");
  p.local = reinterpret_cast<char*>(params.memory) + params.bytes;
  if ((p.info->domain_attr->mr_mode & FI_MR_LOCAL) == 0) return;
  must(fi_mr_reg(p.domain.get(), p.local, params.bytes, FI_READ | FI_WRITE, 0, 8, 0,
                 Opened(p.local_mr), nullptr),
       "fi_mr_reg");
  p.desc = fi_mr_desc(p.local_mr.get());
}

Words describe_memory(const Parts& p, const NetworkPairParams& params) {
  Words words{};
  const bool virtual_address = (p.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  words.base = virtual_address ? reinterpret_cast<uint64_t>(params.memory) : 0;
  words.key = fi_mr_key(p.mr.get());
  words.length = sizeof words.address;
  return words;
}

// Both sides listen, since neither knows yet which one the other connects to.
void listen(Parts& p, Words& words) {
  fi_eq_attr eq_attr{};
  must(fi_eq_open(p.fabric.get(), &eq_attr, Opened(p.eq), nullptr), "fi_eq_open");
  must(fi_passive_ep(p.fabric.get(), p.info, Opened(p.passive), nullptr), "fi_passive_ep");
  must(fi_pep_bind(p.passive.get(), &p.eq->fid, 0), "fi_pep_bind");
  must(fi_listen(p.passive.get()), "fi_listen");
  must(fi_getname(&p.passive->fid, words.address, &words.length), "fi_getname");
}

// Makes the endpoint, bound to what tells it of its peers, and enables it.
void open_endpoint(Parts& p, fi_info* info, fid* peers) {
  must(fi_endpoint(p.domain.get(), info, Opened(p.ep), nullptr), "fi_endpoint");
  must(fi_ep_bind(p.ep.get(), peers, 0), "fi_ep_bind");
  must(fi_ep_bind(p.ep.get(), &p.cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  must(fi_enable(p.ep.get()), "fi_enable");
}

void open_by_address(Parts& p, Words& words) {
  fi_av_attr av_attr{};
  must(fi_av_open(p.domain.get(), &av_attr, Opened(p.av), nullptr), "fi_av_open");
  open_endpoint(p, p.info, &p.av->fid);
  must(fi_getname(&p.ep->fid, words.address, &words.length), "fi_getname");
}

void connect(Parts& p, const Words& other, bool first) {
  fi_eq_cm_entry entry{};
  fi_info* info = p.info;
  if (!first) {
    if (next_event(p.eq.get(), entry) != FI_CONNREQ) throw std::runtime_error("no request came");
    info = entry.info;
  } else {
    info->dest_addr = std::malloc(other.length);
    std::memcpy(info->dest_addr, other.address, other.length);
    info->dest_addrlen = other.length;
  }
  open_endpoint(p, info, &p.eq->fid);
  if (first) must(fi_connect(p.ep.get(), other.address, nullptr, 0), "fi_connect");
  if (!first) must(fi_accept(p.ep.get(), nullptr, 0), "fi_accept");
  if (info != p.info) fi_freeinfo(info);
  if (next_event(p.eq.get(), entry) != FI_CONNECTED) throw std::runtime_error("not connected");
}

class OfiPair final : public NetworkPair {
 public:
  explicit OfiPair(const NetworkPairParams& params);
  void put(size_t length, uint64_t count, uint32_t window) override;
  void get(size_t length, uint64_t count, uint32_t window) override;
  void trips(uint64_t count, size_t payload) override;
  void progress() override;

 private:
  template <class Post>
  void batches(size_t length, uint64_t count, uint32_t window, Post&& post);

  size_t bytes_;
  Parts parts_;
};

OfiPair::OfiPair(const NetworkPairParams& params) : bytes_(params.bytes) {
  const bool connected = is_connected(params.transport);
  Parts& p = parts_;
  open_domain(p, params.transport, connected);
  register_memory(p, params);
  Words words = describe_memory(p, params);
  connected ? listen(p, words) : open_by_address(p, words);
  const Words other = exchanged(params.exchange, words);
  p.remote = other.base;
  p.key = other.key;
  if (connected)
    connect(p, other, params.first);
  else if (fi_av_insert(p.av.get(), other.address, 1, &p.peer, 0, nullptr) != 1)
    throw std::runtime_error("fi_av_insert failed");
  for (int i = 0; i < kReceives; ++i) p.post(&p.receive[static_cast<size_t>(i) * kReceiveBytes]);
}

template <class Post>
void OfiPair::batches(size_t length, uint64_t count, uint32_t window, Post&& post) {
  Parts& p = parts_;
  const size_t step = length * window <= bytes_ ? length : 0;
  for (uint64_t begun = 0; begun < count; begun += window) {
    p.done = 0;
    for (uint32_t i = 0; i < window; ++i) post(step * i);
    p.await(window);
  }
}

void OfiPair::put(size_t length, uint64_t count, uint32_t window) {
  batches(length, count, window, [&](size_t at) { parts_.put(at, length); });
}

void OfiPair::get(size_t length, uint64_t count, uint32_t window) {
  batches(length, count, window, [&](size_t at) { parts_.get(at, length); });
}

void OfiPair::trips(uint64_t count, size_t /*payload*/) {
  const char data[kMessageBytes] = {};
  for (uint64_t i = 0; i < count; ++i) {
    parts_.arrived = 0;
    parts_.send(data, kMessageBytes);
    while (parts_.arrived == 0) parts_.poll();
  }
}

void OfiPair::progress() {
  const char data[kMessageBytes] = {};
  parts_.poll();
  for (; parts_.arrived > 0; --parts_.arrived) parts_.send(data, kMessageBytes);
}

}  // namespace

std::unique_ptr<NetworkPair> make_network_pair(const NetworkPairParams& params) {
  return std::make_unique<OfiPair>(params);
}

}  // namespace causeway::bench::raw
