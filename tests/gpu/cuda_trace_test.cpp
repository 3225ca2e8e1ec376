// SPDX-License-Identifier: Apache-2.0
// Each case must run in its own process, as CTest does, because CUPTI must be initialized before CUDA.
#include <unistd.h>

#include <set>
#include <thread>

#include "gpu/trace_test.hpp"

namespace kymo::collect {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST_F(TraceTest, PlantedLaunchesOfTwoThreadsComeBackComplete) {
  constexpr int kCount = 1000;
  arm();
  execution_context_.step = 3;
  execution_context_.phase = 1;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([this, t] {
      own_position().range = 100 + t;
      cudaStream_t stream = nullptr;
      ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
      for (int i = 1; i <= kCount; ++i)
        ASSERT_EQ(kernels_.launch(static_cast<unsigned>(i + t * kCount), stream), cudaSuccess);
    });
  }
  for (auto& thread : threads) thread.join();
  const std::int64_t begin_ns = now_ns();
  const event::PassRecord record = disarm();
  EXPECT_LT(now_ns() - begin_ns, 10 * kSecond);
  EXPECT_EQ(all_dropped_records(record), "");
  EXPECT_EQ(record.trace_status, "");

  const auto kernels = named(record, "planted");
  ASSERT_EQ(kernels.size(), 2u * kCount);
  const auto launches = launches_by_id(record);
  const std::int64_t slack_ns =
      record.trace.clock_syncs.at(0).error_ns + record.trace.clock_syncs.at(1).error_ns + 10'000;
  int next[2] = {1, 1};
  std::set<std::uint32_t> ids;
  for (const event::Activity& kernel : kernels) {
    const int grid = grid_of(record, kernel);
    const int thread = grid > kCount;
    EXPECT_EQ(grid - thread * kCount, next[thread]++) << "each stream must be in launch order";
    EXPECT_TRUE(ids.insert(kernel.correlation_id).second);
    EXPECT_LE(kernel.start_ns, kernel.end_ns);
    const auto launch = launches.find(kernel.correlation_id);
    ASSERT_NE(launch, launches.end());
    EXPECT_EQ(launch->second.kind, event::LaunchKind::kKernel);
    EXPECT_LE(launch->second.time_ns, kernel.start_ns + slack_ns);
    EXPECT_EQ(launch->second.position.step, 3);
    EXPECT_EQ(launch->second.position.phase, 1);
    EXPECT_EQ(launch->second.position.range, 100 + thread);
  }
}

TEST_F(TraceTest, CopiesAndMemsets) {
  constexpr std::size_t kBytes = 1 << 20;
  setting_.observation.memsets = true;
  arm();
  void* device = nullptr;
  std::vector<char> host(kBytes);
  ASSERT_EQ(cudaMalloc(&device, 2 * kBytes), cudaSuccess);
  for (int i = 0; i < 50; ++i) {
    cudaMemsetAsync(device, i, kBytes, nullptr);
    cudaMemcpyAsync(static_cast<char*>(device) + kBytes, device, kBytes, cudaMemcpyDeviceToDevice, nullptr);
    cudaMemcpyAsync(host.data(), device, kBytes, cudaMemcpyDeviceToHost, nullptr);
  }
  ASSERT_EQ(cudaMemcpy(device, host.data(), 4096, cudaMemcpyHostToDevice), cudaSuccess);
  const event::PassRecord record = disarm();
  const auto launches = launches_by_id(record);
  for (const char* name : {"memset", "memcpy device to device", "memcpy device to host"}) {
    const auto found = named(record, name);
    EXPECT_EQ(found.size(), 50u) << name;
    for (const event::Activity& activity : found) {
      EXPECT_EQ(activity.bytes, static_cast<std::int64_t>(kBytes));
      EXPECT_EQ(launches.count(activity.correlation_id), 1u) << name;
    }
  }
  const auto to_device = named(record, "memcpy host to device");
  ASSERT_EQ(to_device.size(), 1u);
  EXPECT_EQ(launches.count(to_device[0].correlation_id), 1u) << "synchronous calls launch too";
  EXPECT_EQ(all_dropped_records(record), "");
  cudaFree(device);
}

