// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/cuda/CUDAFunctions.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "base/clock.hpp"
#include "collect/module.hpp"
#include "gpu/machine.hpp"

namespace kymo::collect {

/// A collector of a module of this build, armed as in a time pass on the first GPU. Skipped without a GPU.
class GpuTest : public testing::Test {
 protected:
  explicit GpuTest(const char* module) : module_name_(module) {}

  void SetUp() override {
    if (!machine::has_gpu()) GTEST_SKIP() << "no GPU";
    ASSERT_GT(c10::cuda::device_count(), 0);
    module_ = &load_module(std::filesystem::path(KYMO_BINARY_DIR) / "lib" / "kymo" / "modules" /
                           (std::string(module_name_) + ".so"));
    collector_ = module_->make();
    setting_.device = measure::DeviceKind::kCuda;
    setting_.run_start_ns = now_ns();
    setting_.uses_torch = true;
    collector_->arm(setting_);
  }

  event::PassRecord disarm() {
    event::PassRecord record;
    collector_->disarm(record);
    return record;
  }

  const char* module_name_;
  const Module* module_ = nullptr;
  std::unique_ptr<Collector> collector_;
  PassSetting setting_;
};

}  // namespace kymo::collect
