// Memory kinds: tables, devices, allocation, ownership, copies, export and import.
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "harness/endpoint.h"
#include "harness/expect.h"
#include "harness/random.h"
#include "harness/shorter.h"
#include "kinds.h"

namespace causeway::conformance {
namespace {

const cwym_module& module() {
  return memkind_plugin().module;
}

// One opened device. Throws Skip when this machine has none.
class Kind {
 public:
  Kind() {
    std::vector<int32_t> devices;
    ErrorText err;
    const cwy_status listed = module().list_devices(
        [](void* arg, const cwym_device* device) {
          static_cast<std::vector<int32_t>*>(arg)->push_back(device->index);
        },
        &devices, err);
    if (listed == CWY_ERR_UNSUPPORTED || (listed == CWY_OK && devices.empty())) {
      throw Skip{fmt::format("a device ({})", err.text())};
    }
    require_ok(listed, "list_devices");
    device_ = devices.front();
    const cwy_status status = module().create(kind_options(), device_, nullptr, 0, &kind_, err);
    if (status != CWY_OK) throw Error(status, "create of a listed device: {}", err.text());
    attr_.head = CWY_HEAD(cwym_attr);
    require_ok(module().query(kind_, &attr_), "query");
  }
  ~Kind() { module().destroy(kind_); }
  Kind(const Kind&) = delete;
  Kind& operator=(const Kind&) = delete;

  cwym_kind* get() const { return kind_; }
  const cwym_attr& attr() const { return attr_; }
  int32_t device() const { return device_; }