TEST_F(TraceTest, MemsetsAreLeftOutUnlessAskedFor) {
  arm();
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 4096), cudaSuccess);
  for (int i = 0; i < 10; ++i) cudaMemsetAsync(device, i, 4096, nullptr);
  ASSERT_EQ(kernels_.launch(1), cudaSuccess);
  const event::PassRecord record = disarm();
  EXPECT_TRUE(named(record, "memset").empty());
  EXPECT_EQ(record.trace.launches.size(), 1u) << "their launches must not be recorded";
  EXPECT_TRUE(record.trace.api_calls.empty());
  EXPECT_TRUE(record.trace.synchronizations.empty());
  cudaFree(device);
}

TEST_F(TraceTest, ATinyBoundCountsWhatItCannotHoldAndKeepsTheRest) {
  constexpr int kCount = 30'000;
  setting_.observation.memory_bytes = 1 << 20;
  arm();
  for (int i = 0; i < kCount; ++i) {
    ASSERT_EQ(kernels_.launch(1), cudaSuccess);
    if (i % 1000 == 0) cudaDeviceSynchronize();
  }
  const event::PassRecord record = disarm();
  const auto kept = static_cast<std::int64_t>(named(record, "planted").size());
  EXPECT_GT(kept, 100);
  EXPECT_GT(dropped_count(record, "activity records"), 0);
  EXPECT_EQ(kept + dropped_count(record, "activity records"), kCount) << all_dropped_records(record);
  EXPECT_GT(record.trace.launches.size(), 100u);
  EXPECT_EQ(static_cast<std::int64_t>(record.trace.launches.size()) + dropped_count(record, "launches beyond"), kCount)
      << all_dropped_records(record);
}

TEST_F(TraceTest, NodesOfAGraphAreAttributedToTheirCapture) {
  constexpr int kNodes = 5;
  constexpr int kReplays = 3;
  arm();
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  for (int i = 0; i < kNodes; ++i) {
    own_position().range = 10 + i;
    ASSERT_EQ(kernels_.launch(static_cast<unsigned>(i + 1), stream), cudaSuccess);
  }
  own_position().range = -1;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  own_position().range = 99;
  for (int i = 0; i < kReplays; ++i) ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  const event::PassRecord record = disarm();

  std::unordered_map<std::uint64_t, std::int32_t> ranges;
  for (const event::GraphNode& node : record.trace.graph_nodes) ranges[node.node] = node.position.range;
  const auto kernels = named(record, "planted");
  ASSERT_EQ(kernels.size(), static_cast<std::size_t>(kNodes * kReplays));
  const auto launches = launches_by_id(record);
  for (const event::Activity& kernel : kernels) {
    ASSERT_NE(kernel.graph_node, 0u);
    ASSERT_EQ(ranges.count(kernel.graph_node), 1u);
    EXPECT_EQ(ranges[kernel.graph_node], 9 + grid_of(record, kernel));
    ASSERT_EQ(launches.count(kernel.correlation_id), 1u);
    EXPECT_EQ(launches.at(kernel.correlation_id).kind, event::LaunchKind::kGraph);
    EXPECT_EQ(launches.at(kernel.correlation_id).position.range, 99);
  }
  EXPECT_EQ(launches.size(), static_cast<std::size_t>(kReplays)) << "captured calls launch nothing";
  EXPECT_EQ(all_dropped_records(record), "");
}

