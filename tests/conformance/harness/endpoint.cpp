#include "endpoint.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "loader/one_line.h"
#include "loader/signal_keeper.h"
#include "plugin_host.h"

namespace causeway::conformance {
namespace {

// As of a job: the same in each of its processes, and not all zeroes.
char g_job_key[17] = "key of the suite";

// A conduit whose devices differ may have entries that an endpoint's capabilities do not cover:
// the core does not use them there, and so does the suite not.
void forget_uncovered(cwyc_ops& ops, uint64_t caps) {
  if ((caps & CWYC_CAP_PUT) == 0) ops.put = nullptr;
  if ((caps & CWYC_CAP_GET) == 0) ops.get = nullptr;
  if ((caps & CWYC_CAP_ATOMIC) == 0) ops.atomic = nullptr;
  if ((caps & CWYC_CAP_VECTOR) == 0) ops.putv = nullptr, ops.getv = nullptr;
  if ((caps & CWYC_CAP_AM_LONG) == 0) ops.am_long = nullptr;
  if ((caps & CWYC_CAP_AM_PREPARE) == 0)
    ops.am_prepare = nullptr, ops.am_commit = nullptr, ops.am_cancel = nullptr;
}

const char* hostname() {
  static char name[256];
  if (name[0] == 0) gethostname(name, sizeof name - 1);
  return name;
}

size_t round_to_page(size_t length) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return (length + page - 1) / page * page;
}

[[noreturn]] void fail(cwy_status status, const char* what, const char* text = "") {
  throw Error(status, "{} answered {}{}{}", what, status_name(status), *text ? ": " : "", text);
}

}  // namespace

const char* ErrorText::text() const {
  return std::memcmp(&err_, &untouched, sizeof err_) == 0 ? "" : err_.text;
}

cwy_status ErrorText::after(const char* call, cwy_status status) {
  const auto breach = [&](const char* what) {
    PluginHost::violation(fmt::format("{}: answered {}, and {}: '{:.200}'", call,
                                      status_name(status), what, std::string(text())));
  };
  if (status == CWY_RETRY) {
    err_ = untouched;  // the same call comes again
  } else if (!is_error(status)) {
    if (std::memcmp(&err_, &untouched, sizeof err_) != 0) breach("has written to its cwy_err");
  } else if (strnlen(err_.text, sizeof err_.text) == sizeof err_.text) {
    err_.text[sizeof err_.text - 1] = '\0';
    breach("its text does not end");
  } else if (*text() == '\0') {
    breach("says nothing in its cwy_err");
  } else if (std::strchr(text(), '\n') != nullptr) {
    breach("its text is more than a line");
  } else if (text()[std::strlen(text()) - 1] == '.') {
    breach("its text has a period at its end");
  } else if (err_.status != status) {
    breach(fmt::format("its cwy_err says {}", status_name(err_.status)).c_str());
  }
  return status;
}

void require_ok(cwy_status status, const char* what) {
  if (status != CWY_OK) fail(status, what);
}

cwyc_peer_desc describe(const Card& card, bool same_process, bool address) {
  cwyc_peer_desc d{};
  d.head = CWY_HEAD(cwyc_peer_desc);
  d.peer = card.peer;
  d.same_process = same_process ? 1 : 0;
  d.same_host = 1;
  d.local_index = card.peer.rank;
  d.pid = card.pid;
  d.hostname = hostname();
  d.address = address ? card.address : nullptr;
  d.address_len = address ? card.address_len : 0;
  return d;
}

cwyc_peer_desc describe_to_connect(const Card& card, bool same_process) {
  cwyc_peer_desc d = describe(card, same_process);
  d.wiring = card.wiring_len != 0 ? card.wiring : nullptr;
  d.wiring_len = card.wiring_len;
  return d;
}

cwyc_domain_params Domain::parameters(const char* device) {
  cwyc_domain_params params{};
  params.head = CWY_HEAD(cwyc_domain_params);
  params.device = device;
  params.vnis = params.service_ids = params.service_devices = "";
  std::memcpy(params.job_key, g_job_key, sizeof params.job_key);
  return params;
}

void Domain::use_job_key(const char (&key)[17]) {
  std::memcpy(g_job_key, key, sizeof g_job_key);
}

Domain::Domain(const ConduitPlugin& plugin, const cwy_options* options, const std::string& device)
    : plugin_(plugin) {
  ErrorText err;
  const SignalKeeper keeper;  // as the core does: crashes are the suite's to report
  const cwyc_domain_params params = parameters(device.c_str());
  status_ = err.after("domain_open", plugin.module.domain_open(options, &params, &domain_, err));
  if (status_ != CWY_OK) error_ = err.text();
  if (status_ == CWY_OK && domain_ == nullptr) {
    status_ = CWY_ERR_INVALID;
    error_ = "domain_open answered OK without a domain";
  }
}