 private:
  cwym_kind* kind_ = nullptr;
  cwym_attr attr_{};
  int32_t device_ = 0;
};

class Block {
 public:
  Block(Kind& kind, uint64_t length) : kind_(kind) {
    ErrorText err;
    const cwy_status status = module().alloc(kind.get(), length, &address_, err);
    if (status == CWY_ERR_UNSUPPORTED) throw Skip{"alloc"};
    if (status != CWY_OK) throw Error(status, "alloc of {} bytes: {}", length, err.text());
  }
  ~Block() { EXPECT_EQ(module().release(kind_.get(), address_), CWY_OK); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  uint8_t* data() const { return static_cast<uint8_t*>(address_); }

 private:
  Kind& kind_;
  void* address_ = nullptr;
};

struct CopyOp {
  cwym_op op{};
  int reported = 0;
  cwy_status status = CWY_OK;
};

// Copies and waits; the completion comes exactly once, or not at all after CWY_OK.
void copy(Kind& kind, void* dst, const void* src, uint64_t length) {
  CopyOp pending;
  pending.op.fn = [](cwym_op* op, cwy_status status, const cwy_detail*) {
    auto* self = reinterpret_cast<CopyOp*>(op);
    ++self->reported;
    self->status = status;
  };
  const Deadline deadline("a copy");
  cwy_status status = module().copy(kind.get(), dst, src, length, &pending.op);
  while (status == CWY_RETRY) {
    if (module().progress(kind.get(), 64) == 0) sched_yield();
    deadline.check();
    status = module().copy(kind.get(), dst, src, length, &pending.op);
  }
  if (status == CWY_OK) {
    EXPECT_EQ(pending.reported, 0) << "copy answered OK and completed its op";
    return;
  }
  ASSERT_EQ(status, CWY_INPROGRESS) << status_name(status);
  while (pending.reported == 0) {
    if (module().progress(kind.get(), 64) == 0) sched_yield();
    deadline.check();
  }
  for (int i = 0; i < 10; ++i) module().progress(kind.get(), 64);
  EXPECT_EQ(pending.reported, 1) << "a copy completed more than once";
  EXPECT_EQ(pending.status, CWY_OK);
}

// Catches a kind that opens another device than it was asked for.
void memory_kind_facts() {
  Kind kind;
  EXPECT_EQ(kind.attr().device, kind.device());
  EXPECT_EQ(module().flags, 0u);
  const uint64_t alignment = kind.attr().alignment;
  EXPECT_EQ(alignment & (alignment - 1), 0u) << "alignment " << alignment << " is no power of two";
}

// Catches devices of one number, and those that say nothing of themselves or in several lines.
void devices() {
  const Kind kind;  // there is one
  std::set<int32_t> seen;
  ErrorText err;
  const auto look = [](void* arg, const cwym_device* d) {
    EXPECT_GE(d->head.struct_size, sizeof *d);
    EXPECT_TRUE(static_cast<std::set<int32_t>*>(arg)->insert(d->index).second)
        << "device " << d->index << " is listed twice";
    ASSERT_TRUE(d->description != nullptr && d->path != nullptr) << "a text is missing";
    EXPECT_NE(d->description[0], '\0') << "device " << d->index << " has no description";
    EXPECT_EQ(std::strpbrk(d->description, "\r\n"), nullptr) << "a description is one line";
    EXPECT_GE(d->numa_node, -1);
  };
  ASSERT_EQ(err.after("list_devices", module().list_devices(look, &seen, err)), CWY_OK);
}

// Catches a query that writes its own structure's size where the caller's is shorter.
void attributes_have_the_callers_own_size() {
  const Kind kind;
  Shorter<cwym_attr> attr;
  require_ok(module().query(kind.get(), attr.get()), "query of a shorter structure");
  EXPECT_EQ(attr.get()->kind_class, kind.attr().kind_class);
  attr.expect_kept();
}

// Catches invented devices that are accepted, and refusals without a word.
void unknown_device() {
  cwym_kind* kind = nullptr;
  ErrorText err;
  ASSERT_LT(err.after("create", module().create(kind_options(), 12345, nullptr, 0, &kind, err)), 0);
}

// Catches alignment that is not kept, blocks that overlap, and release that leaks.
void allocation() {
  Kind kind;
  std::vector<std::unique_ptr<Block>> blocks;
  for (const uint64_t length : {1ull, 64ull, 4097ull, 1ull << 20}) {
    blocks.push_back(std::make_unique<Block>(kind, length));
    ASSERT_NE(kind.attr().alignment, 0u) << "alloc without an alignment";
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back()->data()) % kind.attr().alignment, 0u);
  }
  const std::vector<uint8_t> source(4097, 0x33);
  copy(kind, blocks[2]->data(), source.data(), source.size());
  blocks.clear();
  for (int i = 0; i < 300; ++i) Block block(kind, 16u << 20);  // 4.8 GB if it leaked and were used
}

// Catches a length of 0 that is refused or gets no place of its own, and a NULL that is released.
void empty_allocations() {
  Kind kind;
  const Block one(kind, 0), other(kind, 0);
  EXPECT_NE(one.data(), nullptr);
  EXPECT_NE(one.data(), other.data()) << "two allocations at one address";
  EXPECT_EQ(module().release(kind.get(), nullptr), CWY_OK);
}

// Catches a copy that moves too little, too much or to the wrong place, and copies lost between
// host and kind in either direction.
void copies() {
  Kind kind;
  constexpr size_t kSize = 1 << 20;
  Block a(kind, kSize), b(kind, kSize);
  std::vector<uint8_t> host(kSize), back(kSize);
  Random random(kind_settings().seed);
  for (uint64_t key = 1; key <= 40; ++key) {
    const size_t length = key < 10 ? key - 1 : random.below(kSize / 2);
    const size_t from = random.below(kSize / 2), to = random.below(kSize / 2 - 64) + 64;
    std::memset(host.data(), 0xe7, host.size());
    copy(kind, b.data(), host.data(), kSize);
    fill_pattern(host.data() + from, length, key);
    copy(kind, a.data() + from, host.data() + from, length);  // host to kind
    copy(kind, b.data() + to, a.data() + from, length);       // within the kind
    copy(kind, back.data(), b.data(), kSize);                 // kind to host
    ASSERT_EQ(first_difference(back.data() + to, length, key), length) << "copy of " << length;
    ASSERT_EQ(back[to - 1], 0xe7) << "a copy of " << length << " wrote before its target";
    ASSERT_EQ(back[to + length], 0xe7) << "a copy of " << length << " wrote behind its target";
  }
}

// Catches ownership that is guessed: another kind's pointer, a range half outside, unmapped memory.
void ownership() {
  Kind kind;
  Block block(kind, 1 << 16);
  int32_t device = -77;
  ASSERT_EQ(module().who_owns(block.data(), 1 << 16, &device), CWY_OK);
  EXPECT_EQ(device, kind.device());
  ASSERT_EQ(module().who_owns(block.data() + 1000, 1, &device), CWY_OK);
  EXPECT_LT(module().who_owns(nullptr, 1, &device), 0);
  EXPECT_LT(module().who_owns(reinterpret_cast<void*>(uintptr_t{0xdead000}), 16, &device), 0);
  EXPECT_LT(module().who_owns(block.data(), ~uint64_t{0}, &device), 0) << "a range that wraps";
  // Two pages, the second unmapped: the range is not entirely anybody's.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* two = static_cast<uint8_t*>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(two, MAP_FAILED);
  munmap(two + page, page);
  EXPECT_LT(module().who_owns(two, 2 * page, &device), 0) << "half of it is not mapped";
  const bool host = kind.attr().kind_class == CWY_MEM_HOST;
  EXPECT_EQ(module().who_owns(two, page, &device) == CWY_OK, host)
      << "plain host memory belongs to the host kind and to no other";
  munmap(two, page);
}

// Catches a length of 0 that is anybody's, or nobody's: the byte at the address decides.
void empty_ranges() {
  Kind kind;
  Block block(kind, 4096);
  int32_t device = -77;
  ASSERT_EQ(module().who_owns(block.data() + 4095, 0, &device), CWY_OK);
  EXPECT_EQ(device, kind.device());
  EXPECT_LT(module().who_owns(nullptr, 0, &device), 0);
  EXPECT_LT(module().who_owns(reinterpret_cast<void*>(uintptr_t{0xdead000}), 0, &device), 0);
}

// Catches forms that are announced and not produced, or produced and not announced.
void exports() {
  Kind kind;
  Block block(kind, 1 << 16);
  for (const uint32_t form :
       {CWY_FORM_HOST_VA, CWY_FORM_DEVICE_VA, CWY_FORM_DMABUF, CWY_FORM_IPC}) {
    cwy_memref ref{};
    ref.head = CWY_HEAD(cwy_memref);
    ref.fd = -1;
    ErrorText err;
    const cwy_status status = err.after(
        "export_mem", module().export_mem(kind.get(), block.data(), 1 << 16, form, &ref, err));
    if ((kind.attr().export_forms & form) == 0) {
      EXPECT_LT(status, 0) << "form " << form << " is exported though not announced";
      continue;
    }
    ASSERT_EQ(status, CWY_OK) << "form " << form << ": " << err.text();
    EXPECT_EQ(ref.form, form);
    // Memory in form HOST_VA is the host's, whichever kind exports it.
    const bool host = form == CWY_FORM_HOST_VA;
    EXPECT_EQ(ref.kind_class, host ? uint32_t{CWY_MEM_HOST} : kind.attr().kind_class);
    EXPECT_EQ(ref.length, 1u << 16);
    EXPECT_EQ(ref.device, host ? -1 : kind.device());
    if (form == CWY_FORM_DMABUF) close(ref.fd);
  }
}

// Catches an export_mem that writes its own structure's size where the caller's is shorter.
void exports_have_the_callers_own_size() {
  Kind kind;
  const auto forms = static_cast<uint32_t>(kind.attr().export_forms) & ~uint32_t{CWY_FORM_DMABUF};
  if (forms == 0) throw Skip{"a form without a descriptor"};
  const uint32_t form = forms & -forms;
  Block block(kind, 4096);
  Shorter<cwy_memref> ref;
  ErrorText err;
  require_ok(module().export_mem(kind.get(), block.data(), 4096, form, ref.get(), err),
             "export_mem to a shorter structure");
  EXPECT_EQ(ref.get()->form, form);
  ref.expect_kept();
}

// A handle of a quarter of the block.
cwy_memref handle_of(const Kind& kind, const Block& block) {
  cwy_memref ref{};
  ref.head = CWY_HEAD(cwy_memref);
  ref.fd = -1;
  ErrorText err;
  require_ok(module().export_mem(kind.get(), block.data() + 4096, 4096, CWY_FORM_IPC, &ref, err),
             "export_mem of a part");
  return ref;
}

void expect_refused(const Kind& kind, const cwy_memref& ref, const char* what) {
  cwym_import* import = nullptr;
  void* address = nullptr;
  ErrorText err;
  EXPECT_LT(err.after("import_mem", module().import_mem(kind.get(), &ref, &import, &address, err)),
            0)
      << "a handle with " << what << " is opened";
}

void needs_handles(const Kind& kind) {
  if ((kind.attr().export_forms & kind.attr().import_forms & CWY_FORM_IPC) == 0)
    throw Skip{"handles for other processes"};
}

// Catches handles that are believed whatever they say.
void imports_are_checked() {
  Kind kind;
  needs_handles(kind);
  const Block block(kind, 4 * 4096);
  const cwy_memref good = handle_of(kind, block);
  EXPECT_TRUE(good.ipc_len > 0 && good.ipc_len <= sizeof good.ipc) << good.ipc_len << " bytes";
  EXPECT_EQ(good.pid, static_cast<uint32_t>(getpid()));
  cwy_memref bad = good;
  bad.form = CWY_FORM_HOST_VA;
  expect_refused(kind, bad, "another form");
  bad = good, ++bad.kind_class;
  expect_refused(kind, bad, "another class");
  bad = good, bad.ipc_len = 0;
  expect_refused(kind, bad, "no bytes");
  bad = good, bad.ipc_len = sizeof bad.ipc + 1;
  expect_refused(kind, bad, "more bytes than there are");
  bad = good, bad.length = ~uint64_t{0};
  expect_refused(kind, bad, "a length beyond the memory");
}

// Catches memory that is opened in another place. A kind may refuse a handle of its own process.
void imports() {
  Kind kind;
  needs_handles(kind);
  const Block block(kind, 4 * 4096);
  std::vector<uint8_t> host(4096), back(4096);
  fill_pattern(host.data(), host.size(), 7);
  copy(kind, block.data() + 4096, host.data(), host.size());
  const cwy_memref ref = handle_of(kind, block);
  cwym_import* import = nullptr;
  void* address = nullptr;
  ErrorText err;
  const cwy_status status =
      err.after("import_mem", module().import_mem(kind.get(), &ref, &import, &address, err));
  if (status != CWY_OK) {
    EXPECT_TRUE(status != CWY_RETRY && status < 0) << status_name(status);
    throw Skip{"handles that their own process opens"};
  }
  copy(kind, back.data(), address, back.size());
  EXPECT_EQ(first_difference(back.data(), back.size(), 7), back.size());
  module().import_close(kind.get(), import);
}

// Catches push and pop that do not nest. Optional calls: UNSUPPORTED is an answer.
void contexts() {
  Kind kind;
  const cwy_status first = module().push(kind.get());
  if (first == CWY_ERR_UNSUPPORTED) throw Skip{"push and pop"};
  ASSERT_EQ(first, CWY_OK);
  ASSERT_EQ(module().push(kind.get()), CWY_OK);
  EXPECT_EQ(module().pop(kind.get()), CWY_OK);
  EXPECT_EQ(module().pop(kind.get()), CWY_OK);
}

}  // namespace

const std::vector<Case>& memkind_cases() {
  static const std::vector<Case> cases = {
      {"Memkind", "facts", kNoPeer, memory_kind_facts},
      {"Memkind", "devices", kNoPeer, devices},
      {"Memkind", "attributes_have_the_callers_own_size", kNoPeer,
       attributes_have_the_callers_own_size},
      {"Memkind", "unknown_device", kNoPeer, unknown_device},
      {"Memkind", "allocation", kNoPeer, allocation},
      {"Memkind", "empty_allocations", kNoPeer, empty_allocations},
      {"Memkind", "copies", kNoPeer, copies},
      {"Memkind", "ownership", kNoPeer, ownership},
      {"Memkind", "empty_ranges", kNoPeer, empty_ranges},
      {"Memkind", "exports", kNoPeer, exports},
      {"Memkind", "exports_have_the_callers_own_size", kNoPeer, exports_have_the_callers_own_size},
      {"Memkind", "imports_are_checked", kNoPeer, imports_are_checked},
      {"Memkind", "imports", kNoPeer, imports},
      {"Memkind", "contexts", kNoPeer, contexts},
  };
  return cases;
}

}  // namespace causeway::conformance
