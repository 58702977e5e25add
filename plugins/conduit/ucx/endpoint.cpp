// Opening and closing a worker; what it can do; its counters.
#include "endpoint.h"

#include <sys/resource.h>

#include <cctype>
#include <cstring>

#include "../../common/known_part.h"
#include "../common/ep_answers.h"
#include "../common/shared_room.h"
#include "guard.h"
#include "services.h"

namespace causeway::ucx {
namespace {

bool has_word(const std::string& text, const std::string& word) {
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if (end == text.size() ||
        (text[end] != '_' && !std::isalnum(static_cast<unsigned char>(text[end]))))
      return true;
  }
  return false;
}

// UCX takes names that it does not know, in case a transport does, and complains when none did.
// What the conduit sets for transports that are not there is nobody's mistake.
void tell_unused(const cwyc_domain& domain) {
  const std::string complaint = unused_settings();
  for (const auto& [name, value] : domain.options.settings) {
    if (!has_word(complaint, "UCX_" + name)) continue;
    log(CWY_LOG_WARN,
        "option 'settings': no part of UCX that is in use knows %s=%s; see 'ucx_info -cf'",
        name.c_str(), value.c_str());
  }
}

cwy_status create_worker(cwyc_ep* ep, cwy_err* err) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  params.am_alignment = payload_alignment;
  forget_complaint();
  const InEnvironment settings(ep->domain->transports);
  const ucs_status_t status = ucp_worker_create(ep->domain->context, &params, &ep->worker);
  if (status == UCS_OK) {
    tell_unused(*ep->domain);
    return CWY_OK;
  }
  ep->worker = nullptr;
  return report(err, CWY_ERR_DEVICE_FAILED, "UCX cannot make a worker: %s%s",
                explain(status).c_str(), lack_of_room(*ep->domain).c_str());
}

ucs_status_t set_handler(cwyc_ep* ep, unsigned id, ucp_am_recv_callback_t callback) {
  ucp_am_handler_param_t param{};
  param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                     UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  param.id = id;
  param.flags = UCP_AM_FLAG_WHOLE_MSG;
  param.cb = callback;
  param.arg = ep;
  return ucp_worker_set_am_recv_handler(ep->worker, &param);
}

cwy_status set_handlers(cwyc_ep* ep, cwy_err* err) {
  ucs_status_t status = set_handler(ep, id_request, request_arrived);
  if (status == UCS_OK) status = set_handler(ep, id_reply, reply_arrived);
  if (status == UCS_OK) return CWY_OK;
  return report(err, CWY_ERR_DEVICE_FAILED, "UCX takes no message handlers: %s",
                ucs_status_string(status));
}

cwy_status take_address(cwyc_ep* ep, cwy_err* err) {
  ucp_address_t* address = nullptr;
  size_t length = 0;
  const ucs_status_t status = ucp_worker_get_address(ep->worker, &address, &length);
  if (status != UCS_OK)
    return report(err, CWY_ERR_DEVICE_FAILED, "UCX does not say this worker's address: %s",
                  ucs_status_string(status));
  ep->worker_address.assign(reinterpret_cast<const char*>(address), length);
  ucp_worker_release_address(ep->worker, address);
  return CWY_OK;
}

}  // namespace

std::string lack_of_room(const cwyc_domain& domain) {
  return domain.shared_memory ? complaint_of_dev_shm("UCX", shared_bytes) : "";
}

cwy_status demand_file_size(const cwyc_domain& domain, uint64_t bytes, cwy_err* err) {
  rlimit limit{};
  if (!domain.shared_memory || getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= bytes)
    return CWY_OK;
  return report(err, CWY_ERR_NOMEM,
                "the file size limit (ulimit -f) is %zu bytes, and shared memory of UCX's would "
                "be a file of %zu; raise it, or set tls to transports of the network only",
                size_t{limit.rlim_cur}, size_t{bytes});
}

cwy_status Conduit::ep_open(cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out,
                            cwy_err* err) {
  return guarded(err, [&]() -> cwy_status {
    auto ep = std::make_unique<cwyc_ep>();
    ep->domain = domain;
    ep->params = known_part(*params);
    ep->job = domain->job;
    ep->self_rank = services->job->rank;
    ep->self_epoch = services->job->epoch;
    ep->outstanding_max = static_cast<uint32_t>(domain->options.outstanding);
    ep->newest_epoch.assign(std::max(params->max_peers, services->job->size), 0);
    ep->traffic.open(static_cast<uint32_t>(ep->newest_epoch.size()));
    ep->linked_epoch.assign(ep->newest_epoch.size(), cwyc_ep::unlinked);
    ep->seen = {ep->job, farewell_seen, ep->self_rank,
                pack_info(ep->self_epoch, MessageKind::farewell, 0)};
    cwy_status status = create_worker(ep.get(), err);
    if (status == CWY_OK) status = set_handlers(ep.get(), err);
    if (status == CWY_OK) status = take_address(ep.get(), err);
    if (status != CWY_OK) {
      if (ep->worker != nullptr) ucp_worker_destroy(ep->worker);
      return status;
    }
    *out = ep.release();
    return CWY_OK;
  });
}

