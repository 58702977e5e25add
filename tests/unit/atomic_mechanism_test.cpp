// Who performs the operations of an atomic domain: the decision, without a job.
#include "atomics/mechanism.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "atomics/names.h"
#include "base/error.h"

namespace causeway {
namespace {

using testing::HasSubstr;
using Views = std::vector<AtomicView>;
constexpr auto kAuto = MechanismWish::automatic, kCpu = MechanismWish::cpu,
               kNic = MechanismWish::nic;
const AtomicView kNearNet{true, "net", ""}, kFarNet{false, "net", ""},
    kFarOther{false, "other", ""}, kFarNone{false, "", "conduit shm has no atomics"},
    kNearNone{true, "", "conduit shm has none"};

// Would catch an adapter taken although the memory is mapped everywhere, or processors although
// somebody is far and the adapter serves all.
TEST(AtomicMechanism, AutomaticLooksAtTheTeam) {
  EXPECT_EQ(choose_mechanism(kAuto, 0, Views{kNearNet, kNearNet}), "");
  EXPECT_EQ(choose_mechanism(kAuto, 0, Views{kFarNet, kFarNet}), "net");
  EXPECT_EQ(choose_mechanism(kAuto, 0, Views{kNearNet, kFarNet}), "net");
  EXPECT_EQ(choose_mechanism(kAuto, 0, Views{kNearNone}), "");
}

// One member without it, and nobody uses it: never one mechanism per peer.
TEST(AtomicMechanism, AnAdapterServesAllOrNobody) {
  for (const gex_Flags_t flags : {gex_Flags_t(0), GEX_FLAG_AD_FAVOR_REMOTE}) {
    EXPECT_EQ(choose_mechanism(kAuto, flags, Views{kFarNet, kFarNone, kFarNet}), "");
    EXPECT_EQ(choose_mechanism(kAuto, flags, Views{kFarNone, kFarNet}), "");
    EXPECT_EQ(choose_mechanism(kAuto, flags, Views{kFarNet, kFarOther}), "");
  }
}

TEST(AtomicMechanism, HintsDecideWhatIsOpen) {
  EXPECT_EQ(choose_mechanism(kAuto, GEX_FLAG_AD_FAVOR_REMOTE, Views{kNearNet, kNearNet}), "net");
  EXPECT_EQ(choose_mechanism(kAuto, GEX_FLAG_AD_FAVOR_MY_RANK, Views{kFarNet, kFarNet}), "");
  EXPECT_EQ(choose_mechanism(kAuto, GEX_FLAG_AD_FAVOR_MY_NBRHD, Views{kFarNet, kFarNet}), "");
}

// The configuration overrides hints, and says so when it cannot be obeyed.
TEST(AtomicMechanism, TheConfigurationIsObeyed) {
  EXPECT_EQ(choose_mechanism(kCpu, GEX_FLAG_AD_FAVOR_REMOTE, Views{kFarNet, kFarNet}), "");
  EXPECT_EQ(choose_mechanism(kNic, GEX_FLAG_AD_FAVOR_MY_RANK, Views{kNearNet}), "net");
  const auto why = [](const Views& views) -> std::string {
    try {
      choose_mechanism(kNic, 0, views);
    } catch (const Error& e) {
      return e.text();
    }
    return "no error";
  };
  EXPECT_THAT(why({kFarNone, kFarNet}),
              HasSubstr("rank 0 of the team: conduit shm has no atomics"));
  EXPECT_THAT(why({kFarNet, kFarNone}),
              HasSubstr("rank 1 of the team: conduit shm has no atomics"));
  EXPECT_THAT(why({kFarNet, kFarOther}), HasSubstr("rank 1 of the team would use conduit other"));
}

TEST(AtomicMechanism, WordsOfTheConfiguration) {
  EXPECT_EQ(parse_mechanism("auto"), kAuto);
  EXPECT_EQ(parse_mechanism("cpu"), kCpu);
  EXPECT_EQ(parse_mechanism("nic"), kNic);
}

TEST(AtomicNames, NameWhatMessagesSpeakOf) {
  EXPECT_EQ(dt_word(GEX_DT_DBL), "GEX_DT_DBL");
  EXPECT_EQ(dt_word(GEX_DT_USER), "0x40");
  EXPECT_EQ(op_word(GEX_OP_ADD | GEX_OP_FCAS), "GEX_OP_ADD|GEX_OP_FCAS");
  EXPECT_EQ(op_word(GEX_OP_SET), "GEX_OP_SET");
  EXPECT_EQ(op_word(GEX_OP_FXOR), "GEX_OP_FXOR");
  EXPECT_EQ(op_word(GEX_OP_USER), "0x2000000");
  EXPECT_EQ(valid_ops(GEX_DT_FLT) & GEX_OP_FAND, 0u);
  EXPECT_NE(valid_ops(GEX_DT_U32) & GEX_OP_FAND, 0u);
}

}  // namespace
}  // namespace causeway