Domain::~Domain() {
  if (domain_ != nullptr && status_ == CWY_OK) module().domain_close(domain_);
}

cwyc_ep_params Endpoint::parameters(Endpoint* core_ep, uint32_t index, uint32_t multithreaded) {
  cwyc_ep_params params{};
  params.head = CWY_HEAD(cwyc_ep_params);
  params.core_ep = core_ep;
  params.deliver = deliver;
  params.index = index;
  params.multithreaded = multithreaded;
  params.max_peers = 2;
  params.place = place;
  return params;
}

void Endpoint::peer_state(void* core_ep, cwy_peer peer, cwy_peer_state state, const char* why) {
  static_cast<Endpoint*>(core_ep)->peer_news.push_back({peer, state, given(why, "")});
}

Endpoint::Endpoint(Domain& domain, uint32_t index, uint32_t multithreaded, bool tells)
    : domain_(domain) {
  require_ok(domain.open_status(), "domain_open");
  cwyc_ep_params params = parameters(this, index, multithreaded);
  if (tells) params.peer_state = peer_state;
  ErrorText err;
  const SignalKeeper keeper;
  const cwy_status status =
      err.after("ep_open", module().ep_open(domain.get(), &params, &ep_, err));
  if (status == CWY_ERR_UNSUPPORTED && index != 0) throw Skip{"a second endpoint in a domain"};
  if (status != CWY_OK) fail(status, "ep_open", err.text());
  attr_.head = CWY_HEAD(cwyc_ep_attr);
  require_ok(module().ep_query(ep_, &attr_), "ep_query");
  told_ = attr_;
  if (module().class_query != nullptr) take_class();
  if (attr_.rma_max == 0) attr_.rma_max = UINT64_MAX;  // no limit
  usable_ = domain.plugin().ops.at(table_);
  forget_uncovered(usable_, attr_.caps);
}

// The other process of this host, else this one: classes may go by ranks. A table that does not
// exist is for a case to find.
void Endpoint::take_class() {
  cwyc_peer_desc peer{};
  peer.head = CWY_HEAD(cwyc_peer_desc);
  peer.same_host = 1;
  ErrorText err;
  peer.peer = {1 - PluginHost::job().rank, 1};
  peer.local_index = peer.peer.rank;
  if (module().reach(domain_.get(), &peer, err) != CWY_OK) {
    peer.same_process = 1;
    peer.peer.rank = peer.local_index = PluginHost::job().rank;
  }
  const uint32_t table = module().class_of(domain_.get(), &peer);
  if (table < attr_.ops_tables) table_ = table;
  cwyc_class_attr its{};
  its.head = CWY_HEAD(cwyc_class_attr);
  require_ok(module().class_query(ep_, table_, &its), "class_query");
  attr_.caps = (attr_.caps & CWYC_CAPS_OF_EP) | its.caps;
  attr_.rma_max = its.rma_max;
  attr_.am_medium_max = its.am_medium_max;
  attr_.am_long_max = its.am_long_max;
  attr_.iov_max = its.iov_max;
  std::copy(std::begin(its.atomic_ops), std::end(its.atomic_ops), attr_.atomic_ops);
}

Endpoint::~Endpoint() {
  module().ep_close(ep_);
}

void Endpoint::address(Card& card, cwy_peer reader) const {
  if (attr_.ep_address_max > sizeof card.address) {
    throw Error(CWY_ERR_NOMEM, "ep_address_max is {}: more than the suite's {}",
                attr_.ep_address_max, sizeof card.address);
  }
  card.peer = {PluginHost::job().rank, PluginHost::job().epoch};
  card.pid = static_cast<uint32_t>(getpid());
  card.address_len = attr_.ep_address_max;
  ErrorText err;
  const cwy_status status =
      err.after("ep_address", module().ep_address(ep_, card.address, &card.address_len, err));
  if (status != CWY_OK) fail(status, "ep_address", err.text());
  wire(card, reader);
}

void Endpoint::wire(Card& card, cwy_peer reader) const {
  if (!can(CWYC_CAP_WIRING)) return;
  card.wiring_len = sizeof card.wiring;
  ErrorText err;
  const cwy_status status =
      err.after("wiring", module().wiring(ep_, reader, card.wiring, &card.wiring_len, err));
  if (status != CWY_OK) fail(status, "wiring", err.text());
}

