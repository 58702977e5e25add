// The plugins that come with the tree and need no peer: null, the template, and memory kind host.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "loader_support.h"

namespace causeway::loader_test {
namespace {

class OwnPlugins : public testing::Test {
 protected:
  OwnPlugins() { err_.head = CWY_HEAD(cwy_err); }
  Loader loader_{config_with({}, LoadErrorPolicy::fail), services()};
  cwy_err err_{};
};

// Would catch: a template that does not load, opens nothing, or reaches somebody.
TEST_F(OwnPlugins, NullReachesNobodyAndSaysSo) {
  ConduitPlugin* plugin = loader_.conduit("null");
  ASSERT_NE(plugin, nullptr);
  const cwyc_module& null = plugin->module;
  const auto options = make_options(plugin->manifest, {{"reason", "closed for the night"}}, {});

  std::vector<std::string> devices;
  ASSERT_EQ(null.list_devices(
                as_c(options.get()),
                [](void* arg, const cwyc_device* device) {
                  static_cast<std::vector<std::string>*>(arg)->push_back(device->name);
                },
                &devices, &err_),
            CWY_OK);
  EXPECT_EQ(devices, std::vector<std::string>{"null"});

  cwyc_domain* domain = nullptr;
  cwyc_domain_params where{CWY_HEAD(cwyc_domain_params), "mlx5_0", {}, "", "", ""};
  EXPECT_EQ(null.domain_open(as_c(options.get()), &where, &domain, &err_), CWY_ERR_INVALID);
  where.device = "";
  ASSERT_EQ(null.domain_open(as_c(options.get()), &where, &domain, &err_), CWY_OK);
  cwyc_ep_params params{};
  params.head = CWY_HEAD(cwyc_ep_params);
  cwyc_ep* ep = nullptr;
  ASSERT_EQ(null.ep_open(domain, &params, &ep, &err_), CWY_OK);
  cwyc_ep_attr attr{};
  attr.head = CWY_HEAD(cwyc_ep_attr);
  ASSERT_EQ(null.ep_query(ep, &attr), CWY_OK);
  EXPECT_EQ(attr.caps, 0u);
  EXPECT_GE(attr.am_medium_max, 512u);

  cwyc_peer_desc peer{};
  peer.head = CWY_HEAD(cwyc_peer_desc);
  EXPECT_EQ(null.reach(domain, &peer, &err_), CWY_ERR_UNREACHABLE);
  EXPECT_STREQ(err_.text, "closed for the night");
  cwyc_conn conn{};
  EXPECT_EQ(null.connect(ep, &conn, &peer, nullptr, &err_), CWY_ERR_UNREACHABLE);
  EXPECT_EQ(plugin->ops[0].am_short(&conn, 0, nullptr, 0, 0), CWY_ERR_UNSUPPORTED);
  EXPECT_EQ(plugin->ops[0].am_medium(&conn, 0, nullptr, 0, nullptr, nullptr, 0, 0, nullptr),
            CWY_ERR_UNSUPPORTED);
  EXPECT_EQ(null.progress(ep, 1, CWYC_PROGRESS_ALL), 0u);
  EXPECT_EQ(null.rkey_open(ep, &peer, nullptr, 0, nullptr, &err_), CWY_ERR_UNSUPPORTED);
  null.ep_close(ep);
  null.domain_close(domain);
}

class HostKind : public OwnPlugins {
 protected:
  void SetUp() override {
    MemkindPlugin* plugin = loader_.memkind("host");
    ASSERT_NE(plugin, nullptr);
    host_ = plugin->module;
    options_ = make_options(plugin->manifest, {}, {});
    ASSERT_EQ(host_.create(as_c(options_.get()), -1, nullptr, 0, &kind_, &err_), CWY_OK);
  }
  void TearDown() override {
    if (kind_ != nullptr) host_.destroy(kind_);
  }
  cwym_module host_{};
  std::shared_ptr<const OptionValues> options_;
  cwym_kind* kind_ = nullptr;
};

// Would catch: memory that is misaligned, too short, or not what export says it is.
TEST_F(HostKind, AllocatesCopiesAndExports) {
  cwym_attr attr{};
  attr.head = CWY_HEAD(cwym_attr);
  ASSERT_EQ(host_.query(kind_, &attr), CWY_OK);
  EXPECT_EQ(attr.kind_class, uint32_t{CWY_MEM_HOST});
  EXPECT_EQ(attr.device, -1);
  EXPECT_EQ(attr.export_forms, uint64_t{CWY_FORM_HOST_VA});
  EXPECT_GT(attr.total_bytes, 0u);

  void* memory = nullptr;
  ASSERT_EQ(host_.alloc(kind_, 10000, &memory, &err_), CWY_OK);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % attr.alignment, 0u);
  std::vector<char> source(10000, 'x');
  ASSERT_EQ(host_.copy(kind_, memory, source.data(), source.size(), nullptr), CWY_OK);
  EXPECT_EQ(std::memcmp(memory, source.data(), source.size()), 0);
  EXPECT_EQ(host_.copy(kind_, memory, source.data(), 0, nullptr), CWY_OK);

