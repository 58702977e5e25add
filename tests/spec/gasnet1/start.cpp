// gasnet_init, gasnet_attach, and what they leave behind.
#include <gasnet_coll.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <set>

#include "gasnet1.h"

using spec::job;

namespace g1 {
namespace {

std::vector<Handler*>& handlers() {
  static std::vector<Handler*> all;
  return all;
}

// Messages sent to everybody as soon as the sender's attach has returned.
std::atomic<bool> attached{false};
std::atomic<unsigned> early_messages{0}, too_early{0};
uint64_t early_payload = 0;
void on_early(gasnet_token_t, void* buffer, size_t bytes, gasnet_handlerarg_t from) {
  if (!attached.load(std::memory_order_relaxed)) too_early.fetch_add(1);
  uint64_t word = 0;
  if (bytes == sizeof word) std::memcpy(&word, buffer, bytes);
  if (word != 0x5eed0000u + static_cast<uint32_t>(from)) too_early.fetch_add(1);
  early_payload += word;
  early_messages.fetch_add(1, std::memory_order_release);
}
Handler early(&on_early);
Handler wished(&on_early, 200);

}  // namespace

Start start;

Handler::Handler(void (*fn)(), gasnet_handler_t wish) : fn_(fn), wish_(wish) {
  handlers().push_back(this);
}
std::vector<gasnet_handlerentry_t> Handler::table() {
  std::vector<gasnet_handlerentry_t> out;
  for (const Handler* h : handlers()) out.push_back({h->wish_, h->fn_});
  return out;
}
void Handler::assigned(const std::vector<gasnet_handlerentry_t>& table) {
  for (size_t i = 0; i < table.size(); ++i) handlers()[i]->index_ = table[i].index;
}

uintptr_t asked_segment(gasnet_node_t node) {
#ifdef GASNET_SEGMENT_EVERYTHING
  return 12345 + node;  // is ignored
#endif
  return (uintptr_t{24} << 20) + node % 5 * uintptr_t{GASNET_PAGESIZE};
}

}  // namespace g1

namespace spec {

void start_client(Job& j, int* argc, char*** argv) {
  g1::Start& s = g1::start;
  gex_System_SetVerboseErrors(0);
  s.attach_before_init = gasnet_attach(nullptr, 0, GASNET_PAGESIZE, 0);
  if (gasnet_init(argc, argv) != GASNET_OK) std::exit(1);
  s.second_init = gasnet_init(argc, argv);
  s.node = gasnet_mynode();
  s.nodes = gasnet_nodes();
  s.max_local = gasnet_getMaxLocalSegmentSize();
  s.max_global = gasnet_getMaxGlobalSegmentSize();
  gasnet_seginfo_t none[1];
  s.segment_info_early = gasnet_getSegmentInfo(none, 1);
  s.nodes_early.resize(s.nodes);
  s.node_info_early = gasnet_getNodeInfo(s.nodes_early.data(), static_cast<int>(s.nodes));
  s.table_before = s.table_after = g1::Handler::table();
  s.attach = gasnet_attach(s.table_after.data(), static_cast<int>(s.table_after.size()),
                           g1::asked_segment(s.node), 0);
  if (s.attach != GASNET_OK) std::exit(1);
  g1::attached.store(true, std::memory_order_relaxed);
  g1::Handler::assigned(s.table_after);
  for (gasnet_node_t node = 0; node < s.nodes; ++node) {
    const uint64_t word = 0x5eed0000u + s.node;
    gasnet_AMRequestMedium1(node, g1::early, &word, sizeof word,
                            static_cast<gasnet_handlerarg_t>(s.node));
  }
  s.second_attach = gasnet_attach(nullptr, 0, GASNET_PAGESIZE, 0);
  gex_System_SetVerboseErrors(1);
  gasnet_QueryGexObjects(&j.client, &j.ep, &j.tm, nullptr);
}

#ifdef GASNET_SEGMENT_EVERYTHING
// Heap memory that nobody told the library of.
gex_Segment_t make_segment(std::vector<std::byte*>& owners, size_t& common_bytes) {
  common_bytes = size_t{24} << 20;
  auto* const memory = static_cast<std::byte*>(std::calloc(1, common_bytes + 4096));
  std::byte* mine = memory + (4096 - reinterpret_cast<uintptr_t>(memory) % 4096);
  owners.resize(job().size);
  gasnet_coll_gather_all(GASNET_TEAM_ALL, owners.data(), &mine, sizeof mine,
                         GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL);
  return GEX_SEGMENT_INVALID;
}
#else
gex_Segment_t make_segment(std::vector<std::byte*>& owners, size_t& common_bytes) {
  std::vector<gasnet_seginfo_t> table(job().size);
  gasnet_getSegmentInfo(table.data(), static_cast<int>(table.size()));
  common_bytes = SIZE_MAX;
  for (const gasnet_seginfo_t& info : table) {
    owners.push_back(static_cast<std::byte*>(info.addr));
    common_bytes = std::min<size_t>(common_bytes, info.size);
  }
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  gasnet_QueryGexObjects(nullptr, nullptr, nullptr, &segment);
  return segment;
}
#endif

}  // namespace spec

