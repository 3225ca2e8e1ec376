// SPDX-License-Identifier: Apache-2.0
#include "worker/verification.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kymo::worker {
namespace {

kymo_check check(std::uint32_t outcome, const char* name = "logits", double error = 0.25) {
  return {sizeof(kymo_check), outcome, name, "float64", "", error, 0.5, 0.125};
}

std::vector<event::Check> read(std::vector<kymo_check> checks) {
  kymo_verification verification{sizeof(kymo_verification), static_cast<std::uint32_t>(checks.size()), checks.data()};
  return checks_of(verification);
}

TEST(Verification, ReadsChecks) {
  const auto checks = read({check(KYMO_CHECK_FAILED)});
  ASSERT_EQ(checks.size(), 1u);
  EXPECT_EQ(checks[0].outcome, event::CheckOutcome::kFailed);
  EXPECT_EQ(checks[0].max_abs_error, 0.25);
  EXPECT_EQ(checks[0].tolerance, 0.125);
  EXPECT_EQ(checks[0].reference, "float64");
}

TEST(Verification, WhatCouldNotBeMadeHasNoErrors) {
  EXPECT_FALSE(read({check(KYMO_CHECK_UNAVAILABLE)})[0].max_abs_error);
}

TEST(Verification, AnUnknownOutcomeDoesNotPass) {
  EXPECT_EQ(summarize_checks(read({check(0)})).verification, event::CheckOutcome::kFailed);
}

TEST(Verification, StridesByTheSizeThePluginWasBuiltWith) {
  struct Larger {
    kymo_check check;
    std::uint64_t appended;
  };
  Larger larger[2] = {{check(KYMO_CHECK_PASSED, "first"), 1}, {check(KYMO_CHECK_PASSED, "second"), 2}};
  for (auto& each : larger) each.check.size = sizeof(Larger);
  const auto checks = checks_of({sizeof(kymo_verification), 2, &larger[0].check});
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[1].name, "second");
}

TEST(Verification, NullTextsAndPointersAreHarmless) {
  kymo_check bare{};
  bare.size = sizeof(bare);
  bare.outcome = KYMO_CHECK_PASSED;
  EXPECT_EQ(read({bare})[0].name, "");
  EXPECT_TRUE(checks_of({sizeof(kymo_verification), 3, nullptr}).empty());
}

TEST(Verification, OneFailureFails) {
  const measure::Outcome outcome = summarize_checks(
      read({check(KYMO_CHECK_PASSED), check(KYMO_CHECK_UNAVAILABLE), check(KYMO_CHECK_FAILED, "loss\n2")}));
  EXPECT_EQ(outcome.verification, event::CheckOutcome::kFailed);
  EXPECT_EQ(outcome.detail.find('\n'), std::string::npos);
  EXPECT_NE(outcome.detail.find("loss"), std::string::npos);
  EXPECT_NE(outcome.detail.find("0.125"), std::string::npos);
}

TEST(Verification, EachFailedCheckIsDescribed) {
  auto second = check(KYMO_CHECK_FAILED, "gradient", 3);
  second.detail = "1 of 2 elements differ; the worst is [1] = 4, expected 1";
  const std::string detail =
      summarize_checks(read({check(KYMO_CHECK_FAILED, "loss"), check(KYMO_CHECK_PASSED, "logits"), second})).detail;
  EXPECT_EQ(detail,
            "check 'loss' failed against float64: largest absolute error 0.25, relative 0.5, tolerance 0.125; "
            "check 'gradient' failed against float64: largest absolute error 3, relative 0.5, tolerance 0.125: "
            "1 of 2 elements differ; the worst is [1] = 4, expected 1");
}

TEST(Verification, PassesOnlyIfAllPass) {
  EXPECT_EQ(summarize_checks(read({check(KYMO_CHECK_PASSED), check(KYMO_CHECK_PASSED)})).verification,
            event::CheckOutcome::kPassed);
  EXPECT_EQ(summarize_checks(read({check(KYMO_CHECK_PASSED), check(KYMO_CHECK_UNAVAILABLE)})).verification,
            event::CheckOutcome::kUnavailable);
  EXPECT_EQ(summarize_checks({}).verification, event::CheckOutcome::kUnavailable);
}

TEST(Verification, AnErrorThatIsNotFiniteIsSaid) {
  const auto checks = read({check(KYMO_CHECK_FAILED, "loss", std::nan(""))});
  EXPECT_FALSE(checks[0].max_abs_error);
  EXPECT_NE(summarize_checks(checks).detail.find("not finite"), std::string::npos);
}

}  // namespace
}  // namespace kymo::worker
