// SPDX-License-Identifier: Apache-2.0
// The workload `peaks` on the CPU, called through its C table: declared work, verified results and rejected cases.
#include <gmock/gmock.h>

#include <string>

#include "unit/plugins/driven.hpp"

namespace {

using Changes = std::map<std::string, FakeHost::Value>;

Changes quick(Changes changes) {
  changes["warm_up_ms"] = std::int64_t{0};
  return changes;
}

Changes product(const std::string& dtype, std::int64_t n) {
  return quick({{"kind", std::string("matmul")}, {"dtype", dtype}, {"n", n}});
}

TEST(Peaks, CopyDeclaresBytesReadAndWritten) {
  Driven run("peaks", quick({}));
  ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  const double buffer = run.host.numbers.at("buffer_bytes");
  EXPECT_EQ(run.host.work.at("operation").first, 0);
  EXPECT_NEAR(run.host.work.at("operation").second, buffer, 128);
  EXPECT_THAT(run.passed_checks(), testing::ElementsAre("copy"));
  EXPECT_EQ(run.step(), KYMO_OK);
  EXPECT_THAT(run.host.phases, testing::ElementsAre("operation"));
}

TEST(Peaks, CacheReadsItsBufferSeveralTimes) {
  Driven run("peaks", quick({{"kind", std::string("cache")}}));
  ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  const double buffer = run.host.numbers.at("buffer_bytes");
  EXPECT_GE(run.host.work.at("operation").second, 5e8);
  EXPECT_GT(run.host.work.at("operation").second / buffer, 100);
  EXPECT_THAT(run.passed_checks(), testing::ElementsAre("sum of the words read"));
}

// Parts of the buffer that the threads and the four streams of a thread do not divide evenly.
TEST(Peaks, EveryWordIsRead) {
  Driven cache("peaks", quick({{"kind", std::string("cache")}}));
  ASSERT_EQ(cache.prepare(), KYMO_OK) << cache.host.message;
  const auto buffer = static_cast<std::int64_t>(cache.host.numbers.at("buffer_bytes"));
  for (const std::int64_t more : {64, 192, 4160}) {
    Driven run("peaks", quick({{"kind", std::string("cache")}, {"bytes", buffer + more}}));
    ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
    EXPECT_EQ(run.passed_checks().size(), 1u);
  }
}

TEST(Peaks, MatrixProductsAreVerified) {
  for (const char* dtype : {"fp32", "bf16", "fp16"}) {
    Driven run("peaks", product(dtype, 96));
    ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
    EXPECT_EQ(run.host.work.at("operation").first, 2.0 * 96 * 96 * 96) << dtype;
    EXPECT_EQ(run.host.work.at("operation").second, 3.0 * 96 * 96 * (dtype == std::string("fp32") ? 4 : 2)) << dtype;
    EXPECT_EQ(run.passed_checks().size(), 1u) << dtype;
  }
}

TEST(Peaks, ReportsTheClockOnceAfterTheWarmUp) {
  Driven run("peaks", product("fp32", 16));
  ASSERT_EQ(run.prepare(), KYMO_OK) << run.host.message;
  EXPECT_EQ(run.host.numbers.count("clock"), 0u);
  ASSERT_EQ(run.step(), KYMO_OK);
  EXPECT_GT(run.host.numbers.at("clock"), 200);
  EXPECT_LT(run.host.numbers.at("clock"), 20'000);
  run.host.numbers.clear();
  ASSERT_EQ(run.step(), KYMO_OK);
  EXPECT_EQ(run.host.numbers.count("clock"), 0u);
}

TEST(Peaks, SkipsWhatDoesNotExistOrHasNoMeaning) {
  for (const char* dtype : {"tf32", "fp8"}) {
    Driven run("peaks", product(dtype, 16));
    EXPECT_EQ(run.prepare(), KYMO_SKIPPED);
    EXPECT_EQ(run.host.message, std::string("LibTorch has no ") + dtype + " matrix product for CPUs");
  }
  Driven run("peaks", quick({{"dtype", std::string("bf16")}}));
  EXPECT_EQ(run.prepare(), KYMO_SKIPPED);
  EXPECT_THAT(run.host.message, testing::HasSubstr("does not depend on the data type"));
}

TEST(Peaks, RejectsSizesOfAnotherLevelOfMemory) {
  for (const char* kind : {"copy", "read", "cache"}) {
    Driven run("peaks", quick({{"kind", std::string(kind)}, {"bytes", std::int64_t{4096}}}));
    EXPECT_EQ(run.prepare(), KYMO_FAILED) << kind;
    EXPECT_THAT(run.host.message, testing::HasSubstr(std::string("bytes=4096 does not measure ") +
                                                     (kind == std::string("cache") ? "the L2 cache" : "memory")));
  }
  Driven large("peaks", quick({{"kind", std::string("cache")}, {"bytes", std::int64_t{1} << 40}}));
  EXPECT_EQ(large.prepare(), KYMO_FAILED);
}

}  // namespace
