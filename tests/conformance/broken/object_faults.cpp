// Faults of devices, endpoints, attributes and addresses, in what they leave behind, and in
// sleeping.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "front.h"

namespace broken {
namespace {

void leak() {
  [[maybe_unused]] const int leaked = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

cwy_status nobody(cwyc_domain*, const cwyc_peer_desc*, cwy_err* err) {
  return refused(err, CWY_ERR_UNREACHABLE, "for no reason");
}

cwy_status ghost_device(const cwy_options*, cwyc_device_fn fn, void* arg, cwy_err*) {
  cwyc_device ghost{};
  ghost.head = CWY_HEAD(cwyc_device);
  ghost.name = "ghost";
  ghost.description = "a device that cannot be opened";
  ghost.path = "";
  ghost.state = CWYC_DEVICE_UP;
  fn(arg, &ghost);
  return CWY_OK;
}
cwy_status any_device(const cwy_options* opts, const cwyc_domain_params* params, cwyc_domain** out,
                      cwy_err* err) {
  cwyc_domain_params own = *params;
  own.device = "";
  return g_inner->domain_open(opts, &own, out, err);
}
cwy_status leaking_domain(const cwy_options* opts, const cwyc_domain_params* params,
                          cwyc_domain** out, cwy_err* err) {
  leak();
  return g_inner->domain_open(opts, params, out, err);
}

// The domain has room for one.
unsigned g_endpoints = 0;
cwy_status one_endpoint(cwyc_domain* domain, const cwyc_ep_params* params, cwyc_ep** out,
                        cwy_err* err) {
  if (g_endpoints != 0) return refused(err, CWY_ERR_NOMEM, "there is an endpoint");
  const cwy_status status = g_inner->ep_open(domain, params, out, err);
  if (status == CWY_OK) ++g_endpoints;
  return status;
}
void one_endpoint_less(cwyc_ep* ep) {
  --g_endpoints;
  g_inner->ep_close(ep);
}

cwy_status moody_attributes(cwyc_ep* ep, cwyc_ep_attr* attr) {
  const cwy_status status = g_inner->ep_query(ep, attr);
  attr->am_medium_max -= 8 * tick();
  return status;
}

// The conduit behind has one class: it is told by class_query, with the fault.
template <void (*fault)(cwyc_class_attr&)>
void tell_class() {
  g_module.class_of = [](cwyc_domain*, const cwyc_peer_desc*) -> uint32_t { return 0; };
  g_module.class_query = [](cwyc_ep* ep, uint32_t, cwyc_class_attr* c) -> cwy_status {
    cwyc_ep_attr a{};
    a.head = CWY_HEAD(cwyc_ep_attr);
    const cwy_status status = g_inner->ep_query(ep, &a);
    c->caps = a.caps & ~uint64_t{CWYC_CAPS_OF_EP};
    c->rma_max = a.rma_max, c->am_medium_max = a.am_medium_max;
    c->am_long_max = a.am_long_max, c->iov_max = a.iov_max;
    std::copy(std::begin(a.atomic_ops), std::end(a.atomic_ops), c->atomic_ops);
    fault(*c);
    return status;
  };
}
void moody_class(cwyc_class_attr& c) {
  c.am_medium_max -= 8 * tick();
}
void small_class(cwyc_class_attr& c) {
  c.am_medium_max = 256;
}
void endpoint_in_class(cwyc_class_attr& c) {
  c.caps |= CWYC_CAP_NAP;
}
void honest_class(cwyc_class_attr&) {}
void claimed_entry() {
  tell_class<honest_class>();
  g_table.putv = nullptr;
}
void class_too_far() {
  tell_class<honest_class>();
  g_module.class_of = [](cwyc_domain*, const cwyc_peer_desc*) -> uint32_t { return 1; };
}

// Whatever room there is.
cwy_status overrun_address(cwyc_ep* ep, void* buf, uint64_t* length, cwy_err* err) {
  if (*length != 0) return g_inner->ep_address(ep, buf, length, err);
  std::memset(buf, 0, 16);
  return CWY_OK;
}

void nameless_statistics(cwyc_ep*, cwyc_stat_fn fn, void* arg) {
  fn(arg, "", 1);
}

cwy_status no_more_threads(cwyc_ep*, uint32_t multithreaded) {
  return multithreaded != 0 ? CWY_ERR_UNSUPPORTED : CWY_OK;
}

cwy_status leaking_alloc(cwyc_domain* domain, uint64_t length, void** addr, cwyc_mem** out,
                         cwy_err* err) {
  leak();
  return g_inner->mem_alloc(domain, length, addr, out, err);
}
cwy_status leaking_reg(cwyc_domain* domain, const cwy_memref* ref, cwyc_mem** out, cwy_err* err) {
  leak();
  return g_inner->mem_reg(domain, ref, out, err);
}
cwy_status leaking_rkey(cwyc_ep* ep, const cwyc_peer_desc* peer, const void* buf, uint64_t length,
                        cwyc_rkey** out, cwy_err* err) {
  leak();
  return g_inner->rkey_open(ep, peer, buf, length, out, err);
}

// ---- sleeping

// Over its bound.
void long_nap(cwyc_ep*, uint64_t) {
  const timespec t{3, 0};
  nanosleep(&t, nullptr);
}

// A descriptor that has nothing to do with what arrives.
template <unsigned readable>
void unrelated_descriptor() {
  g_module.ep_query = [](cwyc_ep* ep, cwyc_ep_attr* attr) -> cwy_status {
    const cwy_status status = g_inner->ep_query(ep, attr);
    attr->caps |= uint64_t{CWYC_CAP_WAIT_FD};
    return status;
  };
  g_module.wait_fd = [](cwyc_ep*, int* fd) -> cwy_status {
    static const int event = eventfd(readable, EFD_CLOEXEC);
    *fd = event;
    return CWY_OK;
  };
  g_module.arm = [](cwyc_ep*) -> cwy_status { return CWY_OK; };
}

// Some completions come with a later call of progress, and end no sleep.
cwy_status get_later(cwyc_conn* c, void* dst, cwyc_mem* mem, uint64_t raddr, cwyc_rkey* rkey,
                     size_t length, uint32_t flags, cwyc_op* op) {
  if (tick() % 50 != 0) return g_ops->get(c, dst, mem, raddr, rkey, length, flags, op);
  g_later.add(1, [=] {
    if (g_ops->get(c, dst, mem, raddr, rkey, length, flags, nullptr) == CWY_RETRY) return false;
    op->fn(op, CWYC_DONE_REMOTE, CWY_OK, nullptr);
    return true;
  });
  return CWY_INPROGRESS;
}

const Faults faults{
    {"unknown_flags", [] { g_module.flags = 1; }},
    {"marked_table", [] { g_table.reserved = 1; }},
    {"reaches_nobody", [] { g_module.reach = nobody; }},
    {"ghost_device", [] { g_module.list_devices = ghost_device; }},
    {"any_device", [] { g_module.domain_open = any_device; }},
    {"leaking_domain", [] { g_module.domain_open = leaking_domain; }},
    {"one_endpoint",
     [] { g_module.ep_open = one_endpoint, g_module.ep_close = one_endpoint_less; }},
    {"moody_attributes", [] { g_module.ep_query = moody_attributes; }},
    {"moody_class", tell_class<moody_class>},
    {"small_class", tell_class<small_class>},
    {"endpoint_in_class", tell_class<endpoint_in_class>},
    {"honest_class", tell_class<honest_class>},
    {"claimed_entry", claimed_entry},
    {"class_too_far", class_too_far},
    {"overrun_address", [] { g_module.ep_address = overrun_address; }},
    {"nameless_statistics", [] { g_module.ep_stats = nameless_statistics; }},
    {"no_more_threads", [] { g_module.ep_threads = no_more_threads; }},
    {"leaking_alloc", [] { g_module.mem_alloc = leaking_alloc; }},
    {"leaking_reg", [] { g_module.mem_reg = leaking_reg; }},
    {"leaking_rkey", [] { g_module.rkey_open = leaking_rkey; }},
    {"long_nap", [] { g_module.nap = long_nap; }},
    {"dead_descriptor", unrelated_descriptor<0>},
    {"arm_overlooks", unrelated_descriptor<0>},
    {"unheard_room", unrelated_descriptor<0>},
    {"unwoken_thread", unrelated_descriptor<0>},
    {"loud_descriptor", unrelated_descriptor<1>},
    {"silent_completions",
     [] {
       use_later();
       unrelated_descriptor<0>();
       g_table.get = get_later;
     }},
};

}  // namespace
}  // namespace broken
