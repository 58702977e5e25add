// One-sided operations of the shm conduit, segments and their limits; atomics also of self.
#include <dirent.h>
#include <sys/resource.h>

#include <thread>

#include "shm_harness.h"

namespace {

using harness::Board;
using harness::Endpoint;
using harness::run_ranks;
using harness::shm_defaults;

constexpr size_t segment_bytes = 1 << 20;
constexpr uint32_t op_add = 1u << 3;  // as the numbers of GEX_OP_* stand in conduit-api/README.md

// Rank 1 owns memory, rank 0 reaches it; body runs on rank 0 with the opened rkey.
struct Access {
  Endpoint& ep;
  cwyc_conn* conn;
  cwyc_rkey* rkey;
  uint64_t base;  // as rank 1 addresses it
};
void with_remote_memory(const harness::OptionMap& options, bool registered,
                        const std::function<void(Access&)>& body,
                        const std::function<void(char*)>& owner_check = {}) {
  Board* board = Board::make();
  run_ranks(2, board, [&](uint32_t rank) {
    const cwyc_module* module = harness::load_conduit("shm", rank, 2);
    ASSERT_NE(module, nullptr);
    Endpoint ep(module, options);
    std::unique_ptr<char[]> private_memory;
    cwyc_mem* mem = nullptr;
    char* base = nullptr;
    cwy_err err{};
    if (rank == 1) {
      if (registered) {
        private_memory = std::make_unique<char[]>(segment_bytes);
        base = private_memory.get();
        cwy_memref ref{};
        ref.head = CWY_HEAD(cwy_memref);
        ref.form = CWY_FORM_HOST_VA;
        ref.addr = reinterpret_cast<uint64_t>(base);
        ref.length = segment_bytes;
        ASSERT_EQ(module->mem_reg(ep.domain(), &ref, &mem, &err), CWY_OK) << err.text;
      } else {
        void* addr = nullptr;
        ASSERT_EQ(module->mem_alloc(ep.domain(), segment_bytes, &addr, &mem, &err), CWY_OK)
            << err.text;
        base = static_cast<char*>(addr);
      }
      board->words[0] = reinterpret_cast<uint64_t>(base);
      board->post(2, ep.pack(mem));
    }
    board->post(rank, ep.address());
    board->barrier(2);
    cwyc_conn* conn = ep.connect(board->read(1 - rank), {1 - rank, 1});
    ASSERT_NE(conn, nullptr) << ep.last_error();
    if (rank == 0) {
      const std::string address = board->read(1);
      const auto desc = ep.describe(address, {1, 1}, false);
      cwyc_rkey* rkey = ep.open(board->read(2), desc);
      ASSERT_NE(rkey, nullptr) << ep.last_error();
      Access access{ep, conn, rkey, board->words[0]};
      body(access);
      module->rkey_close(ep.ep(), rkey);
    }
    board->barrier(2);
    if (rank == 1 && owner_check) owner_check(base);
    if (mem != nullptr) module->mem_release(ep.domain(), mem);
    board->barrier(2);
  });
}

void put_get_everything(Access& a) {
  std::vector<char> out(segment_bytes), in(segment_bytes);
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<char>(i * 7 + i / 251);
  const cwyc_ops* ops = a.conn->ops;
  for (const size_t n : {0ul, 1ul, 7ul, 8ul, 4096ul, 65537ul, segment_bytes}) {
    ASSERT_EQ(ops->put(a.conn, out.data(), nullptr, a.base, a.rkey, n, 0, nullptr), CWY_OK);
    std::fill(in.begin(), in.end(), 0);
    ASSERT_EQ(ops->get(a.conn, in.data(), nullptr, a.base, a.rkey, n, 0, nullptr), CWY_OK);
    EXPECT_EQ(std::memcmp(in.data(), out.data(), n), 0) << n;
  }
  // Outside, also by wrapping around the address space.
  EXPECT_EQ(ops->put(a.conn, out.data(), nullptr, a.base - 1, a.rkey, 8, 0, nullptr),
            CWY_ERR_INVALID);
  EXPECT_EQ(
      ops->put(a.conn, out.data(), nullptr, a.base + segment_bytes - 7, a.rkey, 8, 0, nullptr),
      CWY_ERR_INVALID);
  EXPECT_EQ(ops->get(a.conn, in.data(), nullptr, a.base + 8, a.rkey, SIZE_MAX - 4, 0, nullptr),
            CWY_ERR_INVALID);
  // Lists cut at different places on the two sides.
  cwyc_iov local[] = {{out.data() + 10, 3}, {out.data() + 100, 0}, {out.data() + 200, 20}};
  cwyc_riov remote[] = {{a.base + 1000, 11}, {a.base + 2000, 12}};
  cwyc_vector v{CWY_HEAD(cwyc_vector), local, 3, nullptr, remote, 2, a.rkey};
  ASSERT_EQ(ops->putv(a.conn, &v, 0, nullptr), CWY_OK);
  char back[23];
  cwyc_iov into[] = {{back, 1}, {back + 1, 22}};
  v.local = into;
  v.local_count = 2;
  ASSERT_EQ(ops->getv(a.conn, &v, 0, nullptr), CWY_OK);
  EXPECT_EQ(std::memcmp(back, out.data() + 10, 3), 0);
  EXPECT_EQ(std::memcmp(back + 3, out.data() + 200, 20), 0);
}

// Catches: bytes moved to the wrong place, spans outside the segment let through, and a mapping
// whose delta is wrong; over both kinds of shared memory.
class Memory : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Shm, Memory, ::testing::Values("memfd", "posix"));
TEST_P(Memory, PutGetVectorAndDirect) {
  with_remote_memory(
      shm_defaults({{"memory", GetParam()}}), false,
      [](Access& a) {
        put_get_everything(a);
        intptr_t delta = 0;
        ASSERT_EQ(a.ep.module()->rkey_direct(a.rkey, &delta), CWY_OK);
        *reinterpret_cast<volatile uint64_t*>(a.base + 16 + static_cast<uint64_t>(delta)) = 99;
      },
      [](char* base) {
        uint64_t word;
        std::memcpy(&word, base + 16, sizeof word);
        EXPECT_EQ(word, 99u);
      });
}

