// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/record_function.h>
#include <c10/core/CPUAllocator.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "collect/module.hpp"
#include "unit/collect/thread_position.hpp"

namespace kymo::collect {

/// kymo_torch of this build, and the execution context of a workload.
class TorchTest : public testing::Test {
 protected:
  TorchTest() : allocator_before_(c10::GetCPUAllocator()) {
    setting_.uses_torch = true;
    setting_.run_start_ns = now_ns();
    setting_.execution_context = &execution_context_;
    execution_context_.this_thread = &set_thread_position;
    execution_context_.step = 7;
    execution_context_.phase = 2;
    collector_ =
        load_module(std::filesystem::path(KYMO_BINARY_DIR) / "lib" / "kymo" / "modules" / "kymo_torch.so").make();
  }

  void arm(measure::Pass pass) {
    setting_.pass = pass;
    collector_->arm(setting_);
  }
  event::PassRecord disarm() {
    event::PassRecord record;
    collector_->disarm(record);
    return record;
  }
  void expect_nothing_left() const {
    EXPECT_FALSE(at::hasGlobalCallbacks());
    EXPECT_EQ(c10::GetCPUAllocator(), allocator_before_);
    EXPECT_EQ(execution_context_.current_node.load(), nullptr);
    EXPECT_EQ(execution_context_.next_node.load(), nullptr);
    EXPECT_EQ(execution_context_.op.load(), nullptr);
    EXPECT_EQ(execution_context_.op_name.load(), nullptr);
  }

  c10::Allocator* allocator_before_;
  ExecutionContext execution_context_;
  PassSetting setting_;
  std::unique_ptr<Collector> collector_;
};

}  // namespace kymo::collect
