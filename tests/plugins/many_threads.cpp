// SPDX-License-Identifier: Apache-2.0
// Uses threads of its own: each opens scopes, allocates memory and runs the forward pass of a separate function. The
// main thread runs all backward passes and frees what the threads left, so that nothing ends on the thread that began
// it.
#include <torch/types.h>

#include <exception>
#include <kymo/torch.hpp>
#include <kymo/workload.hpp>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr std::int64_t kFunctions = 4;
constexpr std::int64_t kTooMuch = std::int64_t{1} << 58;  // in one-byte elements

at::Tensor apply(std::int64_t function, const at::Tensor& to) {
  if (function == 0) return at::exp(to);
  if (function == 1) return at::sin(to);
  return function == 2 ? at::tanh(to) : at::sigmoid(to);
}

/// Its analytic derivative.
at::Tensor derivative(std::int64_t function, const at::Tensor& at_point) {
  if (function == 0) return at::exp(at_point);
  if (function == 1) return at::cos(at_point);
  const at::Tensor value = apply(function, at_point);
  return function == 2 ? 1 - value * value : value * (1 - value);
}

class ManyThreads final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    return kymo::Descriptor{"many_threads", "several threads of its own in each step"}
        .param("threads", kymo::Int{kFunctions}.at_least(1).at_most(kFunctions), "threads of a step")
        .param("blocks", kymo::Int{8}.at_least(1), "blocks of memory that each thread takes")
        .param("elements", kymo::Int{1000}.at_least(1), "bytes of a block, and elements of what is computed")
        .param("too_much_at", kymo::Int{-1},
               "the step that asks for 2^58 bytes in an observed pass, counted from 0; -1 for none")
        .phases({"parallel", "gather"})
        .uses(kymo::Framework::LibTorch);
  }

  void prepare(kymo::Context& ctx) override {
    threads_ = ctx.integer("threads");
    blocks_ = ctx.integer("blocks");
    elements_ = ctx.integer("elements");
    too_much_at_ = ctx.host()->scope_begin ? ctx.integer("too_much_at") : -1;
    weight_ = at::linspace(-1, 1, elements_).requires_grad_(true);
    kymo::libtorch::tag(ctx, weight_, kymo::Block::Parameter);
  }

  void step(kymo::Context& ctx) override {
    weight_.mutable_grad().reset();
    {
      auto phase = ctx.phase("parallel");
      auto scope = ctx.scope("main");
      fan_out(ctx);
      if (steps_++ == too_much_at_) at::empty({kTooMuch}, at::kByte);
    }
    auto phase = ctx.phase("gather");
    for (at::Tensor& sum : sums_) sum.backward();
    left_.clear();
  }

  kymo::Verification verify(kymo::Context& ctx) override {
    weight_.mutable_grad().reset();
    fan_out(ctx);
    for (at::Tensor& sum : sums_) sum.backward();
    const at::Tensor point = weight_.detach().to(at::kDouble);
    at::Tensor expected = at::zeros_like(point);
    for (std::int64_t k = 0; k < threads_; ++k) expected += derivative(k, point);
    const double deviation = (weight_.grad().to(at::kDouble) - expected).abs().max().item<double>();
    return kymo::Verification{}.within("gradient", "the derivatives in closed form", {deviation, deviation}, 1e-5);
  }

 private:
  void fan_out(const kymo::Context& ctx) {
    sums_.assign(static_cast<std::size_t>(threads_), {});
    left_.assign(static_cast<std::size_t>(threads_), {});
    std::vector<std::thread> threads;
    for (std::int64_t k = 0; k < threads_; ++k) threads.emplace_back([this, &ctx, k] { work(ctx, k); });
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  void work(const kymo::Context& ctx, std::int64_t k) {
    try {
      auto scope = ctx.scope("worker_" + std::to_string(k));
      take(ctx, static_cast<std::size_t>(k));
      auto part = ctx.scope("forward");
      sums_[static_cast<std::size_t>(k)] = apply(k, weight_).sum();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
    }
  }

  /// The first block outlives the thread.
  void take(const kymo::Context& ctx, std::size_t k) {
    auto scope = ctx.scope("take");
    std::vector<at::Tensor> blocks;
    for (std::int64_t i = 0; i < blocks_; ++i) blocks.push_back(at::empty({elements_}, at::kByte));
    left_[k] = blocks.front();
    kymo::libtorch::tag(ctx, left_[k], kymo::Block::Activation);
  }

  std::int64_t threads_ = 0, blocks_ = 0, elements_ = 0, too_much_at_ = -1;
  std::int64_t steps_ = 0;
  at::Tensor weight_;
  std::vector<at::Tensor> sums_, left_;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(ManyThreads)