// Wrong order of calls is an error code, not a crash, and leaves what exists alone.
SPEC_CASE(start, order_of_calls) {
  CHECK_EQ(g1::start.attach_before_init, GASNET_ERR_NOT_INIT);
  CHECK_EQ(g1::start.second_init, GASNET_ERR_RESOURCE);
  CHECK_EQ(g1::start.second_attach, GASNET_ERR_RESOURCE);
  CHECK_EQ(g1::start.segment_info_early, GASNET_ERR_NOT_INIT);
  CHECK_EQ(g1::start.node_info_early, GASNET_OK);
}

SPEC_CASE(start, nodes) {
  CHECK_EQ(gasnet_mynode(), gex_System_QueryJobRank());
  CHECK_EQ(gasnet_nodes(), gex_System_QueryJobSize());
  CHECK_EQ(g1::start.node, gasnet_mynode());
  CHECK_EQ(g1::start.nodes, gasnet_nodes());
  CHECK_EQ(sizeof(gasnet_handle_t), sizeof(void*));
  CHECK_EQ(sizeof(gasnet_register_value_t), size_t{SIZEOF_GASNET_REGISTER_VALUE_T});
  const gasnet_handle_t zero = {};
  CHECK(zero == GASNET_INVALID_HANDLE);
}

#ifdef GASNET_SEGMENT_EVERYTHING
// Would catch a segment that was allocated all the same.
SPEC_CASE(start, everything) {
  CHECK_EQ(g1::start.max_local, UINTPTR_MAX);
  CHECK_EQ(g1::start.max_global, UINTPTR_MAX);
  std::vector<gasnet_seginfo_t> table(job().size, {reinterpret_cast<void*>(7), 7});
  CHECK_EQ(gasnet_getSegmentInfo(table.data(), static_cast<int>(job().size)), GASNET_OK);
  for (const gasnet_seginfo_t& info : table) {
    CHECK(info.addr == nullptr);
    CHECK_EQ(info.size, UINTPTR_MAX);
  }
  gex_Segment_t segment;
  gasnet_QueryGexObjects(nullptr, nullptr, nullptr, &segment);
  CHECK(segment == GEX_SEGMENT_INVALID);
}