// Catches: client's memory that is reached wrongly by cross-memory attach, or is claimed to be
// mapped; `cma: never` must answer UNSUPPORTED so that the core takes messages.
TEST(ShmMemory, ClientMemoryByCrossMemoryAttach) {
  with_remote_memory(shm_defaults({{"cma", "require"}}), true, [](Access& a) {
    put_get_everything(a);
    intptr_t delta = 0;
    EXPECT_EQ(a.ep.module()->rkey_direct(a.rkey, &delta), CWY_ERR_UNSUPPORTED);
    cwyc_atomic add{};
    add.head = CWY_HEAD(cwyc_atomic);
    add.raddr = a.base;
    add.dt = 1u << 3;
    add.opcode = op_add;
    EXPECT_EQ(a.conn->ops->atomic(a.conn, &add, a.rkey, 0, nullptr), CWY_ERR_UNSUPPORTED);
  });
  with_remote_memory(shm_defaults({{"cma", "never"}}), true, [](Access& a) {
    char byte = 0;
    EXPECT_EQ(a.conn->ops->put(a.conn, &byte, nullptr, a.base, a.rkey, 1, 0, nullptr),
              CWY_ERR_UNSUPPORTED);
    EXPECT_EQ(a.conn->ops->get(a.conn, &byte, nullptr, a.base, a.rkey, 1, 0, nullptr),
              CWY_ERR_UNSUPPORTED);
  });
}

// Catches: memory that went away under a registration crashing the caller instead of failing.
TEST(ShmMemory, UnmappedClientMemoryIsAnError) {
  Board* board = Board::make();
  run_ranks(2, board, [&](uint32_t rank) {
    const cwyc_module* module = harness::load_conduit("shm", rank, 2);
    Endpoint ep(module, shm_defaults({{"cma", "require"}}));
    void* memory = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cwy_memref ref{};
    ref.head = CWY_HEAD(cwy_memref);
    ref.form = CWY_FORM_HOST_VA;
    ref.addr = reinterpret_cast<uint64_t>(memory);
    ref.length = 8192;
    cwyc_mem* mem = nullptr;
    cwy_err err{};
    ASSERT_EQ(module->mem_reg(ep.domain(), &ref, &mem, &err), CWY_OK);
    munmap(static_cast<char*>(memory) + 4096, 4096);
    board->post(rank, ep.address());
    board->post(10 + rank, ep.pack(mem));
    board->words[rank] = ref.addr;
    board->barrier(2);
    cwyc_conn* conn = ep.connect(board->read(1 - rank), {1 - rank, 1});
    const std::string address = board->read(1 - rank);
    cwyc_rkey* rkey =
        ep.open(board->read(10 + 1 - rank), ep.describe(address, {1 - rank, 1}, false));
    ASSERT_NE(rkey, nullptr) << ep.last_error();
    char bytes[8192] = {};
    EXPECT_EQ(conn->ops->put(conn, bytes, nullptr, board->words[1 - rank], rkey, 8192, 0, nullptr),
              CWY_ERR_INVALID);
    board->barrier(2);
    module->rkey_close(ep.ep(), rkey);
    module->mem_release(ep.domain(), mem);
  });
}

