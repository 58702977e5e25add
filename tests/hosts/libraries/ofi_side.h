// One side of a pair of processes with a datagram endpoint of libfabric's each, without the
// library: what the programs here have in common.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "answer.h"

namespace libraries {

inline void require(long answer, const char* call) {
  if (answer != 0) give_up(2, std::string(call) + ": " + fi_strerror(static_cast<int>(-answer)));
}

struct Side {
  fi_info* info = nullptr;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_cq* cq = nullptr;
  fid_av* av = nullptr;
  fid_ep* ep = nullptr;
  fi_addr_t peer = FI_ADDR_UNSPEC;
};

// Opened as the conduit ofi opens it: polled by one thread, registrations of any kind accepted.
// Status 77 where libfabric does not offer `provider` with `caps`.
inline void open_side(Side& s, const std::string& provider, uint64_t caps) {
  fi_info* hints = fi_allocinfo();
  hints->caps = caps;
  hints->ep_attr->type = FI_EP_RDM;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->fabric_attr->prov_name = strdup(provider.c_str());
  const int error = fi_getinfo(FI_VERSION(1, 15), nullptr, nullptr, 0, hints, &s.info);
  fi_freeinfo(hints);
  if (error != 0) give_up(77, "SKIPPED: libfabric does not offer " + provider + " for this here");
  require(fi_fabric(s.info->fabric_attr, &s.fabric, nullptr), "fi_fabric");
  require(fi_domain(s.fabric, s.info, &s.domain, nullptr), "fi_domain");
  fi_cq_attr cq{};
  cq.format = FI_CQ_FORMAT_DATA;
  require(fi_cq_open(s.domain, &cq, &s.cq, nullptr), "fi_cq_open");
  fi_av_attr av{};
  av.type = FI_AV_TABLE;
  require(fi_av_open(s.domain, &av, &s.av, nullptr), "fi_av_open");
  require(fi_endpoint(s.domain, s.info, &s.ep, nullptr), "fi_endpoint");
  require(fi_ep_bind(s.ep, &s.av->fid, 0), "fi_ep_bind");
  require(fi_ep_bind(s.ep, &s.cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  require(fi_enable(s.ep), "fi_enable");
}

// Gives the other process this side's address and `card`, and takes the other's.
template <class Card>
Card exchange(Side& s, int socket, const Card& card) {
  struct {
    Card card;
    uint8_t address[256];
  } own{card, {}}, theirs{};
  size_t length = sizeof own.address;
  require(fi_getname(&s.ep->fid, own.address, &length), "fi_getname");
  if (write(socket, &own, sizeof own) != sizeof own ||
      recv(socket, &theirs, sizeof theirs, MSG_WAITALL) != sizeof theirs)
    give_up(2, "the other process has ended");
  if (fi_av_insert(s.av, theirs.address, 1, &s.peer, 0, nullptr) != 1) give_up(2, "fi_av_insert");
  return theirs.card;
}

}  // namespace libraries
