// SPDX-License-Identifier: Apache-2.0
#include "training/step.hpp"

#include <torch/optim/optimizer.h>

#include <kymo/autocast.hpp>
#include <kymo/torch.hpp>
#include <stdexcept>

namespace kymo::training {
namespace {

at::Tensor forward(const Context& ctx, const StepParts& parts) {
  auto phase = libtorch::phase(ctx, "forward");
  std::optional<libtorch::Autocast> autocast;
  if (parts.autocast) autocast.emplace(ctx.is_cuda() ? at::kCUDA : at::kCPU, *parts.autocast);
  return parts.loss(ctx);
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

at::Tensor run_step(const Context& ctx, const StepParts& parts) {
  if (!parts.loss) throw std::invalid_argument("the training step has no loss function; set StepParts::loss");
  if (parts.mode == Mode::kTrain && !parts.optimizer)
    throw std::invalid_argument("a training step with mode train has no optimizer; set StepParts::optimizer");
  if (parts.mode == Mode::kForward) {
    const c10::NoGradGuard no_gradients;
    return forward(ctx, parts);
  }
  // The backward pass writes a dropped gradient without reading and accumulating.
  for (const at::Tensor& parameter : parts.parameters) parameter.mutable_grad().reset();
  at::Tensor loss = forward(ctx, parts);
  if (parts.before_backward) parts.before_backward();
  {
    auto phase = libtorch::phase(ctx, "backward");
    loss.backward();
  }
  if (parts.after_backward) parts.after_backward();
  if (parts.mode == Mode::kTrain) {
    auto phase = libtorch::phase(ctx, "optimizer");
    auto scope = ctx.scope(parts.optimizer_scope);
    parts.optimizer->step();
  }
  return loss.detach();
}

}  // namespace kymo::training
