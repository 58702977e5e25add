// What a plugin may read and write of the structures that it is handed.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <type_traits>
#include <vector>

#include "../harness/cases.h"
#include "../harness/expect.h"
#include "../harness/session.h"
#include "../harness/shorter.h"
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
  Shorter<cwyc_ep_attr> attr;
  require_ok(s.ep().module().ep_query(s.ep().get(), attr.get()), "ep_query of a shorter structure");
  EXPECT_EQ(attr.get()->caps, s.ep().told().caps);
  attr.expect_kept();
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

// ---- bytes that a call writes, and says how many ----------------------------------------------

using Writer = std::function<cwy_status(void* buf, uint64_t* len, cwy_err* err)>;

// The bytes that `call` writes are `most` at most, whatever the room is, and too little room is
// said.
void expect_fits(const char* call, uint64_t most, const Writer& write) {
  std::vector<uint8_t> place(most + 64);
  uint64_t whole = most;
  ErrorText err;
  require_ok(err.after(call, write(place.data(), &whole, err)), call);
  ASSERT_LE(whole, most) << call << " has written more than ep_query says";
  for (const uint64_t room : {uint64_t{0}, whole / 2, whole - 1, whole, most}) {
    std::fill(place.begin(), place.end(), uint8_t{0xcd});
    uint64_t length = room;
    ErrorText why;
    const cwy_status status = why.after(call, write(place.data(), &length, why));
    EXPECT_EQ(status, room < whole ? CWY_ERR_INVALID : CWY_OK)
        << call << " with room for " << room << " of " << whole << " bytes";
    EXPECT_EQ(length, whole) << call << ": *len for " << room << " of " << whole << " bytes";
    const auto behind = place.begin() + static_cast<ptrdiff_t>(room);
    EXPECT_TRUE(std::all_of(behind, place.end(), [](uint8_t byte) { return byte == 0xcd; }))
        << call << " overran its buffer of " << room << " bytes";
  }
}

// Catches answers that are larger than announced, a short buffer that is overrun or taken, and a
// need that is not said.
void addresses_fit() {
  Session s({.memory = 0});
  const cwyc_module& module = s.ep().module();
  const uint64_t most = s.ep().attr().ep_address_max;
  expect_fits("ep_address", most, [&](void* buf, uint64_t* len, cwy_err* err) {
    return module.ep_address(s.ep().get(), buf, len, err);
  });
  if (!s.ep().can(CWYC_CAP_WIRING)) return;
  expect_fits("wiring", most, [&](void* buf, uint64_t* len, cwy_err* err) {
    return module.wiring(s.ep().get(), s.side().peer.peer, buf, len, err);
  });
}
void keys_fit() {
  Session s;
  expect_fits("rkey_pack", s.ep().attr().rkey_max, [&](void* buf, uint64_t* len, cwy_err* err) {
    return s.ep().module().rkey_pack(s.memory().get(), buf, len, err);
  });
}

// Catches a failure that is not explained, an explanation that is no line or has another status,
// and one of a success. Other cases look too, at each call that they make.
void errors_are_told() {
  Session s;
  const cwyc_module& module = s.ep().module();
  ErrorText err[4];
  const Domain none(s.side().domain->plugin(), PluginHost::options(),
                    "no-such-device-of-the-suite");
  EXPECT_NE(none.open_status(), CWY_OK);
  cwyc_peer_desc peer = describe(s.side().peer, s.loopback());
  EXPECT_EQ(err[0].after("reach", module.reach(s.side().domain->get(), &peer, err[0])), CWY_OK);
  peer.same_host = peer.same_process = 0;
  peer.hostname = "another-host.example";
  peer.address = nullptr;
  err[1].after("reach", module.reach(s.side().domain->get(), &peer, err[1]));
  uint8_t byte = 0;
  uint64_t room = 0;
  err[2].after("ep_address", module.ep_address(s.ep().get(), &byte, &room, err[2]));
  if (!s.side().memory) return;
  room = 0;
  err[3].after("rkey_pack", module.rkey_pack(s.memory().get(), &byte, &room, err[3]));
}

const Cases cases{
    {"Module", "addresses_fit", kNothing, addresses_fit},
    {"Module", "keys_fit", kMemory, keys_fit},
    {"Module", "errors_are_told", kNothing, errors_are_told},
    {"Module", "arguments_have_their_own_size", kNothing, arguments_have_their_own_size},
    {"Module", "attributes_have_the_callers_own_size", kNothing,
     attributes_have_the_callers_own_size},
    {"Module", "errors_without_a_place", kNothing, errors_without_a_place},
};

}  // namespace
}  // namespace causeway::conformance