// Everything a GASNet-1 program can name: its neighbor's stack, heap and globals.
static char global_target[5000];
SPEC_CASE(start, stack_heap_and_globals) {
  char stack[5000];
  std::vector<char> heap(5000);
  for (char* place : {stack, heap.data(), global_target}) {
    std::vector<char*> places(job().size);
    gasnet_coll_gather_all(GASNET_TEAM_ALL, places.data(), &place, sizeof place,
                           GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC | GASNET_COLL_LOCAL);
    std::vector<char> data(5000), got(5000);
    spec::fill(data.data(), data.size(), job().rank + 50);
    char* const there = places[job().peer()];
    gasnet_put(job().peer(), there, data.data(), 4000);
    gasnet_wait_syncnb(gasnet_put_nb_bulk(job().peer(), there + 4000, data.data() + 4000, 900));
    gasnet_memset(job().peer(), there + 4900, 'm', 92);
    gasnet_put_val(job().peer(), there + 4992, 0x0123456789abcdef, 8);
    gasnet_get(got.data(), job().peer(), there, 5000);
    CHECK_PATTERN(got.data(), 4900, job().rank + 50);
    CHECK_EQ(got[4991], 'm');
    CHECK_EQ(gasnet_get_val(job().peer(), there + 4992, 8), 0x0123456789abcdefu);
    gasnet_barrier(5, 0);
    CHECK_PATTERN(place, 4900, job().behind() + 50);
    gasnet_barrier(6, 0);
  }
}
#else
// Would catch answers that change from call to call, and a global maximum above a local one.
SPEC_CASE(start, segment_limits) {
  CHECK(g1::start.max_local >= GASNET_PAGESIZE);
  CHECK_EQ(g1::start.max_local % GASNET_PAGESIZE, 0u);
  CHECK(g1::start.max_global <= g1::start.max_local);
  CHECK(g1::start.max_global >= GASNET_PAGESIZE);
  // The same everywhere: compare with the neighbor's through memory.
  auto* own = reinterpret_cast<uint64_t*>(spec::my_segment());
  *own = g1::start.max_global;
  gasnet_barrier(1, 0);
  CHECK_EQ(gasnet_get_val(job().peer(), spec::segment_of(job().peer()), 8), g1::start.max_global);
  gasnet_barrier(1, 0);
}

SPEC_CASE(start, segment_info) {
  const int n = static_cast<int>(job().size);
  std::vector<gasnet_seginfo_t> table(job().size + 2, {reinterpret_cast<void*>(7), 7});
  CHECK_EQ(gasnet_getSegmentInfo(table.data(), n + 2), GASNET_OK);
  for (int i = 0; i < n; ++i) {
    CHECK(table[i].addr != nullptr);
    CHECK_EQ(reinterpret_cast<uintptr_t>(table[i].addr) % GASNET_PAGESIZE, 0u);
    CHECK_EQ(table[i].size, g1::asked_segment(static_cast<gasnet_node_t>(i)));
  }
  CHECK_EQ(table[n].size, 7u);
  CHECK_EQ(table[n + 1].size, 7u);
  table.assign(job().size, {nullptr, 7});
  CHECK_EQ(gasnet_getSegmentInfo(table.data(), n - 1), GASNET_OK);
  CHECK_EQ(table[n - 1].size, 7u);
  CHECK_EQ(gasnet_getSegmentInfo(nullptr, 0), GASNET_OK);
  gex_System_SetVerboseErrors(0);
  CHECK_EQ(gasnet_getSegmentInfo(nullptr, 1), GASNET_ERR_BAD_ARG);
  CHECK_EQ(gasnet_getSegmentInfo(table.data(), -1), GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
}

#endif

// Fixed indices stay, don't-care ones are filled in, all differ and lie where clients' do.
SPEC_CASE(start, handler_indices) {
  std::set<unsigned> seen;
  for (size_t i = 0; i < g1::start.table_after.size(); ++i) {
    const unsigned before = g1::start.table_before[i].index, after = g1::start.table_after[i].index;
    if (before != 0) CHECK_EQ(after, before);
    CHECK(after >= 128 && after <= 255);
    CHECK(seen.insert(after).second);
  }
}

SPEC_CASE(start, objects) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_Segment_t segment;
  gasnet_QueryGexObjects(&client, &ep, &tm, &segment);
  CHECK(gex_Client_QueryFlags(client) & GEX_FLAG_USES_GASNET1);
  CHECK(gex_TM_QueryClient(tm) == client);
  CHECK(gex_TM_QueryEP(tm) == ep);
  CHECK(gex_EP_QuerySegment(ep) == segment);
  CHECK_EQ(gex_TM_QueryRank(tm), gasnet_mynode());
  CHECK_EQ(gex_TM_QuerySize(tm), gasnet_nodes());
#ifndef GASNET_SEGMENT_EVERYTHING
  CHECK(gex_Segment_QueryAddr(segment) == spec::my_segment());
#endif
  gasnet_QueryGexObjects(nullptr, nullptr, nullptr, nullptr);
}

