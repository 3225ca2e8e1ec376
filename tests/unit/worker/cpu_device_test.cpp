// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>

#include "worker/devices.hpp"

namespace kymo::worker {
namespace {

TEST(CpuDevice, HasANameAndAStableIdentity) {
  const event::Device device = cpu_device();
  EXPECT_EQ(device.kind, "cpu");
  EXPECT_FALSE(device.name.empty());
  EXPECT_EQ(device.uuid.size(), std::strlen("CPU-") + 32);
  EXPECT_EQ(device.uuid, cpu_device().uuid);
  EXPECT_GT(device.memory_bytes, 1 << 20);
  EXPECT_GT(device.multiprocessors.value_or(0), 0);
  EXPECT_FALSE(device.multiprocessor_threads) << "launch limits are those of a GPU";
}

}  // namespace
}  // namespace kymo::worker