void Endpoint::deliver(void* core_ep, cwy_peer from, uint64_t word, uint32_t kind,
                       const int32_t* args, uint32_t nargs, void* payload, size_t length) {
  auto* self = static_cast<Endpoint*>(core_ep);
  const Message message{from, word, kind, args, nargs, static_cast<uint8_t*>(payload), length};
  const auto& handler = (word & kReplyBit) != 0 ? self->on_reply : self->on_request;
  try {
    if (handler) {
      handler(message);
    } else {
      ++self->unexpected;
    }
  } catch (const std::exception& e) {  // no exception may cross the plugin
    PluginHost::violation(e.what());
  }
}

void* Endpoint::place(void* core_ep, const cwyc_arrival* arrival) {
  const auto& wish = static_cast<Endpoint*>(core_ep)->on_place;
  return wish ? wish(*arrival) : nullptr;
}

uint32_t Endpoint::progress(uint32_t budget, uint32_t lane) {
  return module().progress(ep_, budget, lane);
}

void Endpoint::step() {
  if (meanwhile) meanwhile();
  if (progress() == 0) sched_yield();
}

void Endpoint::until(const std::function<bool()>& done, const std::string& what, double seconds) {
  const Deadline deadline(what, seconds);
  while (!done()) {
    step();
    deadline.check();
  }
}

cwy_status Endpoint::retry(const std::function<cwy_status()>& post, const char* what,
                           double seconds) {
  cwy_status status = post();
  if (status != CWY_RETRY) return status;
  const Deadline deadline(std::string(what) + " answers RETRY only", seconds);
  while ((status = post()) == CWY_RETRY) {
    step();
    deadline.check();
  }
  return status;
}

void Endpoint::finish(const Op& op, const char* what, double seconds) {
  until([&] { return op.done(); }, std::string("completion of ") + what, seconds);
}

Memory::Memory(Domain& domain, size_t length, Source source, size_t misalign)
    : domain_(domain), size_(length) {
  if (source == Source::alloc) {
    ErrorText err;
    size_ = round_to_page(length);
    void* where = nullptr;
    const cwy_status status =
        err.after("mem_alloc", domain.module().mem_alloc(domain.get(), size_, &where, &mem_, err));
    if (status == CWY_ERR_UNSUPPORTED) throw Skip{"mem_alloc"};
    if (status != CWY_OK) fail(status, "mem_alloc", err.text());
    data_ = static_cast<uint8_t*>(where);
  } else {
    own_ = std::make_unique<uint8_t[]>(length + misalign);
    data_ = own_.get() + misalign;
    enter();
  }
}

Memory::Memory(Domain& domain, uint8_t* at, size_t length, uint64_t key_wish)
    : domain_(domain), data_(at), size_(length) {
  enter(key_wish);
}

cwy_memref Memory::reference(void* at, size_t length) {
  cwy_memref ref{};
  ref.head = CWY_HEAD(cwy_memref);
  ref.form = CWY_FORM_HOST_VA;
  ref.kind_class = CWY_MEM_HOST;
  ref.addr = reinterpret_cast<uint64_t>(at);
  ref.length = length;
  ref.device = -1;
  ref.fd = -1;
  return ref;
}

void Memory::enter(uint64_t key_wish) {
  ErrorText err;
  cwy_memref ref = reference(data_, size_);
  ref.key_wish = key_wish;
  const cwy_status status =
      err.after("mem_reg", domain_.module().mem_reg(domain_.get(), &ref, &mem_, err));
  if (status == CWY_ERR_UNSUPPORTED) throw Skip{"mem_reg"};
  if (status != CWY_OK) fail(status, "mem_reg", err.text());
}

std::unique_ptr<Memory> Memory::best(Domain& domain, uint64_t caps, size_t length) {
  if ((caps & CWYC_CAP_MEM_ALLOC) != 0) {
    return std::make_unique<Memory>(domain, length, Source::alloc);
  }
  return std::make_unique<Memory>(domain, length, Source::registered);
}

Memory::~Memory() {
  domain_.module().mem_release(domain_.get(), mem_);
}

void Memory::pack(Card& card) const {
  ErrorText err;
  card.rkey_len = sizeof card.rkey;
  const cwy_status status =
      err.after("rkey_pack", domain_.module().rkey_pack(mem_, card.rkey, &card.rkey_len, err));
  if (status != CWY_OK) fail(status, "rkey_pack", err.text());
  card.base = reinterpret_cast<uint64_t>(data_);
  card.length = size_;
}

