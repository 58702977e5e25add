// Connections that never come up: when a conduit is told to forget them (conduit-api, section 11).
// The core runs as a job of one rank; the entries of its conduit `self` that make and end
// connections are replaced here.
#include "object/connect.h"

#include <gasnetex.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "connection/conduit_set.h"
#include "object/endpoint.h"
#include "process/runtime.h"

namespace causeway {
namespace {

// What the conduit was asked, and the connect that it has not answered yet.
struct Calls {
  cwyc_op* connecting = nullptr;
  int connects = 0, disconnects = 0, purges = 0;
} g_calls;

void answer(cwy_status status, const char* why = nullptr) {
  cwyc_op* const op = std::exchange(g_calls.connecting, nullptr);
  const cwy_detail detail{CWY_HEAD(cwy_detail), 0, 0, why};
  if (op != nullptr) op->fn(op, CWYC_DONE_REMOTE, status, why != nullptr ? &detail : nullptr);
}
cwy_status connect_slowly(cwyc_ep*, cwyc_conn*, const cwyc_peer_desc*, cwyc_op* op, cwy_err*) {
  ++g_calls.connects;
  g_calls.connecting = op;
  return CWY_INPROGRESS;
}
void note_purge(cwyc_conn*) {
  ++g_calls.purges;
  answer(CWY_ERR_PEER_FAILED);
}
void note_disconnect(cwyc_conn*) {
  ++g_calls.disconnects;
}

// This rank as its own peer, without a connection, and reached by a conduit that takes its time.
class NeverUp : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("CAUSEWAY_SET", "plugins.path=[" CAUSEWAY_BINARY_DIR "/lib/causeway/2]", 1);
    gex_Client_t client;
    gex_EP_t ep;
    gex_TM_t tm;
    ASSERT_EQ(gex_Client_Init(&client, &ep, &tm, "PEER_TEST", nullptr, nullptr, 0), GASNET_OK);
    for (const auto& cep : runtime().base_endpoint().conduit_eps()) {
      auto& module = const_cast<cwyc_module&>(cep->conduit->module());
      module.connect = connect_slowly;
      module.purge = note_purge;
      module.disconnect = note_disconnect;
    }
  }
  void SetUp() override {
    destroy_peer(peer_);
    peer_.connected = false;
    init_peer(peer_, &runtime().base_endpoint(), 0, 0);
    g_calls = {};
    ASSERT_EQ(connect_peer(peer_), CWY_RETRY);
    ASSERT_EQ(g_calls.connects, 1);
  }
  Peer& peer_ = runtime().base_endpoint().peer(0);
};

// Would catch: memory of a connection given up while the conduit, which waits for `disconnect`
// after a purge, still knows it.
TEST_F(NeverUp, PurgedWhileConnectingIsDisconnected) {
  purge_connections(peer_);
  EXPECT_EQ(g_calls.purges, 1);
  EXPECT_THROW(connect_peer(peer_), Error);
  destroy_peer(peer_);
  EXPECT_EQ(g_calls.disconnects, 1);
}

// Would catch the same where nobody asks for the peer again.
TEST_F(NeverUp, PurgedAndForgottenIsDisconnected) {
  purge_connections(peer_);
  destroy_peer(peer_);
  EXPECT_EQ(g_calls.disconnects, 1);
  EXPECT_EQ(g_calls.purges, 1) << "it was quiet";
}

// Would catch a `disconnect` of what the conduit has said to have failed, at the end ...
TEST_F(NeverUp, FailedIsNotDisconnected) {
  answer(CWY_ERR_UNREACHABLE);
  destroy_peer(peer_);
  EXPECT_EQ(g_calls.disconnects, 0);
  EXPECT_EQ(g_calls.purges, 0);
}
// ... or when the next one asks for it ...
TEST_F(NeverUp, FailedIsMadeAgain) {
  answer(CWY_ERR_UNREACHABLE);
  EXPECT_THROW(connect_peer(peer_), Error);
  EXPECT_EQ(connect_peer(peer_), CWY_RETRY);
  EXPECT_EQ(g_calls.connects, 2);
  EXPECT_EQ(g_calls.disconnects, 0);
}
// ... and a purge of it when its rank dies as well.
TEST_F(NeverUp, FailedIsNotPurged) {
  answer(CWY_ERR_UNREACHABLE);
  purge_connections(peer_);
  EXPECT_EQ(g_calls.purges, 0);
  destroy_peer(peer_);
  EXPECT_EQ(g_calls.disconnects, 0);
}

// Would catch a failure whose reason is not told, or not in the same line.
TEST_F(NeverUp, FailedSaysWhy) {
  answer(CWY_ERR_UNREACHABLE, "nobody listens");
  try {
    connect_peer(peer_);
    ADD_FAILURE() << "it has connected";
  } catch (const Error& e) {
    EXPECT_NE(e.text().find("rank 0 on host"), std::string::npos) << e.text();
    EXPECT_NE(e.text().find("cannot connect: nobody listens; "), std::string::npos) << e.text();
  }
}

// Would catch a connect that is left under way: the conduit goes on with memory that is gone.
TEST_F(NeverUp, UnderWayAtTheEndIsPurged) {
  destroy_peer(peer_);
  EXPECT_EQ(g_calls.purges, 1);
  EXPECT_EQ(g_calls.disconnects, 1);
}

}  // namespace
}  // namespace causeway