void Conduit::ep_close(cwyc_ep* ep) {
  const SignalsBlocked blocked;
  destroy_closed_keys(ep);
  take_back_released(ep);
  if (close_links(ep)) {
    ucp_worker_destroy(ep->worker);
  } else {
    // Nothing calls into it any more, so nothing of this endpoint is called from it either.
    log(CWY_LOG_INFO, "a peer never answered; UCX's worker is left until the process ends");
    ep->domain->worker_left = true;
  }
  ep->worker = nullptr;
  delete ep;
}

cwy_status Conduit::ep_query(cwyc_ep* ep, cwyc_ep_attr* attr) {
  cwyc_ep_attr a{};
  a.head = CWY_HEAD(cwyc_ep_attr);
  a.caps = CWYC_CAP_PUT | CWYC_CAP_GET | CWYC_CAP_ATOMIC | CWYC_CAP_AM_LONG | CWYC_CAP_AM_PREPARE |
           CWYC_CAP_MEM_ALLOC | CWYC_CAP_MEM_REG | CWYC_CAP_PEER_FAILURE;
  // Elsewhere some peers are mapped and others are not, and the conduit shm maps them better.
  if (ep->domain->only_shared_memory) a.caps |= CWYC_CAP_DIRECT;
  // Neither UCX's messages nor the kernel look for a registration.
  if (ep->domain->shared_memory || ep->domain->over_tcp) a.caps |= CWYC_CAP_REACHES_RELEASED;
  if (ep->domain->options.wakeup) a.caps |= CWYC_CAP_WAIT_FD;
  a.conn_size = sizeof(Connection);
  a.ep_address_max = sizeof(EndpointAddress) + ep->worker_address.size();
  a.rkey_max = ep->domain->rkey_max;
  a.rma_max = UINT64_MAX / 2;
  a.am_medium_max = ep->domain->options.medium_max;
  a.am_long_max = 1u << 30;
  a.mem_forms = CWY_FORM_HOST_VA;
  if ((ep->domain->memory_types & ~(1ull << UCS_MEMORY_TYPE_HOST)) != 0)
    a.mem_forms |= CWY_FORM_DEVICE_VA;
  declare_atomics(ep->domain, a.atomic_ops);
  a.speed = ep->domain->only_shared_memory ? 10'000'000'000 : 12'500'000'000;
  a.ops_tables = 1;
  return give_attributes(a, attr);
}

cwy_status Conduit::ep_address(cwyc_ep* ep, void* buf, uint64_t* len, cwy_err* err) {
  const EndpointAddress header{wire_magic, static_cast<uint32_t>(ep->worker_address.size()),
                               ep->domain->pid_namespace};
  const uint64_t room = *len;
  *len = sizeof header + ep->worker_address.size();
  if (room < *len)
    return report(err, CWY_ERR_INVALID, "an address of this endpoint needs %llu bytes",
                  static_cast<unsigned long long>(*len));
  std::memcpy(buf, &header, sizeof header);
  std::memcpy(static_cast<char*>(buf) + sizeof header, ep->worker_address.data(),
              ep->worker_address.size());
  return CWY_OK;
}

void Conduit::ep_stats(cwyc_ep* ep, cwyc_stat_fn fn, void* arg) {
  constexpr const char* names[statistic_count] = {"short_sent",
                                                  "medium_sent",
                                                  "long_sent",
                                                  "bytes_sent",
                                                  "short_received",
                                                  "medium_received",
                                                  "long_received",
                                                  "bytes_received",
                                                  "put",
                                                  "put_bytes",
                                                  "get",
                                                  "get_bytes",
                                                  "atomic",
                                                  "flush",
                                                  "retries",
                                                  "held",
                                                  "dropped"};
  for (uint32_t i = 0; i < statistic_count; ++i) fn(arg, names[i], ep->statistics[i]);
}

void Conduit::ep_traffic(cwyc_ep* ep, cwyc_traffic_fn fn, void* arg) {
  ep->traffic.tell(fn, arg, ep->statistics[retry_count]);
}

}  // namespace causeway::ucx
