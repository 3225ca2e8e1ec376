// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "collect/module.hpp"

namespace kymo::collect {
namespace {

using testing::HasSubstr;
using testing::Not;

const Module& cuda_module() {
  return load_module(std::filesystem::path(KYMO_BINARY_DIR) / "lib" / "kymo" / "modules" / "kymo_cuda.so");
}

std::string reason_of(Collector& collector, measure::Pass pass) {
  PassSetting setting;
  setting.pass = pass;
  setting.device = measure::DeviceKind::kCuda;
  setting.device_index = 999;  // no such device, with or without a driver
  setting.observation.memory_bytes = 1 << 20;
  try {
    collector.arm(setting);
  } catch (const Unavailable& reason) {
    return reason.what();
  }
  return "";
}

TEST(CudaModule, IsUnavailableInEveryPassWithoutItsDevice) {
  const auto collector = cuda_module().make();
  for (const auto pass : {measure::Pass::kTime, measure::Pass::kMemory, measure::Pass::kTrace, measure::Pass::kOps,
                          measure::Pass::kCounters, measure::Pass::kTime}) {
    const std::string reason = reason_of(*collector, pass);
    EXPECT_FALSE(reason.empty()) << measure::to_string(pass);
    EXPECT_THAT(reason, Not(HasSubstr("\n")));
  }
  collector->reset();
}

TEST(CudaModule, AFailureToArmLeavesNothingBehind) {
  const auto collector = cuda_module().make();
  ASSERT_FALSE(reason_of(*collector, measure::Pass::kTrace).empty());
  event::PassRecord record;
  collector->disarm(record);
  EXPECT_TRUE(record.trace.launches.empty());
  EXPECT_TRUE(record.dropped_records.empty());
  EXPECT_EQ(record.trace_status, "");
}

TEST(CudaModule, WantsScopesOnlyWhereSomeoneListens) {
  const auto collector = cuda_module().make();
  EXPECT_FALSE(collector->wants_scopes());
  collector->scope_begin("nobody listens");
  collector->scope_end();
}

TEST(CudaModule, BringsOneLibcupti) {
  cuda_module();
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> found;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    if (line.find("libcupti") != std::string::npos) found.insert(line.substr(slash));
  }
  EXPECT_EQ(found.size(), 1u);
}

}  // namespace
}  // namespace kymo::collect