RemoteMemory::RemoteMemory(Endpoint& ep, const Card& owner, bool same_process)
    : ep_(ep), base_(owner.base), size_(owner.length) {
  const cwyc_peer_desc desc = describe(owner, same_process);
  ErrorText err;
  // The bytes are given for the call alone.
  std::vector<uint8_t> bytes(owner.rkey, owner.rkey + owner.rkey_len);
  const cwy_status status = err.after(
      "rkey_open", ep.module().rkey_open(ep.get(), &desc, bytes.data(), bytes.size(), &rkey_, err));
  std::fill(bytes.begin(), bytes.end(), uint8_t{0xdd});
  if (status != CWY_OK) fail(status, "rkey_open", err.text());
}

RemoteMemory::~RemoteMemory() {
  ep_.module().rkey_close(ep_.get(), rkey_);
}

cwyc_conn* new_connection(Endpoint& ep, const Card& peer, void* core) {
  constexpr size_t kLine = 64;
  const size_t bytes = (sizeof(cwyc_conn) + ep.attr().conn_size + kLine - 1) / kLine * kLine;
  if (ep.attr().conn_size > kLargestObject)
    throw Error(CWY_ERR_INVALID, "conn_size is {}", ep.attr().conn_size);
  auto* const conn = static_cast<cwyc_conn*>(std::aligned_alloc(kLine, bytes));
  std::memset(conn, 0, bytes);
  conn->ops = &ep.usable_ops();
  conn->core = core;
  conn->ep = ep.get();
  conn->peer = peer.peer;
  return conn;
}

Connection::Connection(Endpoint& ep, const Card& peer, bool same_process)
    : ep_(ep), conn_(new_connection(ep, peer, this)) {
  const cwyc_peer_desc desc = describe_to_connect(peer, same_process);
  ErrorText err;
  Op& op = pool_.fetch("connect");
  const cwy_status status = ep.retry(
      [&] {
        return op.post([&](cwyc_op* raw) {
          return err.after("connect", ep.module().connect(ep.get(), conn_, &desc, raw, err));
        });
      },
      "connect");
  if (status != CWY_OK && status != CWY_INPROGRESS) {
    std::free(conn_);
    fail(status, "connect", err.text());
  }
  ep.finish(op, "connect");
  if (op.status() != CWY_OK) {
    ep.module().disconnect(conn_);
    std::free(conn_);
    fail(op.status(), "connect (reported)");
  }
  if (const uint32_t table = conn_->table; table >= ep.attr().ops_tables) {
    ep.module().disconnect(conn_);
    std::free(conn_);
    throw Error(CWY_ERR_INVALID, "connect has set table to {}, and ops_tables is {}", table,
                ep.attr().ops_tables);
  }
}

Connection::~Connection() {
  // What a failed case left pending must not reach freed memory.
  if (pool_.unfinished() != 0) ep_.module().purge(conn_);
  ep_.module().disconnect(conn_);
  std::free(conn_);
}

void Connection::send(uint64_t word, const int32_t* args, uint32_t nargs, uint32_t flags) {
  require_ok(ep_.retry([&] { return ops().am_short(conn_, word, args, nargs, flags); }, "am_short"),
             "am_short");
}

void Connection::send_medium(uint64_t word, const int32_t* args, uint32_t nargs,
                             const void* payload, size_t length, uint32_t flags) {
  Op& op = pool_.am("am_medium");
  const cwy_status status = ep_.retry(
      [&] {
        return op.post([&](cwyc_op* raw) {
          return ops().am_medium(conn_, word, args, nargs, payload, nullptr, length, flags, raw);
        });
      },
      "am_medium");
  if (status == CWY_INPROGRESS) {
    ep_.finish(op, "am_medium");
  } else {
    require_ok(status, "am_medium");
  }
  require_ok(op.status(), "am_medium (reported)");
}

void Connection::put(const void* src, uint64_t raddr, const RemoteMemory& to, size_t length,
                     cwyc_mem* lmem) {
  Op& op = pool_.put();
  const cwy_status status = ep_.retry(
      [&] {
        return op.post([&](cwyc_op* raw) {
          return ops().put(conn_, src, lmem, raddr, to.get(), length, 0, raw);
        });
      },
      "put");
  if (status != CWY_INPROGRESS) require_ok(status, "put");
  ep_.finish(op, "put");
  require_ok(op.status(), "put (reported)");
}

void Connection::get_data(void* dst, uint64_t raddr, const RemoteMemory& from, size_t length,
                          cwyc_mem* lmem) {
  Op& op = pool_.fetch();
  const cwy_status status = ep_.retry(
      [&] {
        return op.post([&](cwyc_op* raw) {
          return ops().get(conn_, dst, lmem, raddr, from.get(), length, 0, raw);
        });
      },
      "get");
  if (status != CWY_INPROGRESS) require_ok(status, "get");
  ep_.finish(op, "get");
  require_ok(op.status(), "get (reported)");
}

}  // namespace causeway::conformance