TEST_F(TraceTest, ClocksAreComparedAtBothEnds) {
  arm();
  std::vector<std::pair<std::int64_t, std::int64_t>> windows_ns;
  for (int i = 0; i < 20; ++i) {
    cudaDeviceSynchronize();
    const std::int64_t begin_ns = now_ns() - setting_.run_start_ns;
    ASSERT_EQ(kernels_.launch(static_cast<unsigned>(i + 1)), cudaSuccess);
    cudaDeviceSynchronize();
    windows_ns.emplace_back(begin_ns, now_ns() - setting_.run_start_ns);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const event::PassRecord record = disarm();
  ASSERT_EQ(record.trace.clock_syncs.size(), 2u);
  for (const event::ClockSync& sync : record.trace.clock_syncs) {
    EXPECT_EQ(sync.clock, "cupti");
    EXPECT_LT(sync.error_ns, 1'000'000);
  }
  EXPECT_LT(record.trace.clock_syncs[0].host_ns, record.trace.clock_syncs[1].host_ns);
  const auto kernels = named(record, "planted");
  ASSERT_EQ(kernels.size(), windows_ns.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_GE(kernels[i].start_ns, windows_ns[i].first - 20'000);
    EXPECT_LE(kernels[i].end_ns, windows_ns[i].second + 20'000);
  }
}

TEST_F(TraceTest, AllThatCanBeAskedFor) {
  setting_.observation.memsets = setting_.observation.synchronization = setting_.observation.overhead_records =
      setting_.observation.api_calls = true;
  arm();
  ASSERT_EQ(kernels_.launch(1), cudaSuccess);
  cudaStreamSynchronize(nullptr);
  const event::PassRecord record = disarm();
  std::set<std::string> calls;
  bool own_thread = false;
  for (const event::ApiCall& call : record.trace.api_calls) {
    calls.insert(record.trace.texts.text(call.name));
    own_thread = own_thread || call.thread == gettid();
  }
  EXPECT_EQ(calls.count("cudaStreamSynchronize"), 1u);
  EXPECT_TRUE(calls.count("cudaLaunchKernel") == 1 || calls.count("cuLaunchKernel") == 1);
  EXPECT_TRUE(own_thread) << "threads must have system thread ids";
  const auto& waits = record.trace.synchronizations;
  EXPECT_TRUE(std::any_of(waits.begin(), waits.end(), [](const auto& wait) { return wait.kind == "stream"; }));
}

TEST_F(TraceTest, OpsTraceAlikeAndOtherPassesDoNot) {
  for (const auto pass : {measure::Pass::kOps, measure::Pass::kTime, measure::Pass::kMemory, measure::Pass::kTrace}) {
    const bool traced = pass == measure::Pass::kOps || pass == measure::Pass::kTrace;
    setting_.pass = pass;
    arm();
    for (int i = 0; i < 100; ++i) ASSERT_EQ(kernels_.launch(1), cudaSuccess);
    const event::PassRecord record = disarm();
    EXPECT_EQ(named(record, "planted").size(), traced ? 100u : 0u) << measure::to_string(pass);
    EXPECT_EQ(record.trace.launches.size(), traced ? 100u : 0u) << measure::to_string(pass);
  }
}

TEST_F(TraceTest, RunningOutOfMemoryLosesNothing) {
  arm();
  for (int i = 0; i < 10; ++i) ASSERT_EQ(kernels_.launch(1), cudaSuccess);
  void* device = nullptr;
  EXPECT_EQ(cudaMalloc(&device, std::size_t{1} << 50), cudaErrorMemoryAllocation);
  cudaGetLastError();
  event::PassRecord record;
  record.out_of_memory = event::OutOfMemory{"device", {}, {}, {}};
  collector_->disarm(record);
  EXPECT_EQ(named(record, "planted").size(), 10u);
  EXPECT_EQ(record.trace.launches.size(), 10u);
  EXPECT_TRUE(record.out_of_memory->free_bytes);
}

TEST_F(TraceTest, ABrokenContextLosesNoLaunch) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process with a corrupted context cannot be used any more
  const auto in_a_process_of_its_own = [this] {
    arm();
    for (int i = 0; i < 10; ++i) kernels_.launch(1);
    cudaDeviceSynchronize();
    kernels_.launch_broken();
    cudaDeviceSynchronize();
    const event::PassRecord record = disarm();
    const bool said = dropped_count(record, "unfinished GPU work") == -1;
    std::fprintf(stderr, "%zu launches, %zu kernels, %s\n", record.trace.launches.size(),
                 named(record, "planted").size(), said ? "reported" : "not reported");
    std::_Exit(record.trace.launches.size() == 11 && said ? 0 : 1);
  };
  EXPECT_EXIT(in_a_process_of_its_own(), testing::ExitedWithCode(0), "11 launches");
}

}  // namespace
}  // namespace kymo::collect