// A second GASNet-1 client is refused, whichever way it is asked for.
SPEC_CASE(start, one_client_only) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t tm;
  gex_System_SetVerboseErrors(0);
  CHECK(gex_Client_Init(&client, &ep, &tm, "SECOND", nullptr, nullptr, GEX_FLAG_USES_GASNET1) !=
        GASNET_OK);
  gex_System_SetVerboseErrors(1);
}

SPEC_CASE(start, early_messages) {
  GASNET_BLOCKUNTIL(g1::early_messages.load(std::memory_order_acquire) == job().size);
  CHECK_EQ(g1::too_early.load(), 0u);
  gasnet_barrier(2, 0);
}

// host and supernode number consistently; offset leads to the mapping that get and put use.
SPEC_CASE(start, node_info) {
  const int n = static_cast<int>(job().size);
  std::vector<gasnet_nodeinfo_t> info(job().size + 1);
  info[job().size].host = 4711;
  CHECK_EQ(gasnet_getNodeInfo(info.data(), n + 1), GASNET_OK);
  CHECK_EQ(info[job().size].host, 4711u);
  gex_RankInfo_t* nbrhd;
  gex_Rank_t nbrhd_count, index;
  gex_System_QueryNbrhdInfo(&nbrhd, &nbrhd_count, &index);
  unsigned same = 0;
  auto* own = reinterpret_cast<uint64_t*>(spec::my_segment());
  *own = 0xabc000u + job().rank;
  gasnet_barrier(3, 0);
  for (gex_Rank_t r = 0; r < job().size; ++r) {
    CHECK_EQ(info[r].host, g1::start.nodes_early[r].host);
    CHECK_EQ(info[r].supernode, g1::start.nodes_early[r].supernode);
    CHECK(info[r].host < job().size && info[r].supernode < job().size);
    if (info[r].supernode != info[job().rank].supernode) continue;
    ++same;
    CHECK_EQ(info[r].host, info[job().rank].host);
    void* local = nullptr;
    gex_Segment_QueryBound(job().tm, r, nullptr, &local, nullptr);
    if (local == nullptr) continue;
    const auto* mapped = reinterpret_cast<const uint64_t*>(
        reinterpret_cast<uintptr_t>(spec::segment_of(r)) + info[r].offset);
    CHECK_EQ(*mapped, 0xabc000u + r);
  }
  CHECK_EQ(info[job().rank].offset, 0u);
  CHECK_EQ(same, nbrhd_count);
  gasnet_barrier(4, 0);
  gex_System_SetVerboseErrors(0);
  CHECK_EQ(gasnet_getNodeInfo(nullptr, 1), GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
}

SPEC_CASE(start, environment_and_names) {
  CHECK(gasnet_getenv("PATH") != nullptr);
  CHECK(std::strcmp(gasnet_getenv("PATH"), std::getenv("PATH")) == 0);
  CHECK(gasnet_getenv("CAUSEWAY_NO_SUCH_VARIABLE") == nullptr);
  CHECK_EQ(GASNET_SPEC_VERSION_MAJOR, 1);
  CHECK_EQ(GASNET_SPEC_VERSION_MINOR, 8);
  CHECK_EQ(GASNET_VERSION, GASNET_SPEC_VERSION_MAJOR);
  CHECK(std::strlen(GASNET_CONFIG_STRING) > 0);
  CHECK_EQ(std::string(gasnet_ErrorName(GASNET_ERR_BARRIER_MISMATCH)),
           "GASNET_ERR_BARRIER_MISMATCH");
  for (const int error : {GASNET_OK, GASNET_ERR_NOT_INIT, GASNET_ERR_RESOURCE, GASNET_ERR_BAD_ARG,
                          GASNET_ERR_NOT_READY, GASNET_ERR_BARRIER_MISMATCH, 4711}) {
    CHECK(gasnet_ErrorName(error) != nullptr && gasnet_ErrorName(error)[0] != '\0');
    CHECK(gasnet_ErrorDesc(error) != nullptr && gasnet_ErrorDesc(error)[0] != '\0');
  }
}
