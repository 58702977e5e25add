// Stands in front of libfabric (LD_PRELOAD) and demands of the memory that a program names what
// libfabric's manual allows a provider to demand and the software providers do not: the modes of
// STANDIN_OFI, words with commas between them. Each operation is held to them and then
// passed on to the provider, so what a conduit registers, binds, enables, names and closes runs
// without an adapter; what an adapter's provider does itself, this does not show. Whoever breaks a
// rule gets one line and an abort.
//
// local       FI_MR_LOCAL: a local buffer has a descriptor, of a live registration for that use
// endpoint    FI_MR_ENDPOINT: a registration is bound and enabled before use, used by its endpoint
//             alone, and closed before that (cxi answers FI_EBUSY otherwise)
// virt_addr   FI_MR_VIRT_ADDR: peers name virtual addresses; with prov_key
// prov_key    FI_MR_PROV_KEY: the provider chooses the keys
// allocated   FI_MR_ALLOCATED: the pages can be had when memory is registered
// writable    as verbs: and they can be written to, whatever the access that was asked for
// rma_event   FI_MR_RMA_EVENT: registrations for counters alone are enabled later, and these
//             are refused
// raw=N       no FI_DELIVERY_COMPLETE, and max_order_raw_size is N: a read behind a put of N bytes
//             or more proves nothing
// most=N      there is room for N registrations; another one is FI_ENOMEM
//
// SPDX-License-Identifier: BSD-3-Clause
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "behind.h"

namespace {

[[noreturn]] void refuse(const char* call, const char* what) {
  std::fprintf(stderr, "ofi stand-in: %s: %s\n", call, what);
  std::abort();
}

struct Demands {
  int modes = 0;  // FI_MR_...
  bool writable = false;
  size_t raw = SIZE_MAX, most = SIZE_MAX;
  bool has(int mode) const { return (modes & mode) != 0; }
};

Demands read_demands() {
  Demands d;
  const struct {
    const char* word;
    int mode;
  } words[] = {{"local", FI_MR_LOCAL},         {"endpoint", FI_MR_ENDPOINT},
               {"virt_addr", FI_MR_VIRT_ADDR}, {"prov_key", FI_MR_PROV_KEY},
               {"allocated", FI_MR_ALLOCATED}, {"writable", 0},
               {"rma_event", FI_MR_RMA_EVENT}};
  const char* const text = std::getenv("STANDIN_OFI");
  const std::string all = text != nullptr ? text : "";
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find(',', at), all.size());
    const std::string word = all.substr(at, end - at);
    at = end + 1;
    const auto known = std::find_if(std::begin(words), std::end(words),
                                    [&](const auto& w) { return word == w.word; });
    if (known != std::end(words))
      d.modes |= known->mode, d.writable |= known->mode == 0;
    else if (word.starts_with("raw="))
      d.raw = std::stoull(word.substr(4));
    else if (word.starts_with("most="))
      d.most = std::stoull(word.substr(5));
    else
      refuse("STANDIN_OFI", word.c_str());
  }
  if (d.has(FI_MR_VIRT_ADDR) && !d.has(FI_MR_PROV_KEY))
    refuse("STANDIN_OFI", "virt_addr without prov_key");
  return d;
}
const Demands& demands() {
  static const Demands d = read_demands();
  return d;
}

template <typename Fn>
Fn* real(const char* name) {
  return behind<Fn>("libfabric.so.1", name);
}
// Layered providers call these too, for the provider below them.
bool from_libfabric(const void* caller) {
  Dl_info info{};
  return dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
         std::strstr(info.dli_fname, "libfabric") != nullptr;
}

// What the conduit holds in place of the provider's registration.
struct Registration {
  fid_mr mr{};  // first: the conduit's handle; its descriptor names this object
  fid_domain* domain = nullptr;
  fid_mr* behind = nullptr;  // NULL: not enabled
  fid_ep* ep = nullptr;      // bound to
  fi_mr_attr attr{};
  iovec piece{};
  uint32_t users = 0;  // operations in the provider's hands
};