  cwy_memref ref{};
  ref.head = CWY_HEAD(cwy_memref);
  ASSERT_EQ(host_.export_mem(kind_, memory, 10000, CWY_FORM_HOST_VA, &ref, &err_), CWY_OK);
  EXPECT_EQ(ref.addr, reinterpret_cast<uintptr_t>(memory));
  EXPECT_EQ(ref.length, 10000u);
  EXPECT_EQ(ref.fd, -1);
  EXPECT_EQ(ref.head.struct_size, sizeof ref);
  EXPECT_EQ(host_.export_mem(kind_, memory, 10000, CWY_FORM_DMABUF, &ref, &err_),
            CWY_ERR_UNSUPPORTED);
  EXPECT_EQ(host_.release(kind_, memory), CWY_OK);
  ASSERT_EQ(host_.alloc(kind_, 0, &memory, &err_), CWY_OK);
  EXPECT_EQ(host_.release(kind_, memory), CWY_OK);
  EXPECT_EQ(host_.alloc(kind_, ~uint64_t{0} / 2, &memory, &err_), CWY_ERR_NOMEM);
}

// Would catch: a probe that faults, that says yes to unmapped memory or to a range with a hole.
TEST_F(HostKind, KnowsWhichMemoryIsMapped) {
  int32_t device = 0;
  int local = 0;
  EXPECT_EQ(host_.who_owns(&local, sizeof local, &device), CWY_OK);
  EXPECT_EQ(device, -1);
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  char* three =
      static_cast<char*>(mmap(nullptr, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(three, MAP_FAILED);
  EXPECT_EQ(host_.who_owns(three, 3 * page, &device), CWY_OK);
  ASSERT_EQ(munmap(three + page, page), 0);
  EXPECT_EQ(host_.who_owns(three, page, &device), CWY_OK);
  EXPECT_EQ(host_.who_owns(three + page - 1, 2, &device), CWY_ERR_INVALID);
  EXPECT_EQ(host_.who_owns(three, 3 * page, &device), CWY_ERR_INVALID);
  EXPECT_EQ(host_.who_owns(three + page, 0, &device), CWY_ERR_INVALID);
  EXPECT_EQ(host_.who_owns(nullptr, 1, &device), CWY_ERR_INVALID);
  EXPECT_EQ(host_.who_owns(three, ~uint64_t{0}, &device), CWY_ERR_INVALID);
  EXPECT_EQ(host_.who_owns(reinterpret_cast<void*>(~uintptr_t{0}), 1, &device), CWY_ERR_INVALID);
  munmap(three, page);
  munmap(three + 2 * page, page);

  // More pages than one question to the kernel covers.
  const size_t many = 3000 * page;
  void* large = mmap(nullptr, many, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(large, MAP_FAILED);
  EXPECT_EQ(host_.who_owns(large, many, &device), CWY_OK);
  munmap(large, many);
}

// Would catch: options not honoured or not checked.
TEST_F(HostKind, HonoursItsOptions) {
  MemkindPlugin* plugin = loader_.memkind("host");
  const auto wide = make_options(plugin->manifest, {{"alignment", "64KiB"}}, {});
  cwym_kind* kind = nullptr;
  ASSERT_EQ(host_.create(as_c(wide.get()), -1, nullptr, 0, &kind, &err_), CWY_OK);
  void* memory = nullptr;
  ASSERT_EQ(host_.alloc(kind, 1, &memory, &err_), CWY_OK);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % (64 * 1024), 0u);
  host_.release(kind, memory);
  host_.destroy(kind);
  const auto odd = make_options(plugin->manifest, {{"alignment", "100"}}, {});
  EXPECT_EQ(host_.create(as_c(odd.get()), -1, nullptr, 0, &kind, &err_), CWY_ERR_INVALID);
  EXPECT_STREQ(err_.text, "option 'alignment' must be a power of two");
  EXPECT_EQ(host_.create(as_c(wide.get()), 3, nullptr, 0, &kind, &err_), CWY_ERR_INVALID);
}

// Would catch: a shipped plugin whose manifest this core refuses.
TEST_F(OwnPlugins, EveryShippedPluginIsListed) {
  const std::vector<Manifest> all = loader_.list();
  EXPECT_GE(all.size(), 2u);
  for (const Manifest& manifest : all) EXPECT_FALSE(manifest.summary.empty()) << manifest.path;
  for (const LoadFailure& failure : loader_.failures()) {
    ADD_FAILURE() << failure.path << ": " << failure.reason;
  }
}

}  // namespace
}  // namespace causeway::loader_test
