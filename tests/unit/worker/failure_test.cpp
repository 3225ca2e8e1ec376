// SPDX-License-Identifier: Apache-2.0
#include "worker/failure.hpp"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

namespace kymo::worker {
namespace {

using measure::DeviceKind;
using measure::RunStatus;

TEST(Classify, GoodIsGood) { EXPECT_EQ(classify(KYMO_OK, {}, DeviceKind::kCpu).status, RunStatus::kOk); }

TEST(Classify, SkippedCarriesItsReason) {
  const measure::Outcome outcome = classify(KYMO_SKIPPED, {"", "needs\nbf16"}, DeviceKind::kCpu);
  EXPECT_EQ(outcome.status, RunStatus::kSkipped);
  EXPECT_EQ(outcome.detail, "needs");
  EXPECT_NE(classify(KYMO_SKIPPED, {}, DeviceKind::kCpu).detail, "");
}

TEST(Classify, FailedCarriesItsMessage) {
  const measure::Outcome outcome = classify(KYMO_FAILED, {"no such kernel\n  at frame 1", ""}, DeviceKind::kCuda);
  EXPECT_EQ(outcome.status, RunStatus::kFailed);
  EXPECT_EQ(outcome.detail, "no such kernel");
  EXPECT_FALSE(outcome.out_of_memory);
}

TEST(Classify, AnUnknownStatusIsNamed) {
  const measure::Outcome outcome = classify(77, {}, DeviceKind::kCpu);
  EXPECT_EQ(outcome.status, RunStatus::kFailed);
  EXPECT_NE(outcome.detail.find("77"), std::string::npos);
}

TEST(Classify, LibTorchsHostAllocatorCountsAsOutOfMemory) {
  const std::string message =
      "[enforce fail at alloc_cpu.cpp:124] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate "
      "4000000000000 "
      "bytes. "
      "Error code 12 (Cannot allocate memory)";
  for (const kymo_status returned : {KYMO_FAILED, KYMO_OUT_OF_MEMORY}) {
    const measure::Outcome outcome = classify(returned, {message, ""}, DeviceKind::kCuda);
    EXPECT_EQ(outcome.status, RunStatus::kOom);
    ASSERT_TRUE(outcome.out_of_memory);
    EXPECT_EQ(outcome.out_of_memory->where, "host");
    EXPECT_EQ(outcome.out_of_memory->requested_bytes, 4000000000000);
    EXPECT_GT(outcome.out_of_memory->free_bytes.value_or(0), 0);
    EXPECT_GT(outcome.out_of_memory->peak_bytes.value_or(0), 0);
  }
}

TEST(Classify, AnUnreadableSizeStaysUnknown) {
  const measure::Outcome outcome = classify(
      KYMO_FAILED, {"DefaultCPUAllocator: you tried to allocate 99999999999999999999999 bytes", ""}, DeviceKind::kCpu);
  EXPECT_EQ(outcome.status, RunStatus::kOom);
  EXPECT_FALSE(outcome.out_of_memory->requested_bytes);
}

TEST(Classify, OutOfMemoryOnAGpuIsTheDevicesUnlessTheHostsAllocatorSaysSo) {
  EXPECT_EQ(classify(KYMO_OUT_OF_MEMORY, {"CUDA out of memory. Tried to allocate 2.00 GiB.", ""}, DeviceKind::kCuda)
                .out_of_memory->where,
            "device");
  EXPECT_EQ(classify(KYMO_OUT_OF_MEMORY, {"std::bad_alloc", ""}, DeviceKind::kCuda).out_of_memory->where, "host");
  EXPECT_EQ(classify(KYMO_OUT_OF_MEMORY, {}, DeviceKind::kCpu).out_of_memory->where, "host");
}

struct FakeOutOfMemoryError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST(StatusOf, KnowsMemoryErrorsByTypeAndName) {
  EXPECT_EQ(status_of(std::bad_alloc()), KYMO_OUT_OF_MEMORY);
  EXPECT_EQ(status_of(FakeOutOfMemoryError("x")), KYMO_OUT_OF_MEMORY);
  EXPECT_EQ(status_of(std::runtime_error("x")), KYMO_FAILED);
}

TEST(FirstLine, CutsAtTheFirstBreakAndCleansControlCharacters) {
  EXPECT_EQ(first_line("a\tb\x1b[31m\r\nc"), "a b [31m");
  EXPECT_EQ(first_line(""), "");
}

TEST(FirstLine, IsBoundedWithoutSplittingACharacter) {
  std::string text(599, 'x');
  text += "äöü";
  const std::string line = first_line(text);
  EXPECT_LT(line.size(), 610u);
  EXPECT_EQ(line.substr(599), "…");
}

}  // namespace
}  // namespace kymo::worker