std::recursive_mutex g_mutex;  // of everything below; a test has time
std::set<const void*> g_registrations;
uint64_t g_made = 0, g_most = 0;
struct Operation {
  std::vector<Registration*> uses;
  const void* ep;
  bool many;  // a receive buffer that comes back with FI_MULTI_RECV
};
std::map<const void*, Operation> g_operations;             // by context
int g_behind_modes = 0;                                    // what the provider demands itself
std::map<std::pair<uint64_t, uint64_t>, size_t> g_writes;  // by key and end: bytes

// The provider's own tables of the objects that were given others.
template <typename Ops>
std::map<const void*, const Ops*>& tables() {
  static std::map<const void*, const Ops*> map;
  return map;
}
template <typename Ops>
const Ops& behind(const void* object) {
  const std::lock_guard lock(g_mutex);
  return *tables<Ops>().at(object);
}
// Gives `object` a copy of its table, for `change`.
template <typename Ops, typename Change>
void replace(const void* object, Ops*& table, const Change& change) {
  const std::lock_guard lock(g_mutex);
  // For the rest of the process' life: an object does not say to everybody when it goes.
  static std::map<const Ops*, std::unique_ptr<Ops>> copies;
  const auto is_copy = [&](const auto& entry) { return entry.second.get() == table; };
  if (table == nullptr || std::any_of(copies.begin(), copies.end(), is_copy)) return;
  tables<Ops>()[object] = table;
  std::unique_ptr<Ops>& copy = copies[table];
  if (copy == nullptr) {
    copy = std::make_unique<Ops>();
    std::memcpy(static_cast<void*>(copy.get()), table, std::min(table->size, sizeof(Ops)));
    change(*copy);
  }
  table = copy.get();
}

// ---- registrations

int enable(Registration& r) {
  fi_mr_attr attr = r.attr;
  attr.mr_iov = &r.piece;
  // A key that names the base, for virtual addresses; 16 bits tell registrations apart.
  if (demands().has(FI_MR_PROV_KEY))
    attr.requested_key =
        ++g_made << 48 | (reinterpret_cast<uint64_t>(r.piece.iov_base) & ((uint64_t{1} << 48) - 1));
  const int error = behind<fi_ops_mr>(r.domain).regattr(&r.domain->fid, &attr, 0, &r.behind);
  if (error != 0) return error;
  r.mr.key = fi_mr_key(r.behind);
  r.mr.mem_desc = &r;
  return 0;
}

Registration& of(fid* handle) {
  const std::lock_guard lock(g_mutex);
  if (g_registrations.count(handle) == 0) refuse("fid_mr", "no registration, or a closed one");
  return *reinterpret_cast<Registration*>(handle);
}

int mr_close(fid* handle) {
  const std::lock_guard lock(g_mutex);
  Registration& r = of(handle);
  if (r.users != 0) refuse("fi_close", "a registration that an operation uses");
  if (r.behind != nullptr) fi_close(&r.behind->fid);
  g_registrations.erase(handle);
  delete &r;
  return 0;
}
int mr_bind(fid* handle, fid* what, uint64_t flags) {
  Registration& r = of(handle);
  if (!demands().has(FI_MR_ENDPOINT) || what->fclass != FI_CLASS_EP || flags != 0)
    refuse("fi_mr_bind", "nothing that this provider binds registrations to");
  if (r.behind != nullptr) refuse("fi_mr_bind", "enabled already");
  r.ep = reinterpret_cast<fid_ep*>(what);
  return 0;
}
int mr_control(fid* handle, int command, void*) {
  Registration& r = of(handle);
  if (command != FI_ENABLE || r.behind != nullptr) refuse("fi_mr_enable", "enabled already");
  if (demands().has(FI_MR_ENDPOINT) && r.ep == nullptr)
    refuse("fi_mr_enable", "before it is bound to an endpoint");
  return enable(r);
}
fi_ops g_mr_ops = {sizeof(fi_ops), mr_close, mr_bind, mr_control, nullptr, nullptr, nullptr};

