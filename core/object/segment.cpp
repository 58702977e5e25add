#include "object/segment.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <fstream>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "base/context.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/log.h"
#include "config/config.h"
#include "connection/job.h"
#include "connection/mapping.h"
#include "kinds/device.h"
#include "kinds/device_facts.h"
#include "kinds/memkind.h"
#include "kinds/places.h"
#include "loader/one_line.h"
#include "loader/plugin_call.h"
#include "object/client.h"
#include "object/device_memory.h"

__attribute__((visibility("default"))) void (*gasnet_client_attach_hook)(void*,
                                                                         uintptr_t) = nullptr;

namespace causeway {
namespace {

constexpr size_t kPage = GASNET_PAGESIZE;  // the unit of segments, not the machine's page

size_t memory_available() {
  std::ifstream in("/proc/meminfo");
  std::string key, unit;
  size_t kib = 0;
  while (in >> key >> kib) {
    std::getline(in, unit);
    if (key == "MemAvailable:") return kib * 1024;
  }
  return static_cast<size_t>(::sysconf(_SC_AVPHYS_PAGES) * ::sysconf(_SC_PAGESIZE));
}

// Every segment of the process, by address. Handlers look here only for memory that is not in
// their endpoint's own segment.
std::shared_mutex g_segments_mutex;
struct Listed {
  uint64_t end;
  uint64_t number;  // Segment::number()
};
std::multimap<uint64_t, Listed> g_segments;  // by base
// Counts the changes of both, under the mutex. Release; who still sees the number that an earlier
// look was made at knows that the look still holds (acquire).
std::atomic<uint64_t> g_segments_version{1};

// The segment that this thread found last: handlers look for the same segment again and again, and
// the lock is dearer than the look.
struct LastFound {
  uint64_t version, base, end;
};
thread_local constinit LastFound t_last_found __attribute__((tls_model("initial-exec"))) = {};

// The kind learns of a segment by being asked to describe it, whatever way transfers will go.
void tell_kind(const Device& device, void* addr, size_t size) {
  if (!(device.attr().export_forms & CWY_FORM_DEVICE_VA)) return;
  cwy_memref ref{};
  ref.head = CWY_HEAD(cwy_memref);
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  const cwy_status status =
      device.module().export_mem(device.kind(), addr, size, CWY_FORM_DEVICE_VA, &ref, &err);
  if (status != CWY_OK)
    log_info("{} does not describe a segment: {}", device.name(), reason(err, status));
}

std::atomic<uint64_t> g_numbers{0};  // relaxed: only has to count

}  // namespace

bool in_any_segment(uint64_t addr, uint64_t length) {
  if (length > UINT64_MAX - addr) return false;
  const uint64_t end = addr + length;
  LastFound& last = t_last_found;
  if (addr >= last.base && end <= last.end &&
      last.version == g_segments_version.load(std::memory_order_acquire))
    return true;
  const std::shared_lock lock(g_segments_mutex);
  uint64_t covered = addr;
  for (const auto& [base, listed] : g_segments) {
    if (base > covered) break;
    const uint64_t limit = listed.end;
    // Relaxed: it changes under the mutex.
    if (base <= addr && end <= limit)
      last = {g_segments_version.load(std::memory_order_relaxed), base, limit};
    if (limit > covered) covered = limit;
    if (covered >= end) return true;
  }
  return covered > addr && covered >= end;
}

bool find_segment(uint64_t addr, uint64_t length, uint64_t* base, uint64_t* size,
                  uint64_t* number) {
  const std::shared_lock lock(g_segments_mutex);
  for (auto at = g_segments.begin(); at != g_segments.end() && at->first <= addr; ++at) {
    const uint64_t end = at->second.end, bytes = end - at->first;
    if (bytes == UINT64_MAX || addr >= end || length > end - addr) continue;
    *base = at->first;
    *size = bytes;
    if (number != nullptr) *number = at->second.number;
    return true;
  }
  return false;
}

size_t measure_max_segment() {
  const Config& config = context().config();
  const uint32_t ranks = std::max(1u, context().job().facts().local_count);
  if (config.segment_max != 0) {
    const size_t wanted = config.segment_max / (config.segment_max_of_host ? ranks : 1);
    return std::max(wanted / kPage * kPage, kPage);
  }
  const size_t share = memory_available() / 2 / ranks;
  return std::max(share / kPage * kPage, kPage);
}

size_t max_segment_size() {
  return context().job().segment_max();
}

Segment::Segment(Client* client, void* addr, size_t size, gex_Flags_t flags)
    : client_(client),
      addr_(addr),
      size_(size),
      flags_(flags),
      number_(g_numbers.fetch_add(1, std::memory_order_relaxed) + 1) {}

void Segment::enlist() {
  const std::lock_guard lock(g_segments_mutex);
  const auto base = reinterpret_cast<uint64_t>(addr_);
  g_segments.emplace(base, Listed{base + size_, number_});
  g_segments_version.fetch_add(1, std::memory_order_release);
  enlisted_ = true;
}

void Segment::map_here() {
  void* p = ::mmap(addr_, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    throw Error(CWY_ERR_NOMEM, "{} bytes cannot be mapped: {}", size_, strerror(errno));
  addr_ = p;
  mapped_here_ = true;
}

std::unique_ptr<Segment> Segment::from_conduit(Client* client, size_t size, void* wish) {
  const size_t rounded = (size + kPage - 1) / kPage * kPage;
  std::unique_ptr<Segment> segment(new Segment(client, wish, rounded, 0));
  Conduit* allocator = segment_allocator(context().config(), client->endpoint()->conduit_eps());
  if (allocator == nullptr) {
    segment->map_here();
    return segment;
  }
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  cwyc_mem* mem = nullptr;
  const auto allocate = [&] {
    return allocator->module().mem_alloc(allocator->domain(), rounded, &segment->addr_, &mem, &err);
  };
  const cwy_status status = plugin_object({"conduit", allocator->name()}, "mem_alloc", mem, err,
                                          allocate, Lasting::is_told);
  if (status != CWY_OK) {
    throw Error(status, "a segment of {} bytes cannot be allocated by conduit {}: {}", rounded,
                allocator->name(), reason(err, status));
  }
  segment->registrations_.push_back({allocator, mem});
  return segment;
}

Segment* Segment::allocate(Client* client, size_t size, void* wish) {
  std::unique_ptr<Segment> segment = from_conduit(client, size, wish);
  if (gasnet_client_attach_hook != nullptr)
    gasnet_client_attach_hook(segment->addr_, segment->size_);
  segment->register_everywhere(segment->allocator());
  segment->enlist();
  return segment.release();
}

Segment* Segment::scratch_for_peers(Client* client, size_t size) {
  std::unique_ptr<Segment> segment = from_conduit(client, size, nullptr);
  segment->register_everywhere(segment->allocator());
  segment->enlist();
  return segment.release();
}

Segment* Segment::describe(Client* client, void* addr, size_t size, gex_Flags_t flags) {
  std::unique_ptr<Segment> segment(new Segment(client, addr, size, flags));
  segment->register_everywhere(nullptr);
  segment->enlist();
  return segment.release();
}

Segment* Segment::everything(Client* client) {
  std::unique_ptr<Segment> segment(new Segment(client, nullptr, UINT64_MAX, 0));
  segment->set_lasting();
  segment->register_everywhere(nullptr, Conduits::mapping);
  segment->enlist();
  return segment.release();
}

Segment* Segment::scratch(Client* client, size_t size) {
  const size_t rounded = (size + kPage - 1) / kPage * kPage;
  std::unique_ptr<Segment> segment(new Segment(client, nullptr, rounded, 0));
  segment->map_here();
  segment->register_everywhere(nullptr);
  return segment.release();
}

Segment* Segment::on_device(Client* client, MemKind& kind, void* addr, size_t size,
                            gex_Flags_t flags) {
  Device& device = kind.device();
  const cwym_module& module = device.module();
  size_t rounded = size;
  const bool allocates = addr == nullptr;
  if (allocates) {
    const uint64_t unit = std::max<uint64_t>(device.attr().alignment, 1);
    if (size > UINT64_MAX - unit)
      throw Error(CWY_ERR_INVALID, "length {} is more than any device has", size);
    rounded = (size + unit - 1) / unit * unit;
    cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
    const cwy_status status = plugin_object(
        {"memory kind", device.name()}, "alloc", addr, err,
        [&] { return module.alloc(device.kind(), rounded, &addr, &err); }, Lasting::is_told);
    if (status != CWY_OK) {
      throw Error(status, "{} cannot allocate a segment of {} bytes: {}", device.name(), rounded,
                  reason(err, status));
    }
  } else {
    int32_t ordinal = 0;
    const cwy_status status = module.who_owns(addr, size, &ordinal);
    if (status != CWY_OK || ordinal != device.attr().device) {
      throw Error(CWY_ERR_INVALID, "[{:#x}, {:#x}) is not memory of {}{}",
                  reinterpret_cast<uint64_t>(addr), reinterpret_cast<uint64_t>(addr) + size,
                  device.name(),
                  status == CWY_OK ? fmt::format(", but of device {}", ordinal) : std::string());
    }
  }
  std::unique_ptr<Segment> segment(new Segment(client, addr, rounded, flags));
  segment->kind_ = &kind;
  segment->device_ = &device;
  segment->kind_allocated_ = allocates;
  kind.add_segment();
  add_device_range(reinterpret_cast<uint64_t>(addr), rounded, &device);
  tell_kind(device, addr, rounded);
  segment->register_device();
  segment->enlist();
  return segment.release();
}

// Registers the memory in every conduit that takes a form which the kind can export it in.
void Segment::register_device() {
  if (!device_->policy().native) return;
  constexpr uint64_t kForms = CWY_FORM_DEVICE_VA | CWY_FORM_DMABUF | CWY_FORM_IPC;
  for (auto& cep : client_->endpoint()->conduit_eps()) {
    const uint64_t common = device_->attr().export_forms & cep->attr.mem_forms & kForms;
    if (common == 0 || !(cep->caps & CWYC_CAP_MEM_REG)) continue;
    cwy_memref ref{};
    ref.head = CWY_HEAD(cwy_memref);
    ref.fd = -1;
    cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
    const auto form = static_cast<uint32_t>(common & -common);
    const cwy_status status =
        device_->module().export_mem(device_->kind(), addr_, size_, form, &ref, &err);
    if (status != CWY_OK) {
      log_info("{} does not export a segment for conduit {}: {}", device_->name(),
               cep->conduit->name(), reason(err, status));
      continue;
    }
    device_->module().push(device_->kind());
    register_in(*cep, ref);
    device_->module().pop(device_->kind());
    if (ref.fd >= 0) ::close(ref.fd);
  }
}

void Segment::register_everywhere(const Conduit* except, Conduits conduits) {
  cwy_memref ref{};
  ref.head = CWY_HEAD(cwy_memref);
  ref.form = CWY_FORM_HOST_VA;
  ref.kind_class = CWY_MEM_HOST;
  ref.addr = reinterpret_cast<uint64_t>(addr_);
  ref.length = size_;
  ref.device = -1;
  ref.fd = -1;
  for (auto& cep : client_->endpoint()->conduit_eps()) {
    if (cep->conduit == except || !(cep->caps & CWYC_CAP_MEM_REG)) continue;
    if (conduits == Conduits::mapping && !(cep->caps & CWYC_CAP_DIRECT)) continue;
    register_in(*cep, ref);
  }
}

void Segment::register_in(ConduitEp& cep, const cwy_memref& ref) {
  cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
  cwyc_mem* mem = nullptr;
  // Ranks that make the same segments number them alike.
  cwy_memref wished = ref;
  wished.key_wish = number_;
  const auto enter = [&] {
    return cep.conduit->module().mem_reg(cep.conduit->domain(), &wished, &mem, &err);
  };
  const cwy_status status =
      plugin_object({"conduit", cep.conduit->name()}, "mem_reg", mem, err, enter, Lasting::is_told);
  if (status == CWY_OK) {
    registrations_.push_back({cep.conduit, mem});
  } else {
    log_info("conduit {} does not register the segment ({}); its peers use active messages",
             cep.conduit->name(), reason(err, status));
  }
}

void Segment::recall(const char* call) const {
  if (device_ != nullptr) device_memory.recall(number_, call);
}

Segment::~Segment() {
  if (enlisted_) {
    const std::lock_guard lock(g_segments_mutex);
    const auto base = reinterpret_cast<uint64_t>(addr_);
    for (auto [at, end] = g_segments.equal_range(base); at != end; ++at) {
      if (at->second.number != number_) continue;
      g_segments.erase(at);
      g_segments_version.fetch_add(1, std::memory_order_release);
      break;
    }
  }
  if (device_ == nullptr) device_memory.memory_goes(reinterpret_cast<uint64_t>(addr_), size_);
  for (const Registration& r : registrations_)
    r.conduit->module().mem_release(r.conduit->domain(), r.mem);
  if (mapped_here_) ::munmap(addr_, size_);
  if (device_ == nullptr) return;
  remove_device_range(reinterpret_cast<uint64_t>(addr_), size_);
  if (kind_allocated_) device_->module().release(device_->kind(), addr_);
  kind_->remove_segment();
}

cwyc_mem* Segment::registration(const Conduit* conduit) const {
  for (const Registration& r : registrations_)
    if (r.conduit == conduit) return r.mem;
  return nullptr;
}

std::string Segment::pack() const {
  std::string out =
      fmt::format("{} {} {} {:d} ", number_, reinterpret_cast<uint64_t>(addr_), size_, lasting_);
  if (device_ != nullptr) {
    DeviceFacts facts;
    facts.plugin = device_->plugin_name();
    facts.ordinal = device_->attr().device;
    facts.path = device_->path();
    facts.stageable = device_->policy().staging != KindPolicy::Staging::forbid;
    if (device_->attr().export_forms & device_->attr().import_forms & CWY_FORM_IPC) {
      facts.ipc.head = CWY_HEAD(cwy_memref);
      facts.ipc.fd = -1;
      cwy_err err{CWY_HEAD(cwy_err), CWY_OK, 0, {}};
      facts.has_ipc = device_->module().export_mem(device_->kind(), addr_, size_, CWY_FORM_IPC,
                                                   &facts.ipc, &err) == CWY_OK;
      if (facts.has_ipc) device_memory.note_export(number_);
      if (!facts.has_ipc)
        log_info("{} does not export a segment: {}", device_->name(), text_of(err));
    }
    put_field(out, kDeviceEntry, facts.pack());
  }
  for (const Registration& r : registrations_) {
    const auto right = client_->endpoint()->conduit_ep(r.conduit)->packed_right(r.mem);
    if (right) put_field(out, r.conduit->name(), *right);
  }
  return out;
}

PackedSegment PackedSegment::unpack(std::string_view packed) {
  const std::string text(packed);
  PackedSegment out;
  char* end = nullptr;
  out.number = std::strtoull(text.c_str(), &end, 10);
  out.base = std::strtoull(end, &end, 10);
  out.size = std::strtoull(end, &end, 10);
  out.lasting = std::strtoull(end, &end, 10) != 0;
  if (*end != ' ' || out.size == 0) throw Error(CWY_ERR_INVALID, "a published segment is garbled");
  out.rights = text.substr(static_cast<size_t>(end + 1 - text.c_str()));
  return out;
}

std::string PackedSegment::right(std::string_view conduit_name) const {
  for (std::string_view rest = rights; !rest.empty();)
    if (const auto [name, right] = take_field(rest); name == conduit_name)
      return std::string(right);
  return {};
}

void put_published(std::string& word, uint16_t index, std::string_view packed) {
  put_field(word, std::to_string(index), packed);
}

void for_each_published(std::string_view word,
                        const std::function<void(uint16_t, std::string_view)>& fn) {
  for (std::string_view rest = word.substr(1); !rest.empty();) {
    const auto [name, packed] = take_field(rest);
    uint16_t index = GASNET_MAXEPS;
    std::from_chars(name.data(), name.data() + name.size(), index);
    if (index >= GASNET_MAXEPS) throw Error(CWY_ERR_INVALID, "a published segment is garbled");
    fn(index, packed);
  }
}

}  // namespace causeway