template <class T>
uint64_t bits(T value) {
  uint64_t word = 0;
  std::memcpy(&word, &value, sizeof value);
  return word;
}

// One operation on a fresh word: what is fetched and what remains.
template <class T>
void expect_atomic(cwyc_conn* conn, cwyc_rkey* rkey, uint64_t raddr, T* word, uint32_t type,
                   uint32_t operation, T before, T op1, T op2, T after) {
  *word = before;
  T fetched = 0;
  cwyc_atomic a{};
  a.head = CWY_HEAD(cwyc_atomic);
  a.raddr = raddr;
  a.operand1 = bits(op1);
  a.operand2 = bits(op2);
  a.result = &fetched;
  a.dt = 1u << type;
  a.opcode = 1u << operation;
  ASSERT_EQ(conn->ops->atomic(conn, &a, rkey, 0, nullptr), CWY_OK);
  EXPECT_EQ(*word, after) << "type " << type << " operation " << operation;
  const bool fetches = (operation >= 10 && operation < 20) || operation >= 22;
  if (fetches) {
    EXPECT_EQ(fetched, before) << "type " << type << " operation " << operation;
  }
}

template <class T>
void expect_all(cwyc_conn* conn, cwyc_rkey* rkey, uint64_t raddr, void* memory, uint32_t type) {
  const T a = 13, b = 6;
  const auto both = [&](uint32_t operation, T after) {
    for (const uint32_t form : {operation, operation + 10})
      expect_atomic<T>(conn, rkey, raddr, static_cast<T*>(memory), type, form, a, b, 0, after);
  };
  both(0, b);
  both(1, a - b);
  both(2, a * b);
  both(3, a + b);
  both(4, a);
  both(5, a + 1);
  both(6, a - 1);
  if constexpr (std::is_integral_v<T>) {
    both(7, a & b);
    both(8, a | b);
    both(9, a ^ b);
  } else {
    cwyc_atomic bitwise{};
    bitwise.head = CWY_HEAD(cwyc_atomic);
    bitwise.raddr = raddr;
    bitwise.dt = 1u << type;
    bitwise.opcode = 1u << 7;
    EXPECT_EQ(conn->ops->atomic(conn, &bitwise, rkey, 0, nullptr), CWY_ERR_UNSUPPORTED);
  }
  auto* word = static_cast<T*>(memory);
  for (const uint32_t store : {20u, 22u})
    expect_atomic<T>(conn, rkey, raddr, word, type, store, a, b, 0, b);
  for (const uint32_t cas : {21u, 24u}) {
    expect_atomic<T>(conn, rkey, raddr, word, type, cas, a, a, b, b);
    expect_atomic<T>(conn, rkey, raddr, word, type, cas, a, b, b, a);
  }
  expect_atomic<T>(conn, rkey, raddr, word, type, 23, a, b, 0, a);
}