// As an adapter takes hold of the pages of a registration.
bool has_pages(const fi_mr_attr& attr) {
  constexpr uint64_t written = FI_READ | FI_RECV | FI_REMOTE_WRITE;
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uint64_t>(attr.mr_iov->iov_base) / page * page;
  const auto end = reinterpret_cast<uint64_t>(attr.mr_iov->iov_base) + attr.mr_iov->iov_len;
  const bool write = demands().writable || (attr.access & written) != 0;
  return madvise(reinterpret_cast<void*>(begin), end - begin,
                 write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0;
}

int regattr(fid* domain, const fi_mr_attr* attr, uint64_t flags, fid_mr** out) {
  if (attr->iov_count != 1 || flags != 0) refuse("fi_mr_regattr", "flags, or pieces");
  const std::lock_guard lock(g_mutex);
  if (g_registrations.size() >= demands().most) return -FI_ENOMEM;
  if ((demands().has(FI_MR_ALLOCATED) || demands().writable) && !has_pages(*attr))
    return -FI_EFAULT;
  auto r = std::make_unique<Registration>();
  r->domain = reinterpret_cast<fid_domain*>(domain);
  r->attr = *attr;
  r->piece = *attr->mr_iov;
  r->mr.fid.fclass = FI_CLASS_MR;
  r->mr.fid.ops = &g_mr_ops;
  r->mr.key = FI_KEY_NOTAVAIL;
  if (!demands().has(FI_MR_ENDPOINT))
    if (const int error = enable(*r); error != 0) return error;
  if (!demands().has(FI_MR_PROV_KEY)) ++g_made;
  g_registrations.insert(r.get());
  g_most = std::max<uint64_t>(g_most, g_registrations.size());
  *out = &r.release()->mr;
  return 0;
}

// ---- operations

struct Access {
  const char* call;
  const fid_ep* ep;
  uint64_t flag;  // FI_SEND and so on
  bool many = false;
  std::vector<Registration*> uses{};
  // The provider's descriptor for the local bytes.
  void* local(const void* data, size_t length, void* desc, bool injected = false) {
    if (desc == nullptr) {
      if (demands().has(FI_MR_LOCAL) && !injected && length != 0)
        refuse(call, "a local buffer without a descriptor");
      return nullptr;
    }
    Registration& r = of(static_cast<fid*>(desc));
    if (r.behind == nullptr) refuse(call, "a registration that is not enabled");
    if (demands().has(FI_MR_ENDPOINT) && r.ep != ep)
      refuse(call, "a registration of another endpoint");
    const auto from = reinterpret_cast<uint64_t>(data);
    const auto base = reinterpret_cast<uint64_t>(r.piece.iov_base);
    if (from < base || from + length > base + r.piece.iov_len)
      refuse(call, "a buffer outside of its registration");
    if ((r.attr.access & flag) == 0) refuse(call, "a registration for another access");
    if (!injected) uses.push_back(&r);
    return fi_mr_desc(r.behind);
  }
  std::vector<void*> locals(const iovec* pieces, void** descs, size_t count, bool injected) {
    std::vector<void*> out;
    for (size_t i = 0; i < count; ++i)
      out.push_back(local(pieces[i].iov_base, pieces[i].iov_len,
                          descs != nullptr ? descs[i] : nullptr, injected));
    return out;
  }
  // Registrations stay in use until the context comes back.
  ssize_t posted(ssize_t error, const void* context) {
    const std::lock_guard lock(g_mutex);
    if (error != 0 || uses.empty()) return error;
    for (Registration* r : uses) ++r->users;
    g_operations[context] = {uses, ep, many};
    return 0;
  }
};

void forget(std::map<const void*, Operation>::iterator at) {
  for (Registration* r : at->second.uses) --r->users;
  g_operations.erase(at);
}

// The address that the provider has for a virtual one.
uint64_t target(uint64_t address, uint64_t key) {
  if (!demands().has(FI_MR_VIRT_ADDR) || (g_behind_modes & FI_MR_VIRT_ADDR) != 0) return address;
  return address - (key & ((uint64_t{1} << 48) - 1));
}

ssize_t ep_send(fid_ep* ep, const void* data, size_t length, void* desc, fi_addr_t to,
                void* context) {
  const std::lock_guard lock(g_mutex);
  Access a{"fi_send", ep, FI_SEND};
  void* const own = a.local(data, length, desc);
  return a.posted(behind<fi_ops_msg>(ep).send(ep, data, length, own, to, context), context);
}
ssize_t ep_sendv(fid_ep* ep, const iovec* pieces, void** descs, size_t count, fi_addr_t to,
                 void* context) {
  const std::lock_guard lock(g_mutex);
  Access a{"fi_sendv", ep, FI_SEND};
  std::vector<void*> own = a.locals(pieces, descs, count, false);
  return a.posted(behind<fi_ops_msg>(ep).sendv(ep, pieces, own.data(), count, to, context),
                  context);
}
ssize_t ep_recvmsg(fid_ep* ep, const fi_msg* message, uint64_t flags) {
  const std::lock_guard lock(g_mutex);
  Access a{"fi_recvmsg", ep, FI_RECV, (flags & FI_MULTI_RECV) != 0};
  fi_msg own = *message;
  std::vector<void*> descs = a.locals(message->msg_iov, message->desc, message->iov_count, false);
  own.desc = descs.data();
  return a.posted(behind<fi_ops_msg>(ep).recvmsg(ep, &own, flags), message->context);
}

ssize_t ep_writemsg(fid_ep* ep, const fi_msg_rma* message, uint64_t flags) {
  const std::lock_guard lock(g_mutex);
  Access a{"fi_writemsg", ep, FI_WRITE};
  fi_msg_rma own = *message;
  std::vector<void*> descs =
      a.locals(message->msg_iov, message->desc, message->iov_count, (flags & FI_INJECT) != 0);
  own.desc = descs.data();
  fi_rma_iov to = *message->rma_iov;
  g_writes[{to.key, to.addr + to.len}] = to.len;
  to.addr = target(to.addr, to.key);
  own.rma_iov = &to;
  return a.posted(behind<fi_ops_rma>(ep).writemsg(ep, &own, flags), message->context);
}
ssize_t ep_read(fid_ep* ep, void* data, size_t length, void* desc, fi_addr_t from, uint64_t address,
                uint64_t key, void* context) {
  const std::lock_guard lock(g_mutex);
  Access a{"fi_read", ep, FI_READ};
  void* const own = a.local(data, length, desc);
  const auto written = g_writes.find({key, address + 1});
  if (length == 1 && written != g_writes.end() && written->second >= demands().raw)
    refuse("fi_read", "behind a write that is too large to be ordered before it");
  return a.posted(
      behind<fi_ops_rma>(ep).read(ep, data, length, own, from, target(address, key), key, context),
      context);
}

// Local operands of atomics, and the address at the target.
struct AtomicMessage {
  fi_msg_atomic own;
  fi_rma_ioc to;
  std::vector<void*> descs;
  AtomicMessage(Access& a, const fi_msg_atomic* message, size_t size)
      : own(*message), to(*message->rma_iov) {
    for (size_t i = 0; i < message->iov_count; ++i)
      descs.push_back(a.local(message->msg_iov[i].addr, message->msg_iov[i].count * size,
                              message->desc != nullptr ? message->desc[i] : nullptr));
    own.desc = descs.data();
    to.addr = target(to.addr, to.key);
    own.rma_iov = &to;
  }
};
void* result_of(Access& a, const fi_ioc* results, void** descs, size_t size) {
  a.flag = FI_READ;
  return a.local(results->addr, results->count * size, descs != nullptr ? *descs : nullptr);
}
size_t size_of(fi_datatype type) {
  return type == FI_INT32 || type == FI_UINT32 ? 4 : 8;
}

ssize_t ep_atomicmsg(fid_ep* ep, const fi_msg_atomic* message, uint64_t flags) {
  const std::lock_guard lock(g_mutex);
  Access a{"fi_atomicmsg", ep, FI_WRITE};
  const AtomicMessage m(a, message, size_of(message->datatype));
  return a.posted(behind<fi_ops_atomic>(ep).writemsg(ep, &m.own, flags), message->context);
}
ssize_t ep_fetch(fid_ep* ep, const fi_msg_atomic* message, fi_ioc* results, void** descs,
                 size_t count, uint64_t flags) {
  const std::lock_guard lock(g_mutex);
  Access a{"fi_fetch_atomicmsg", ep, FI_WRITE};
  const size_t size = size_of(message->datatype);
  const AtomicMessage m(a, message, size);
  void* result = result_of(a, results, descs, size);
  return a.posted(
      behind<fi_ops_atomic>(ep).readwritemsg(ep, &m.own, results, &result, count, flags),
      message->context);
}
ssize_t ep_compare(fid_ep* ep, const fi_msg_atomic* message, const fi_ioc* compares, void** cdescs,
                   size_t ccount, fi_ioc* results, void** descs, size_t count, uint64_t flags) {
  const std::lock_guard lock(g_mutex);
  Access a{"fi_compare_atomicmsg", ep, FI_WRITE};
  const size_t size = size_of(message->datatype);
  const AtomicMessage m(a, message, size);
  void* compare =
      a.local(compares->addr, compares->count * size, cdescs != nullptr ? *cdescs : nullptr);
  void* result = result_of(a, results, descs, size);
  return a.posted(behind<fi_ops_atomic>(ep).compwritemsg(ep, &m.own, compares, &compare, ccount,
                                                         results, &result, count, flags),
                  message->context);
}

// ---- completions give registrations back

void came_back(const void* context, bool last) {
  const auto at = g_operations.find(context);
  if (at != g_operations.end() && (last || !at->second.many)) forget(at);
}
ssize_t cq_read(fid_cq* cq, void* entries, size_t count) {
  const std::lock_guard lock(g_mutex);
  const ssize_t got = behind<fi_ops_cq>(cq).read(cq, entries, count);
  const auto* const e = static_cast<const fi_cq_data_entry*>(entries);
  for (ssize_t i = 0; i < got; ++i) came_back(e[i].op_context, (e[i].flags & FI_MULTI_RECV) != 0);
  return got;
}
ssize_t cq_readerr(fid_cq* cq, fi_cq_err_entry* entry, uint64_t flags) {
  const std::lock_guard lock(g_mutex);
  const ssize_t got = behind<fi_ops_cq>(cq).readerr(cq, entry, flags);
  if (got > 0) came_back(entry->op_context, true);
  return got;
}

// ---- objects

// A provider's own description, as it gave it out.
struct Own {
  fi_info* info;
  explicit Own(const fi_info* given) {
    static auto* const copy = real<decltype(fi_dupinfo)>("fi_dupinfo");
    info = copy(given);
    if (info != nullptr) info->domain_attr->mr_mode = g_behind_modes;
  }
  ~Own() {
    static auto* const free_info = real<decltype(fi_freeinfo)>("fi_freeinfo");
    if (info != nullptr) free_info(info);
  }
  Own(const Own&) = delete;
  Own& operator=(const Own&) = delete;
};

int ep_close(fid* handle) {
  const std::lock_guard lock(g_mutex);
  for (const void* each : g_registrations) {
    // cxi answers FI_EBUSY, and the endpoint stays.
    if (&static_cast<const Registration*>(each)->ep->fid == handle)
      refuse("fi_close", "an endpoint with registrations bound to it");
  }
  const int error = behind<fi_ops>(handle).close(handle);
  for (auto at = g_operations.begin(); at != g_operations.end();) {
    const auto next = std::next(at);
    if (at->second.ep == handle) forget(at);
    at = next;
  }
  return error;
}

void replace_operations(fid_ep* ep) {
  replace(ep, ep->msg, [](fi_ops_msg& ops) {
    ops.send = ep_send;
    ops.sendv = ep_sendv;
    ops.recvmsg = ep_recvmsg;
  });
  replace(ep, ep->rma, [](fi_ops_rma& ops) {
    ops.writemsg = ep_writemsg;
    ops.read = ep_read;
  });
  replace(ep, ep->atomic, [](fi_ops_atomic& ops) {
    ops.writemsg = ep_atomicmsg;
    ops.readwritemsg = ep_fetch;
    ops.compwritemsg = ep_compare;
  });
}
// Some providers choose their tables when the endpoint is enabled.
int ep_control(fid* handle, int command, void* argument) {
  const int error = behind<fi_ops>(handle).control(handle, command, argument);
  if (command == FI_ENABLE) replace_operations(reinterpret_cast<fid_ep*>(handle));
  return error;
}
void stand_before(fid_ep* ep) {
  replace(&ep->fid, ep->fid.ops, [](fi_ops& ops) {
    ops.close = ep_close;
    ops.control = ep_control;
  });
  replace_operations(ep);
}

int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** out, void* context) {
  const Own own(info);
  const int error = behind<fi_ops_domain>(domain).endpoint(domain, own.info, out, context);
  if (error == 0) stand_before(*out);
  return error;
}
int open_shared_receive(fid_domain* domain, fi_rx_attr* attr, fid_ep** out, void* context) {
  const int error = behind<fi_ops_domain>(domain).srx_ctx(domain, attr, out, context);
  if (error == 0) stand_before(*out);
  return error;
}
int open_completions(fid_domain* domain, fi_cq_attr* attr, fid_cq** out, void* context) {
  if (attr->format != FI_CQ_FORMAT_DATA) refuse("fi_cq_open", "entries of another format");
  const int error = behind<fi_ops_domain>(domain).cq_open(domain, attr, out, context);
  if (error != 0) return error;
  replace(*out, (*out)->ops, [](fi_ops_cq& ops) {
    ops.read = cq_read;
    ops.readerr = cq_readerr;
  });
  return 0;
}
int open_passive(fid_fabric* fabric, fi_info* info, fid_pep** out, void* context) {
  const Own own(info);
  return behind<fi_ops_fabric>(fabric).passive_ep(fabric, own.info, out, context);
}
int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** out, void* context) {
  const Own own(info);
  const int error = behind<fi_ops_fabric>(fabric).domain(fabric, own.info, out, context);
  if (error != 0) return error;
  replace(*out, (*out)->mr, [](fi_ops_mr& ops) { ops.regattr = regattr; });
  replace(*out, (*out)->ops, [](fi_ops_domain& ops) {
    ops.endpoint = open_endpoint;
    ops.srx_ctx = open_shared_receive;
    ops.cq_open = open_completions;
  });
  return 0;
}

}  // namespace

