// SPDX-License-Identifier: Apache-2.0
#include "training_run.hpp"

#include <algorithm>
#include <array>

namespace kymo::bench {
namespace {

constexpr std::int64_t kBlocks = 24;
constexpr std::int64_t kKernelsPerBlock = 27;
constexpr std::int64_t kForward =
    kBlocks * kKernelsPerBlock;  // each creates an autograd node, and each node launches two kernels
constexpr std::int64_t kBackward = 2 * kForward;
constexpr std::uint32_t kNames = 331;
constexpr std::uint32_t kShapes = 64;
constexpr std::int64_t kFirstStartNs = 1'000'000'000;
constexpr std::int64_t kLaunchedBeforeNs = 20'000;
constexpr std::int64_t kGapNs = 900;

enum Phase : std::int32_t { kForwardPhase, kBackwardPhase, kOptimizerPhase, kPhases };

/// A scope in each block that covers some of its kernels.
struct Scope {
  const char* name;
  const char* path;
  int parent;  ///< index into kScopes, or -1
  std::int64_t begin, end;
};
constexpr std::array<Scope, 4> kScopes{{{"block", "", -1, 0, kKernelsPerBlock},
                                        {"attention", "/attention", 0, 4, 22},
                                        {"softmax", "/attention/softmax", 1, 10, 16},
                                        {"mlp", "/mlp", 0, 22, kKernelsPerBlock}}};

Phase phase_of(std::int64_t within_step) {
  return within_step < kForward ? kForwardPhase : within_step < kForward + kBackward ? kBackwardPhase : kOptimizerPhase;
}

/// The innermost scope around a kernel of a block.
std::int32_t scope_of(std::int64_t within_block) {
  std::int32_t innermost = 0;
  for (std::size_t i = 0; i < kScopes.size(); ++i)
    if (within_block >= kScopes[i].begin && within_block < kScopes[i].end) innermost = static_cast<std::int32_t>(i);
  return innermost;
}

constexpr std::int64_t kRangesPerStep = kPhases + kBlocks * static_cast<std::int64_t>(kScopes.size());

std::int32_t first_range_of(std::int64_t step) { return static_cast<std::int32_t>(step * kRangesPerStep); }

/// Adds the ranges of one step: its phases, then the scopes of its forward pass.
void add_ranges(event::Trace& trace, std::int64_t step, std::int64_t start_ns, std::int64_t end_ns) {
  event::Range range;
  range.step = static_cast<std::int32_t>(step);
  range.start_ns = start_ns;
  range.end_ns = end_ns;
  range.is_phase = true;
  for (std::int32_t phase = 0; phase < kPhases; ++phase) {
    range.phase = phase;
    range.name = trace.texts.intern(trace.phases[static_cast<std::size_t>(phase)]);
    trace.ranges.push_back(range);
  }
  range.is_phase = false;
  range.phase = kForwardPhase;
  for (std::int64_t block = 0; block < kBlocks; ++block) {
    const std::string path = "model/block_" + std::to_string(block);
    const auto first = static_cast<std::int32_t>(trace.ranges.size());
    const std::int64_t first_node = step * kForward + block * kKernelsPerBlock;
    for (const Scope& scope : kScopes) {
      range.parent = scope.parent < 0 ? first_range_of(step) : first + scope.parent;
      range.name = trace.texts.intern(scope.name);
      range.path = trace.texts.intern(path + scope.path);
      range.first_node = {first_node + scope.begin, 1};
      range.end_sequence = first_node + scope.end;
      trace.ranges.push_back(range);
    }
  }
}

event::Launch launch_of(std::int64_t number, const TrainingRun::Kernel& kernel) {
  const std::int64_t step = number / TrainingRun::kKernelsPerStep;
  const std::int64_t within_step = number % TrainingRun::kKernelsPerStep;
  event::Launch launch;
  launch.correlation_id = kernel.correlation_id;
  launch.time_ns = kernel.start_ns - kLaunchedBeforeNs;
  launch.position.step = static_cast<std::int32_t>(step);
  launch.position.phase = phase_of(within_step);
  launch.position.range = first_range_of(step) + launch.position.phase;
  if (launch.position.phase == kForwardPhase) {
    const std::int64_t block = within_step / kKernelsPerBlock;
    launch.position.range = first_range_of(step) + kPhases +
                            static_cast<std::int32_t>(block * static_cast<std::int64_t>(kScopes.size())) +
                            scope_of(within_step % kKernelsPerBlock);
  } else if (launch.position.phase == kBackwardPhase) {
    launch.position.thread = 1;
    launch.position.node = {step * kForward + kForward - 1 - (within_step - kForward) / 2, 1};
  }
  return launch;
}

}  // namespace

TrainingRun::TrainingRun(std::int64_t kernels) {
  for (std::uint32_t i = 0; i < kNames; ++i)
    names_.push_back("void at::native::vectorized_elementwise_kernel<4, functor " + std::to_string(i) +
                     ">(int, float*)");
  for (std::uint32_t i = 0; i < kShapes; ++i)
    shapes_.push_back({{static_cast<std::int32_t>(128 + i), 1, 1}, {256, 1, 1}, 0, 49'152, 168});
  std::int64_t start_ns = kFirstStartNs;
  kernels_.reserve(static_cast<std::size_t>(kernels));
  for (std::int64_t i = 0; i < kernels; ++i) {
    const std::int64_t within_step = i % kKernelsPerStep;
    std::int64_t duration_ns = 2'000 + within_step * 7'919 % 3'000 + i * 104'729 % 211;
    if ((static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15U >> 32) % 500 == 0) duration_ns *= 10;
    const auto at = static_cast<std::uint32_t>(within_step);
    kernels_.push_back(
        {start_ns, start_ns + duration_ns, at % kNames, at % kShapes, static_cast<std::uint32_t>(3 * i + 1)});
    start_ns += duration_ns + kGapNs;
  }
}

std::int64_t TrainingRun::steps() const {
  return (static_cast<std::int64_t>(kernels_.size()) + kKernelsPerStep - 1) / kKernelsPerStep;
}

event::PassRecord TrainingRun::host_side() const {
  event::PassRecord record;
  event::Trace& trace = record.trace;
  trace.phases = {"forward", "backward", "optimizer"};
  for (std::int64_t step = 0; step < steps(); ++step) {
    const auto first = static_cast<std::size_t>(step * kKernelsPerStep);
    const std::size_t last = std::min(first + kKernelsPerStep, kernels_.size()) - 1;
    event::Sample sample;
    sample.step = step;
    sample.phase = event::kWholeStep;
    sample.start_ns = kernels_[first].start_ns - kLaunchedBeforeNs;
    sample.host_ns = kernels_[last].end_ns - sample.start_ns;
    record.samples.push_back(sample);
    add_ranges(trace, step, sample.start_ns, kernels_[last].end_ns);
  }
  // Ordered by thread, like the launch log.
  trace.launches.reserve(kernels_.size());
  for (const std::uint32_t thread : {0U, 1U}) {
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      const event::Launch launch = launch_of(static_cast<std::int64_t>(i), kernels_[i]);
      if (launch.position.thread == thread) trace.launches.push_back(launch);
    }
  }
  return record;
}

}  // namespace kymo::bench
