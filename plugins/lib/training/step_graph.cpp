// SPDX-License-Identifier: Apache-2.0
#include "training/step_graph.hpp"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <kymo/torch.hpp>
#include <stdexcept>
#include <utility>

namespace kymo::training {
namespace {

const at::Device& checked(const at::Device& device) {
  if (!device.is_cuda())
    throw std::invalid_argument("a step cannot be captured on " + device.str() + ": CUDA graphs require device=cuda");
  return device;
}

void drop_gradients(const StepParts& parts) {
  for (const at::Tensor& parameter : parts.parameters) parameter.mutable_grad().reset();
}

}  // namespace

struct StepGraph::State {
  explicit State(const at::Device& device)
      : stream(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index())) {}

  c10::cuda::CUDAStream stream;  // the default stream cannot be captured
  at::cuda::CUDAGraph graph;
  at::Tensor loss;  // defined once there is a graph
};

StepGraph::StepGraph(const at::Device& device, StepParts parts)
    : parts_(std::move(parts)), state_(std::make_unique<State>(checked(device))) {}

StepGraph::~StepGraph() = default;

void StepGraph::warm_up(const Context& ctx, int passes) {
  kymo_host silent = *ctx.host();
  silent.size = sizeof silent;
  silent.phase_begin = nullptr;
  silent.scope_begin = nullptr;
  const Context unseen(&silent, ctx.handle());
  StepParts without_update = parts_;
  if (without_update.mode == Mode::kTrain) without_update.mode = Mode::kForwardBackward;

  c10::cuda::device_synchronize();  // work of other streams is read on this one
  {
    const c10::cuda::CUDAStreamGuard on_stream(state_->stream);
    for (int i = 0; i < passes; ++i) training::run_step(unseen, without_update);
  }
  drop_gradients(parts_);
  c10::cuda::device_synchronize();
  // The graph allocates from its own pool: memory cached in the default pool would only be held twice.
  c10::cuda::CUDACachingAllocator::emptyCache();
}

at::Tensor StepGraph::run_step(const Context& ctx) {
  if (!state_->loss.defined()) capture(ctx);
  auto phase = libtorch::phase(ctx, "replay");
  state_->graph.replay();
  return state_->loss;
}

void StepGraph::capture(const Context& ctx) {
  const c10::cuda::CUDAStreamGuard on_stream(state_->stream);
  drop_gradients(parts_);  // they are in the default pool and must not be freed during capture
  // Thread-local: another thread, such as a collector's, may call CUDA meanwhile without invalidating the capture.
  state_->graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
  at::Tensor loss;
  try {
    loss = training::run_step(ctx, parts_);
  } catch (...) {
    try {
      state_->graph.capture_end();
    } catch (const c10::Error&) {  // only states that the capture failed: rethrow the first error instead
    }
    throw;
  }
  state_->graph.capture_end();
  state_->loss = std::move(loss);
  ctx.mark("step_captured");
}

}  // namespace kymo::training
