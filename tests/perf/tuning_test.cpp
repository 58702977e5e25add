// Which measurements make a rule. Would catch rules for what is no faster than the default: because
// the default's launch was disturbed, or because one launch of the other algorithm was lucky.
#include "driver/tuning.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace causeway::bench {
namespace {

class TuningTest : public testing::Test {
 protected:
  ~TuningTest() override { std::remove(file_.c_str()); }
  void measured(const std::string& asked, const std::string& algorithm, double ns) {
    tuning_.add({"reduce_all", 8, asked, algorithm, ns});
  }
  std::string table() const { return tuning_.table(4, "test", 0.1); }
  bool has_rule() const { return table().find("use: [") != std::string::npos; }

  const std::string file_ = "/tmp/tuning_test-" + std::to_string(getpid());
  Tuning tuning_{file_, "test"};
};

TEST_F(TuningTest, WhatIsFasterEachTimeMakesARule) {
  measured("default", "base/ring", 100);
  measured("base/ring", "base/ring", 95);
  measured("base/trees", "base/trees", 80);
  measured("base/trees", "base/trees", 90);
  EXPECT_NE(table().find("use: [base/trees]"), std::string::npos) << table();
}

TEST_F(TuningTest, WithinNoiseMakesNone) {
  measured("default", "base/ring", 100);
  measured("base/trees", "base/trees", 91);
  EXPECT_FALSE(has_rule()) << table();
}

TEST_F(TuningTest, DefaultCountsWhereItIsAskedForByName) {
  measured("default", "base/ring", 130);  // disturbed
  measured("base/ring", "base/ring", 100);
  measured("base/trees", "base/trees", 95);
  EXPECT_FALSE(has_rule()) << table();
}

TEST_F(TuningTest, OneLuckyLaunchMakesNone) {
  measured("default", "base/ring", 100);
  measured("base/trees", "base/trees", 70);
  measured("base/trees", "base/trees", 140);
  EXPECT_FALSE(has_rule()) << table();
}

TEST_F(TuningTest, WhatCouldNotServeIsNoCandidate) {
  measured("default", "base/ring", 100);
  measured("hier/flat", "base/trees", 50);  // another one ran
  EXPECT_FALSE(has_rule()) << table();
}

}  // namespace
}  // namespace causeway::bench
