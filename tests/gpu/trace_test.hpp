// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "collect/module.hpp"
#include "gpu/machine.hpp"
#include "unit/collect/thread_position.hpp"

namespace kymo::collect {

/// Two kernels from PTX, without a compiler: one does nothing, the other one corrupts the context.
class PlantedKernels {
 public:
  void load() {
    static constexpr const char* kPtx =
        ".version 7.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry planted()\n{\n  ret;\n}\n"
        ".visible .entry broken()\n{\n  trap;\n  ret;\n}\n";
    ASSERT_EQ(cudaLibraryLoadData(&library_, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0), cudaSuccess);
    ASSERT_EQ(cudaLibraryGetKernel(&planted_, library_, "planted"), cudaSuccess);
    ASSERT_EQ(cudaLibraryGetKernel(&broken_, library_, "broken"), cudaSuccess);
  }
  /// The grid size identifies launches.
  cudaError_t launch(unsigned grid, cudaStream_t stream = nullptr) const { return launch(planted_, grid, stream); }
  cudaError_t launch_broken() const { return launch(broken_, 1, nullptr); }

 private:
  static cudaError_t launch(cudaKernel_t kernel, unsigned grid, cudaStream_t stream) {
    return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(grid, 1, 1), dim3(32, 1, 1), nullptr, 0,
                            stream);
  }

  cudaLibrary_t library_ = nullptr;
  cudaKernel_t planted_ = nullptr;
  cudaKernel_t broken_ = nullptr;
};

/// The module of this build, not armed: nothing calls CUDA before arm(). Skipped without a GPU.
class TraceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!machine::has_gpu()) GTEST_SKIP() << "no GPU";
    module_ = &load_module(std::filesystem::path(KYMO_BINARY_DIR) / "lib" / "kymo" / "modules" / "kymo_cuda.so");
    collector_ = module_->make();
    execution_context_.this_thread = &set_thread_position;
    setting_.pass = measure::Pass::kTrace;
    setting_.device = measure::DeviceKind::kCuda;
    setting_.run_start_ns = now_ns();
    setting_.execution_context = &execution_context_;
    own_position().range = -1;
  }

  /// Arms the collector. Everything that the test launches must come afterwards.
  void arm() {
    collector_->arm(setting_);
    kernels_.load();
  }
  event::PassRecord disarm() {
    event::PassRecord record;
    collector_->disarm(record);
    return record;
  }

  static std::vector<event::Activity> named(const event::PassRecord& record, const std::string& name) {
    std::vector<event::Activity> found;
    for (const event::Activity& activity : record.trace.activities) {
      if (record.trace.texts.text(activity.name) == name) found.push_back(activity);
    }
    // Kernels of different streams may start at the same time; then use the order of their launches.
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
      return std::pair(a.start_ns, a.correlation_id) < std::pair(b.start_ns, b.correlation_id);
    });
    return found;
  }
  static std::unordered_map<std::uint32_t, event::Launch> launches_by_id(const event::PassRecord& record) {
    std::unordered_map<std::uint32_t, event::Launch> launches;
    for (const event::Launch& launch : record.trace.launches) launches[launch.correlation_id] = launch;
    return launches;
  }
  static int grid_of(const event::PassRecord& record, const event::Activity& activity) {
    return record.trace.shapes.at(activity.shape).grid[0];
  }
  /// Returns the total count of dropped records whose detail contains `words`.
  static std::int64_t dropped_count(const event::PassRecord& record, const std::string& words) {
    std::int64_t count = 0;
    for (const event::DroppedRecords& dropped : record.dropped_records)
      count += dropped.detail.find(words) != std::string::npos ? dropped.count : 0;
    return count;
  }
  static std::string all_dropped_records(const event::PassRecord& record) {
    std::string text;
    for (const event::DroppedRecords& dropped : record.dropped_records)
      text += std::to_string(dropped.count) + " " + dropped.detail + "\n";
    return text;
  }

  const Module* module_ = nullptr;
  std::unique_ptr<Collector> collector_;
  ExecutionContext execution_context_;
  PassSetting setting_;
  PlantedKernels kernels_;
};

}  // namespace kymo::collect
