// SPDX-License-Identifier: Apache-2.0
#include "training/step.hpp"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <kymo/autocast.hpp>
#include <kymo/torch.hpp>
#include <stdexcept>
#include <utility>

#include "training/gradient_hooks.hpp"

namespace kymo::training {
namespace {

void begin(const StepDefinition& definition) {
  drop_gradients(definition.parameters);
  if (definition.before_forward) definition.before_forward();
}

at::Tensor forward(const Context& ctx, const StepDefinition& definition) {
  auto phase = libtorch::phase(ctx, "forward");
  std::optional<libtorch::Autocast> autocast;
  if (definition.autocast) autocast.emplace(ctx.is_cuda() ? at::kCUDA : at::kCPU, *definition.autocast);
  return definition.loss(ctx);
}

const at::Device& checked(const at::Device& device) {
  if (!device.is_cuda())
    throw std::invalid_argument("a step cannot be captured on " + device.str() + ": CUDA graphs require device=cuda");
  return device;
}

}  // namespace

std::vector<std::string> mode_names() { return {"forward", "forward_backward", "train"}; }

Mode mode_of(std::string_view name) {
  if (name == "forward") return Mode::kForward;
  if (name == "forward_backward") return Mode::kForwardBackward;
  if (name == "train") return Mode::kTrain;
  throw std::invalid_argument("unknown mode '" + std::string(name) +
                              "', must be one of forward, forward_backward, train");
}

QuietContext::QuietContext(const Context& ctx) : host_(*ctx.host()), context_(&host_, ctx.handle()) {
  host_.size = sizeof host_;
  host_.phase_begin = nullptr;
  host_.scope_begin = nullptr;
}

at::Tensor run_step(const Context& ctx, const StepDefinition& definition) {
  if (!definition.loss) throw std::invalid_argument("the training step has no loss function; set StepDefinition::loss");
  if (definition.mode == Mode::kTrain && !definition.update)
    throw std::invalid_argument("a training step with mode train has no update; set StepDefinition::update");
  if (definition.mode == Mode::kForward) {
    const c10::NoGradGuard no_gradients;
    return forward(ctx, definition);
  }
  begin(definition);
  at::Tensor loss = forward(ctx, definition);
  {
    auto phase = libtorch::phase(ctx, "backward");
    loss.backward();
  }
  if (definition.after_backward) definition.after_backward(ctx);
  if (definition.mode == Mode::kTrain) {
    auto phase = libtorch::phase(ctx, "optimizer");
    auto scope = ctx.scope(definition.update_scope);
    definition.update();
  }
  return loss.detach();
}

struct StepGraph::State {
  explicit State(const at::Device& device)
      : stream(c10::cuda::getStreamFromPool(/*isHighPriority=*/false, device.index())) {}

  c10::cuda::CUDAStream stream;  // the default stream cannot be captured
  at::cuda::CUDAGraph graph;
  at::Tensor loss;  // defined once there is a graph
};

StepGraph::StepGraph(const at::Device& device, StepDefinition definition)
    : definition_(std::move(definition)), state_(std::make_unique<State>(checked(device))) {}

StepGraph::~StepGraph() = default;

void StepGraph::warm_up(const Context& ctx, int passes) {
  const QuietContext unseen(ctx);
  StepDefinition without_update = definition_;
  if (without_update.mode == Mode::kTrain) without_update.mode = Mode::kForwardBackward;

  c10::cuda::device_synchronize();  // work of other streams is read on this one
  {
    const c10::cuda::CUDAStreamGuard on_stream(state_->stream);
    for (int i = 0; i < passes; ++i) training::run_step(unseen.context(), without_update);
  }
  begin(definition_);
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
  begin(definition_);  // gradients are in the default pool and must not be freed during capture
  // Thread-local: another thread, such as a collector's, may call CUDA meanwhile without invalidating the capture.
  state_->graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
  at::Tensor loss;
  try {
    loss = training::run_step(ctx, definition_);
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
