// SPDX-License-Identifier: Apache-2.0
// all_gather_bytes as seen by a workload.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/worker/engine_fixture.hpp"

namespace kymo::worker {
namespace {

using testing::HasSubstr;

class GatherTest : public EngineTest {
 protected:
  PassResult gather() {
    assignment.what.ranks = 2;
    workload.on_prepare = [this](const FakeHost& host) {
      return host.host->all_gather_bytes(host.context, "mine", 4, received);
    };
    return run(workload);
  }
  FakeWorkload workload;
  char received[9] = {};
};

TEST_F(GatherTest, PutsRanksInOrder) {
  control.on_gather = [](const std::string& bytes) { return std::vector<std::string>{"zero", bytes}; };
  EXPECT_EQ(gather().outcome.status, RunStatus::kOk);
  EXPECT_STREQ(received, "zeromine");
}

TEST_F(GatherTest, PartsOfOtherSizesFailWithTheRank) {
  control.on_gather = [](const std::string& bytes) { return std::vector<std::string>{bytes, "much longer"}; };
  const PassResult result = gather();
  EXPECT_EQ(result.outcome.status, RunStatus::kFailed);
  EXPECT_THAT(result.outcome.detail, HasSubstr("rank 1"));
}

TEST_F(GatherTest, AMissingPartFails) {
  control.on_gather = [](const std::string& bytes) { return std::vector<std::string>{bytes}; };
  EXPECT_EQ(gather().outcome.status, RunStatus::kFailed);
}

TEST_F(GatherTest, CancelledMeansInterrupted) {
  control.on_gather = [](const std::string&) { return std::nullopt; };
  EXPECT_EQ(gather().outcome.status, RunStatus::kInterrupted);
}

TEST_F(GatherTest, TooMuchIsRejectedBeforeItIsSent) {
  assignment.what.ranks = 2;
  control.on_gather = [](const std::string&) -> std::optional<std::vector<std::string>> {
    ADD_FAILURE();
    return std::nullopt;
  };
  workload.on_prepare = [](const FakeHost& host) {
    return host.host->all_gather_bytes(host.context, nullptr, 1u << 30, nullptr);
  };
  EXPECT_THAT(run(workload).outcome.detail, HasSubstr("too large"));
}

}  // namespace
}  // namespace kymo::worker
