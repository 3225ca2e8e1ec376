// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/worker/engine_fixture.hpp"

namespace kymo::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class VerifyTest : public EngineTest {
 protected:
  VerifyTest() { assignment = fake_assignment(measure::Pass::kVerify); }
  FakeWorkload workload{{"compute"}};
};

TEST_F(VerifyTest, ComparesWithoutSteps) {
  const kymo_check check{sizeof(kymo_check), KYMO_CHECK_PASSED, "y", "float64", "", 0, 0, 1e-6};
  workload.on_verify = [&](const FakeHost& host, kymo_verification& out) {
    EXPECT_EQ(host.host->phase_begin, nullptr) << "nothing is timed";
    EXPECT_EQ(host.host->work, nullptr) << "declared in the time pass alone";
    EXPECT_EQ(out.size, sizeof(kymo_verification));
    out.check_count = 1;
    out.checks = &check;
    return KYMO_OK;
  };
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kOk);
  EXPECT_EQ(result.outcome.verification, event::CheckOutcome::kPassed);
  EXPECT_THAT(workload.calls, ElementsAre("create", "prepare", "verify", "destroy"));
  ASSERT_EQ(result.record.checks.size(), 1u);
  EXPECT_THAT(result.record.samples, IsEmpty());
}

TEST_F(VerifyTest, AFastWrongAnswerFails) {
  const kymo_check check{sizeof(kymo_check), KYMO_CHECK_FAILED, "y", "float64", "", 3, 1, 1e-6};
  workload.on_verify = [&](const FakeHost&, kymo_verification& out) {
    out.check_count = 1;
    out.checks = &check;
    return KYMO_OK;
  };
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kFailed);
  EXPECT_EQ(result.outcome.verification, event::CheckOutcome::kFailed);
  EXPECT_THAT(result.outcome.detail, HasSubstr("'y'"));
}

TEST_F(VerifyTest, WithoutAReferenceItIsUnavailable) {
  workload.table().verify = nullptr;
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kOk);
  EXPECT_EQ(result.outcome.verification, event::CheckOutcome::kUnavailable);
  ASSERT_EQ(result.record.checks.size(), 1u);
  EXPECT_EQ(result.record.checks[0].outcome, event::CheckOutcome::kUnavailable);
}

TEST_F(VerifyTest, AReferenceThatDoesNotFitIsUnavailable) {
  workload.on_verify = [](const FakeHost& host, kymo_verification&) {
    return host.fail(KYMO_OUT_OF_MEMORY, "CUDA out of memory");
  };
  const PassResult result = run(workload);
  EXPECT_EQ(result.outcome.status, RunStatus::kOk);
  EXPECT_EQ(result.outcome.verification, event::CheckOutcome::kUnavailable);
  EXPECT_THAT(result.outcome.detail, HasSubstr("does not fit"));
  EXPECT_FALSE(result.record.out_of_memory);
}

TEST_F(VerifyTest, AWorkloadThatDoesNotFitIsOutOfMemory) {
  workload.on_prepare = [](const FakeHost& host) { return host.fail(KYMO_OUT_OF_MEMORY, "CUDA out of memory"); };
  EXPECT_EQ(run(workload).outcome.status, RunStatus::kOom);
}

}  // namespace
}  // namespace kymo::worker
