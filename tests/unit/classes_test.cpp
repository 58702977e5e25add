// A conduit whose connections are of two classes: what the core asks of one connection, and of all.
// The core runs as a job of one rank; its conduit `self` is made to have a second table.
#include <gasnetex.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "connection/conduit_set.h"
#include "connection/fallbacks.h"
#include "connection/mapping.h"
#include "connection/split.h"
#include "object/connect.h"
#include "object/endpoint.h"
#include "process/runtime.h"
#include "rma/split_ops.h"
#include "rma/stripe.h"
#include "thread/op.h"

namespace causeway {
namespace {

enum Table : uint32_t { kMapped, kRemote };
constexpr uint64_t kLarge = 1 << 20, kSmall = 64, kMedium = 600;
uint32_t g_table = kMapped;  // that the next connection gets
size_t g_put = 0;            // bytes that the conduit was asked to put at once

uint32_t g_tables = 2;
size_t g_medium = kMedium;

cwy_status query_ep(cwyc_ep*, cwyc_ep_attr* attr) {
  attr->caps = CWYC_CAP_NO_PROGRESS;
  attr->ops_tables = g_tables;
  return CWY_OK;
}
cwy_status query_class(cwyc_ep*, uint32_t table, cwyc_class_attr* attr) {
  const bool mapped = table == kMapped;
  attr->caps = CWYC_CAP_PUT | CWYC_CAP_GET;
  if (mapped) attr->caps |= CWYC_CAP_DIRECT | CWYC_CAP_ATOMIC;
  attr->rma_max = mapped ? kLarge : kSmall;
  attr->am_medium_max = mapped ? kLarge : g_medium;
  attr->atomic_ops[0] = mapped ? 3 : 1;
  return CWY_OK;
}
uint32_t class_of(cwyc_domain*, const cwyc_peer_desc* peer) {
  return peer->same_host != 0 ? g_table : uint32_t{kRemote};
}
cwy_status connect(cwyc_ep*, cwyc_conn* conn, const cwyc_peer_desc*, cwyc_op*, cwy_err*) {
  conn->table = g_table;
  return CWY_OK;
}
cwy_status reach_all(cwyc_domain*, const cwyc_peer_desc*, cwy_err*) {
  return CWY_OK;
}
cwy_status count_put(cwyc_conn*, const void*, cwyc_mem*, uint64_t, cwyc_rkey*, size_t length,
                     uint32_t, cwyc_op*) {
  g_put = length;
  return CWY_OK;
}

class TwoClasses : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("CAUSEWAY_SET", "plugins.path=[" CAUSEWAY_BINARY_DIR "/lib/causeway/2]", 1);
    gex_Client_t client;
    gex_EP_t ep;
    gex_TM_t tm;
    ASSERT_EQ(gex_Client_Init(&client, &ep, &tm, "CLASSES_TEST", nullptr, nullptr, 0), GASNET_OK);
    for (const auto& cep : runtime().base_endpoint().conduit_eps()) divide(*cep);
  }
  static void divide(ConduitEp& cep) {
    auto& plugin = const_cast<ConduitPlugin&>(cep.conduit->plugin());
    plugin.module.ep_query = query_ep;
    plugin.module.class_query = query_class;
    plugin.module.class_of = class_of;
    plugin.module.connect = connect;
    plugin.module.reach = reach_all;
    plugin.ops.resize(1);
    plugin.ops[0].put = count_put;
    plugin.ops.push_back(plugin.ops[0]);
    const auto two = open_conduit_ep(*cep.conduit, cep.owner, 1, false, 1, cep.deliver);
    std::swap(cep.attr, two->attr);
    std::swap(cep.caps, two->caps);
    std::swap(cep.limits, two->limits);
    std::swap(cep.classes, two->classes);
    std::swap(cep.ops, two->ops);
    std::swap(cep.inner, two->inner);
  }
  Connection& connect_by(uint32_t table) {
    g_table = table;
    destroy_peer(peer_);
    peer_.connected = false;
    init_peer(peer_, &runtime().base_endpoint(), 0, 0);
    EXPECT_EQ(connect_peer(peer_), CWY_OK);
    Connection& c = Connection::of(peer_.put.load(std::memory_order_acquire));
    c.rma_over_am.store(false, std::memory_order_relaxed);  // as if the peer's segment were known
    return c;
  }
  size_t put_at_once(Connection& c, size_t length) {
    static char from[kLarge], to[kLarge];
    cwyc_op op{};
    g_put = 0;
    EXPECT_EQ(post_by_member(c, true, from, reinterpret_cast<uint64_t>(to), length, 0, &op),
              CWY_OK);
    return g_put;
  }
  Peer& peer_ = runtime().base_endpoint().peer(0);
};

// Would catch: an operation that is cut to what connections to other peers can do.
TEST_F(TwoClasses, EachConnectionHasTheLimitsOfItsOwn) {
  Connection& mapped = connect_by(kMapped);
  EXPECT_EQ(mapped.attr->rma_max, kLarge);
  EXPECT_EQ(put_at_once(mapped, kLarge), kLarge);
  EXPECT_TRUE(is_native<&cwyc_ops::atomic>(*mapped.conn.ops));
  Connection& remote = connect_by(kRemote);
  EXPECT_EQ(remote.attr->rma_max, kSmall);
  EXPECT_EQ(put_at_once(remote, kSmall), kSmall);
  EXPECT_FALSE(is_native<&cwyc_ops::atomic>(*remote.conn.ops)) << "its class has none";
}