// Catches: any operation of any type computing something else, fetching wrongly, or wrapping
// with undefined behaviour; the declared masks promising what is refused. On both conduits.
class Atomics : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Conduit, Atomics, ::testing::Values("self", "shm"));
TEST_P(Atomics, EveryTypeAndOperation) {
  const cwyc_module* module = harness::load_conduit(GetParam(), 0, 1);
  ASSERT_NE(module, nullptr);
  Endpoint ep(module, shm_defaults());
  cwyc_conn* conn = ep.connect(ep.address(), {0, 1}, true);
  ASSERT_NE(conn, nullptr) << ep.last_error();
  void* memory = nullptr;
  cwyc_mem* mem = nullptr;
  cwy_err err{};
  ASSERT_EQ(module->mem_alloc(ep.domain(), 4096, &memory, &mem, &err), CWY_OK) << err.text;
  cwyc_rkey* rkey = ep.open(ep.pack(mem), ep.describe(ep.address(), {0, 1}, true));
  ASSERT_NE(rkey, nullptr);
  const auto raddr = reinterpret_cast<uint64_t>(memory);
  expect_all<int32_t>(conn, rkey, raddr, memory, 0);
  expect_all<uint32_t>(conn, rkey, raddr, memory, 1);
  expect_all<int64_t>(conn, rkey, raddr, memory, 2);
  expect_all<uint64_t>(conn, rkey, raddr, memory, 3);
  expect_all<float>(conn, rkey, raddr, memory, 4);
  expect_all<double>(conn, rkey, raddr, memory, 5);
  expect_atomic<int64_t>(conn, rkey, raddr, static_cast<int64_t*>(memory), 2, 3, INT64_MAX, 1, 0,
                         INT64_MIN);
  // Minus zero equals zero in the C language's comparison.
  expect_atomic<double>(conn, rkey, raddr, static_cast<double*>(memory), 5, 24, -0.0, 0.0, 3, 3);
  EXPECT_EQ(ep.attr().atomic_ops[3], (1ull << 25) - 1);
  EXPECT_EQ(ep.attr().atomic_ops[5] & (7u << 7), 0u);
  cwyc_atomic odd{};
  odd.head = CWY_HEAD(cwyc_atomic);
  odd.raddr = raddr + 2;
  odd.dt = 1;
  odd.opcode = op_add;
  EXPECT_EQ(conn->ops->atomic(conn, &odd, rkey, 0, nullptr), CWY_ERR_INVALID);
  module->rkey_close(ep.ep(), rkey);
  module->mem_release(ep.domain(), mem);
}

// Catches: increments lost between processes, integer and (by compare-and-swap) floating.
TEST(ShmMemory, AtomicsOfTwoProcessesAddUp) {
  constexpr int count = 20000;
  Board* board = Board::make();
  run_ranks(2, board, [&](uint32_t rank) {
    const cwyc_module* module = harness::load_conduit("shm", rank, 2);
    Endpoint ep(module, shm_defaults());
    void* memory = nullptr;
    cwyc_mem* mem = nullptr;
    cwy_err err{};
    if (rank == 0) {
      ASSERT_EQ(module->mem_alloc(ep.domain(), 4096, &memory, &mem, &err), CWY_OK);
      board->post(10, ep.pack(mem));
      board->words[0] = reinterpret_cast<uint64_t>(memory);
    }
    board->post(rank, ep.address());
    board->barrier(2);
    const std::string owner = board->read(0);
    cwyc_conn* conn = ep.connect(owner, {0, 1}, rank == 0);
    ASSERT_NE(conn, nullptr) << ep.last_error();
    cwyc_rkey* rkey = ep.open(board->read(10), ep.describe(owner, {0, 1}, rank == 0));
    cwyc_atomic integer{}, real{};
    integer.head = real.head = CWY_HEAD(cwyc_atomic);
    integer.raddr = board->words[0];
    integer.operand1 = 1;
    integer.dt = 1u << 3;
    integer.opcode = op_add;
    real.raddr = board->words[0] + 8;
    real.operand1 = bits(0.5);
    real.dt = 1u << 5;
    real.opcode = op_add;
    for (int i = 0; i < count; ++i) {
      conn->ops->atomic(conn, &integer, rkey, 0, nullptr);
      conn->ops->atomic(conn, &real, rkey, 0, nullptr);
    }
    board->barrier(2);
    if (rank == 0) {
      EXPECT_EQ(*static_cast<uint64_t*>(memory), 2u * count);
      EXPECT_EQ(static_cast<double*>(memory)[1], 1.0 * count);
    }
    module->rkey_close(ep.ep(), rkey);
    if (mem != nullptr) module->mem_release(ep.domain(), mem);
  });
}

