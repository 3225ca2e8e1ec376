// SPDX-License-Identifier: Apache-2.0
// The reading of utilization from NVML, with a library in its place.
#include "collect/cuda/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collect/collector.hpp"

namespace kymo::collect {
namespace {

using testing::DoubleNear;
using testing::Eq;
using testing::Optional;

constexpr double kBytesPerMiB = 1024.0 * 1024.0;

auto about(double value) { return Optional(DoubleNear(value, 1e-9)); }

TEST(Nvml, ReadsTheUtilizationBetweenSamples) {
  Nvml nvml;
  nvml.select("GPU-gpm");
  ASSERT_TRUE(nvml.reports_utilization());
  ASSERT_TRUE(nvml.utilization_since_last()) << "the first sample";
  for (int i = 0; i < 2; ++i) {
    const auto utilization = nvml.utilization_since_last();
    ASSERT_TRUE(utilization);
    EXPECT_THAT(utilization->kernel_time, about(0.01));
    EXPECT_THAT(utilization->sm_utilization, about(0.02));
    EXPECT_THAT(utilization->sm_occupancy, about(0.03));
    EXPECT_THAT(utilization->tensor_utilization, about(0.05));
    EXPECT_THAT(utilization->dram_utilization, about(0.10));
    EXPECT_THAT(utilization->pcie_sent_bytes_per_s, about(20 * kBytesPerMiB));
    EXPECT_THAT(utilization->pcie_received_bytes_per_s, about(21 * kBytesPerMiB));
    EXPECT_THAT(utilization->nvlink_sent_bytes_per_s, Eq(std::nullopt)) << "not supported";
  }
  EXPECT_FALSE(nvml.utilization_since_last()) << "the sample failed";
  const auto begun = nvml.utilization_since_last();
  ASSERT_TRUE(begun);
  EXPECT_FALSE(begun->sm_utilization) << "nothing to compare with after a failure";
  const auto utilization = nvml.utilization_since_last();
  ASSERT_TRUE(utilization);
  EXPECT_THAT(utilization->sm_utilization, about(0.02));
}

TEST(Nvml, OlderGpusReportTheTimeWithKernelsAlone) {
  Nvml nvml;
  nvml.select("GPU-old");
  ASSERT_TRUE(nvml.reports_utilization());
  const auto utilization = nvml.utilization_since_last();
  ASSERT_TRUE(utilization);
  EXPECT_THAT(utilization->kernel_time, about(0.75));
  EXPECT_FALSE(utilization->sm_utilization);
  EXPECT_FALSE(utilization->dram_utilization);
}

TEST(Nvml, WithoutAGpuThereIsNoUtilization) {
  Nvml nvml;
  EXPECT_THROW(nvml.select("GPU-none"), Unavailable);
  EXPECT_FALSE(nvml.reports_utilization());
  EXPECT_FALSE(nvml.utilization_since_last());
}

}  // namespace
}  // namespace kymo::collect
