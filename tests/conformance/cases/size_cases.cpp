// What a plugin may read and write of the structures that it is handed.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <type_traits>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "base/error.h"

namespace causeway::conformance {
namespace {

// One structure that ends where a page ends behind which nothing may be read.
template <typename T>
class AtTheEdge {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  explicit AtTheEdge(const T& value) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    void* const at =
        mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw Error(CWY_ERR_NOMEM, "no memory for the suite itself");
    pages_ = static_cast<char*>(at);
    mprotect(pages_ + page_, page_, PROT_NONE);
    value_ = new (pages_ + page_ - sizeof(T)) T(value);
  }
  ~AtTheEdge() { munmap(pages_, 2 * page_); }
  AtTheEdge(const AtTheEdge&) = delete;
  AtTheEdge& operator=(const AtTheEdge&) = delete;
  T* get() const { return value_; }

 private:
  size_t page_;
  char* pages_;
  T* value_;
};

// Catches a plugin that was built against a longer structure and reads of the caller's as much.
void arguments_have_their_own_size() {
  ErrorText err;
  {
    const Domain domain(PluginHost::load_conduit(world().settings), PluginHost::options(),
                        world().settings.device);
    const AtTheEdge params(Endpoint::parameters(nullptr, 0));
    cwyc_ep* ep = nullptr;
    require_ok(domain.module().ep_open(domain.get(), params.get(), &ep, err), "ep_open");
    domain.module().ep_close(ep);
  }
  Session s({.memory = 0});
  const cwyc_module& module = s.ep().module();
  const AtTheEdge peer(describe(s.side().peer, s.loopback()));
  require_ok(module.reach(s.side().domain->get(), peer.get(), err), "reach");
  if (!s.ep().can(CWYC_CAP_MEM_REG) || (s.ep().attr().mem_forms & CWY_FORM_HOST_VA) == 0) return;
  uint8_t bytes[4096];
  const AtTheEdge ref(Memory::reference(bytes, sizeof bytes));
  cwyc_mem* mem = nullptr;
  require_ok(module.mem_reg(s.side().domain->get(), ref.get(), &mem, err), "mem_reg");
  module.mem_release(s.side().domain->get(), mem);
}

// Catches an ep_query that writes its own structure's size where the caller's is shorter.
void attributes_have_the_callers_own_size() {
  Session s({.memory = 0});
  struct {
    cwyc_ep_attr attr;
    uint8_t behind[64];
  } place;
  std::memset(&place, 0xab, sizeof place);
  constexpr size_t kRoom = sizeof(cwyc_ep_attr) / 2 / 8 * 8;
  place.attr.head = CWY_HEAD(cwyc_ep_attr);
  place.attr.head.struct_size = kRoom;
  require_ok(s.ep().module().ep_query(s.ep().get(), &place.attr),
             "ep_query of a shorter structure");
  EXPECT_EQ(place.attr.head.struct_size, kRoom) << "the head is the caller's";
  EXPECT_EQ(place.attr.caps, s.ep().told().caps);
  const auto* bytes = reinterpret_cast<const uint8_t*>(&place);
  for (size_t i = kRoom; i < sizeof place; ++i)
    ASSERT_EQ(bytes[i], 0xab) << "byte " << i << " written of a structure of " << kRoom;
}

// Catches a failure that is written about where there is no place for it: `err` may be NULL.
void errors_without_a_place() {
  Session s({.memory = 0});
  const cwyc_module& module = s.ep().module();
  cwyc_domain* domain = nullptr;
  const cwyc_domain_params nonsense = Domain::parameters("no-such-device-of-the-suite");
  EXPECT_LT(module.domain_open(PluginHost::options(), &nonsense, &domain, nullptr), 0);
  uint64_t room = 0;
  uint8_t bytes[8];
  EXPECT_LT(module.ep_address(s.ep().get(), bytes, &room, nullptr), 0);
  cwyc_peer_desc elsewhere = describe(s.side().card, false, false);
  elsewhere.peer = {1, 1};
  elsewhere.same_host = 0;
  module.reach(s.side().domain->get(), &elsewhere, nullptr);
  if (!s.ep().can(CWYC_CAP_MEM_ALLOC | CWYC_CAP_MEM_REG)) return;
  const cwyc_peer_desc peer = describe(s.side().peer, s.loopback());
  cwyc_rkey* rkey = nullptr;
  EXPECT_LT(module.rkey_open(s.ep().get(), &peer, bytes, 0, &rkey, nullptr), 0);
}

const Cases cases{
    {"Module", "arguments_have_their_own_size", kNothing, arguments_have_their_own_size},
    {"Module", "attributes_have_the_callers_own_size", kNothing,
     attributes_have_the_callers_own_size},
    {"Module", "errors_without_a_place", kNothing, errors_without_a_place},
};

}  // namespace
}  // namespace causeway::conformance