// Catches: a long's payload arriving after its handler, or at another place.
TEST(ShmMemory, LongPayloadIsThereBeforeItsHandler) {
  Board* board = Board::make();
  run_ranks(2, board, [&](uint32_t rank) {
    const cwyc_module* module = harness::load_conduit("shm", rank, 2);
    Endpoint ep(module, shm_defaults());
    void* memory = nullptr;
    cwyc_mem* mem = nullptr;
    cwy_err err{};
    ASSERT_EQ(module->mem_alloc(ep.domain(), segment_bytes, &memory, &mem, &err), CWY_OK);
    board->post(10 + rank, ep.pack(mem));
    board->post(rank, ep.address());
    board->words[rank] = reinterpret_cast<uint64_t>(memory);
    board->barrier(2);
    const std::string peer = board->read(1 - rank);
    cwyc_conn* conn = ep.connect(peer, {1 - rank, 1});
    cwyc_rkey* rkey = ep.open(board->read(11 - rank), ep.describe(peer, {1 - rank, 1}, false));
    const uint64_t target = board->words[1 - rank];
    int got = 0;
    ep.handler = [&](Endpoint&, const harness::Message& m) {
      EXPECT_EQ(m.kind, uint32_t(CWYC_AM_LONG));
      EXPECT_EQ(m.payload, static_cast<char*>(memory) + 4096 * m.args[0]);
      EXPECT_EQ(m.length, 4096u);
      for (size_t i = 0; i < m.length; ++i)
        if (m.payload[i] != static_cast<char>(m.word)) {
          ADD_FAILURE() << "byte " << i << " is not there yet";
          break;
        }
      ++got;
    };
    std::vector<char> payload(4096);
    for (int i = 0; i < 200; ++i) {
      std::memset(payload.data(), i, payload.size());
      const int32_t place = i;
      while (conn->ops->am_long(conn, static_cast<uint64_t>(i), &place, 1, payload.data(), nullptr,
                                4096, target + 4096ul * static_cast<uint64_t>(i), rkey, 0,
                                nullptr) == CWY_RETRY)
        ep.progress();
    }
    EXPECT_TRUE(ep.wait([&] { return got == 200; }));
    EXPECT_EQ(conn->ops->am_long(conn, 1, nullptr, 0, payload.data(), nullptr, 4096,
                                 target + segment_bytes - 1, rkey, 0, nullptr),
              CWY_ERR_INVALID);
    board->barrier(2);
    module->rkey_close(ep.ep(), rkey);
    module->mem_release(ep.domain(), mem);
  });
}

cwy_status try_alloc(const harness::OptionMap& changes, size_t length, std::string& text) {
  const cwyc_module* module = harness::load_conduit("shm", 0, 1);
  Endpoint ep(module, shm_defaults(changes));
  void* memory = nullptr;
  cwyc_mem* mem = nullptr;
  cwy_err err{};
  const cwy_status status = module->mem_alloc(ep.domain(), length, &memory, &mem, &err);
  text = err.text;
  if (status == CWY_OK) {
    std::memset(memory, 1, length);
    module->mem_release(ep.domain(), mem);
  }
  return status;
}

// Catches: too much memory being promised (SIGBUS or the killer later), a file size limit that
// ends in SIGXFSZ, and messages that do not say what to do.
TEST(ShmMemory, LackOfMemoryIsOneClearLine) {
  std::string text;
  EXPECT_EQ(try_alloc({}, 1ul << 46, text), CWY_ERR_NOMEM);
  EXPECT_NE(text.find("no room for"), std::string::npos) << text;
  EXPECT_EQ(try_alloc({{"memory", "posix"}}, 1ul << 46, text), CWY_ERR_NOMEM);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  rlimit small{64 << 20, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_EQ(try_alloc({}, 128 << 20, text), CWY_ERR_NOMEM);
  EXPECT_NE(text.find("ulimit -f"), std::string::npos) << text;
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(try_alloc({{"reserve", "always"}, {"numa", "interleave"}}, 1 << 20, text), CWY_OK);
}

// Catches: `require` that silently gives ordinary pages, `try` that fails or warns every time.
TEST(ShmMemory, HugePages) {
  FILE* f = std::fopen("/proc/sys/vm/nr_hugepages", "r");
  long pages = 0;
  if (f != nullptr && std::fscanf(f, "%ld", &pages) != 1) pages = 0;
  if (f != nullptr) std::fclose(f);
  std::string text;
  if (pages == 0) {
    EXPECT_EQ(try_alloc({{"huge_pages", "require"}}, 1 << 20, text), CWY_ERR_NOMEM);
    EXPECT_NE(text.find("nr_hugepages"), std::string::npos) << text;
  } else {
    EXPECT_EQ(try_alloc({{"huge_pages", "require"}}, 1 << 20, text), CWY_OK) << text;
  }
  const size_t lines = harness::core().log_lines.size();
  EXPECT_EQ(try_alloc({{"huge_pages", "try"}}, 1 << 20, text), CWY_OK) << text;
  EXPECT_EQ(harness::core().log_lines.size(), lines + (pages == 0 ? 1 : 0));
}

}  // namespace