extern "C" {

int fi_getinfo(uint32_t version, const char* node, const char* service, uint64_t flags,
               const fi_info* hints, fi_info** out) {
  static auto* const next = real<decltype(fi_getinfo)>("fi_getinfo");
  const void* const caller = __builtin_return_address(0);
  if (from_libfabric(caller) || hints == nullptr)
    return next(version, node, service, flags, hints, out);
  const Demands& d = demands();
  const int accepted = hints->domain_attr->mr_mode;
  const bool complete = (hints->tx_attr->op_flags & FI_DELIVERY_COMPLETE) != 0;
  if ((d.modes & ~accepted) != 0 || (d.raw != SIZE_MAX && complete)) return -FI_ENODATA;
  const int error = next(version, node, service, flags, hints, out);
  if (error != 0) return error;
  for (fi_info* info = *out; info != nullptr; info = info->next) {
    g_behind_modes = info->domain_attr->mr_mode;
    info->domain_attr->mr_mode |= d.modes;
    if (d.raw != SIZE_MAX) info->ep_attr->max_order_raw_size = d.raw;
  }
  return 0;
}

int fi_fabric(fi_fabric_attr* attr, fid_fabric** out, void* context) {
  static auto* const next = real<decltype(fi_fabric)>("fi_fabric");
  const void* const caller = __builtin_return_address(0);
  const int error = next(attr, out, context);
  if (error != 0 || from_libfabric(caller)) return error;
  replace(*out, (*out)->ops, [](fi_ops_fabric& ops) {
    ops.domain = open_domain;
    ops.passive_ep = open_passive;
  });
  return 0;
}

// For tests: registrations made so far, those there are, and the most there were at once.
__attribute__((visibility("default"))) void causeway_standin_ofi_counts(uint64_t* made,
                                                                        uint64_t* live,
                                                                        uint64_t* most) {
  const std::lock_guard lock(g_mutex);
  *made = g_made;
  *live = g_registrations.size();
  *most = g_most;
}

}  // extern "C"