// Would catch: a limit that a plugin forgot, and that every message of the core is cut to for ever;
// a table that is not there.
TEST_F(TwoClasses, LimitsThatCannotBe) {
  const ConduitEp& cep = *connect_by(kMapped).cep;
  const auto refusal = [&](size_t medium, uint32_t tables) -> std::string {
    g_medium = medium;
    g_tables = tables;
    std::string text = "taken";
    try {
      open_conduit_ep(*cep.conduit, cep.owner, 2, false, 1, cep.deliver);
    } catch (const Error& e) {
      text = e.text();
    }
    g_medium = kMedium;
    g_tables = 2;
    return text;
  };
  EXPECT_THAT(refusal(0, 2), testing::HasSubstr("am_medium_max is 0"));
  EXPECT_THAT(refusal(511, 2), testing::HasSubstr("512 is the least"));
  EXPECT_THAT(refusal(kMedium, 0), testing::HasSubstr("ops_tables is 0"));
  EXPECT_THAT(refusal(kMedium, 3), testing::HasSubstr("ops_tables is 3"));
}

// Would catch: a capability that is believed though its entry is missing: GASPI's notifications go
// behind a put that the conduit has not, and keeps in no order.
TEST_F(TwoClasses, PromisesOfMissingEntries) {
  const ConduitEp& cep = *connect_by(kMapped).cep;
  auto& remote = const_cast<ConduitPlugin&>(cep.conduit->plugin()).ops[kRemote];
  const auto put = std::exchange(remote.put, nullptr);
  const auto opened = open_conduit_ep(*cep.conduit, cep.owner, 2, false, 1, cep.deliver);
  remote.put = put;
  EXPECT_EQ(opened->classes[kRemote].caps, uint64_t{CWYC_CAP_GET});
  EXPECT_EQ(opened->classes[kMapped].caps & CWYC_CAP_PUT, uint64_t{CWYC_CAP_PUT});
}

// Would catch: a limit told to clients, or an atomic domain, that some connection cannot keep.
TEST_F(TwoClasses, WhatHoldsForAllIsTheLeast) {
  const ConduitEp& cep = *connect_by(kMapped).cep;
  EXPECT_EQ(cep.limits.medium, kMedium);
  EXPECT_EQ(cep.attr.rma_max, kSmall);
  EXPECT_EQ(cep.attr.atomic_ops[0], 1u);
  EXPECT_EQ(cep.caps, CWYC_CAP_NO_PROGRESS | CWYC_CAP_PUT | CWYC_CAP_GET | CWYC_CAP_DIRECT);
}

std::vector<cwyc_op*> g_pending;  // pieces that the conduit was given
std::vector<std::string> g_reports;
cwy_status take_put(cwyc_conn*, const void*, cwyc_mem*, uint64_t, cwyc_rkey*, size_t, uint32_t,
                    cwyc_op* op) {
  g_pending.push_back(op);
  return CWY_INPROGRESS;
}

// Would catch: what the network said of a piece that is lost when a later piece makes the report.
TEST_F(TwoClasses, AStripeSaysWhatTheNetworkSaidOfItsFirstFailure) {
  static constexpr uint32_t both = CWYC_DONE_LOCAL | CWYC_DONE_REMOTE;
  Connection& c = connect_by(kRemote);
  static cwyc_ops ops = *c.conn.ops;
  ops.put = take_put;
  c.conn.ops = &ops;
  SplitPart part;
  part.members = {&c, &c};
  part.shares = {0.5, 0.5};
  static char from[2 * kSmall], to[2 * kSmall];
  cwyc_op whole{};
  whole.fn = [](cwyc_op*, uint32_t what, cwy_status status, const cwy_detail* detail) {
    EXPECT_EQ(what, both);
    g_reports.push_back(failure_text(status, detail));
  };
  ASSERT_EQ(post_striped(part, true, from, reinterpret_cast<uint64_t>(to), sizeof to, 0, &whole),
            CWY_INPROGRESS);
  ASSERT_GE(g_pending.size(), 2u);
  {
    std::string said = "transport retry counter exceeded";
    const cwy_detail detail{CWY_HEAD(cwy_detail), 12, 0, said.c_str()};
    g_pending.back()->fn(g_pending.back(), both, CWY_ERR_DEVICE_FAILED, &detail);
    said.assign(said.size(), '?');
  }
  g_pending.pop_back();
  EXPECT_TRUE(g_reports.empty());
  for (cwyc_op* piece : g_pending) piece->fn(piece, both, CWY_OK, nullptr);
  ASSERT_EQ(g_reports.size(), 1u);
  EXPECT_NE(g_reports[0].find("transport retry counter exceeded (code 12"), std::string::npos)
      << g_reports[0];
}

// Would catch: segments laid out for mapping because others than the neighbors are mapped.
TEST_F(TwoClasses, NeighborsAreMappedIfTheirClassIs) {
  for (const uint32_t table : {kMapped, kRemote}) {
    connect_by(table);
    find_mapping_conduits(runtime().base_endpoint().conduit_eps());
    for (const auto& cep : runtime().base_endpoint().conduit_eps())
      EXPECT_EQ(cep->maps_neighbors, table == kMapped);
  }
}

}  // namespace
}  // namespace causeway
