// SPDX-License-Identifier: Apache-2.0
#include "transformer/attention_workload.hpp"

#include <ATen/ops/empty.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <algorithm>
#include <kymo/torch.hpp>
#include <kymo/verification.hpp>

#include "transformer/reference.hpp"

namespace kymo::transformer {
namespace {

/// Allowed deviation from the float64 reference, relative to its largest value: a few times the observed one, so that a
/// wrong mask, scale or gradient (which changes the leading digits) fails and rounding does not.
double tolerance_of(at::ScalarType dtype) {
  if (dtype == at::kBFloat16) return 3e-2;
  return dtype == at::kHalf ? 5e-3 : 1e-5;
}

at::Tensor draw(const AttentionShape& shape, const at::Device& device, at::Generator& generator) {
  return at::empty({shape.batch, shape.heads, shape.sequence, shape.head_dim},
                   at::TensorOptions().dtype(shape.dtype).device(device))
      .normal_(0, 1, generator);
}

/// Memory currently allocated by LibTorch's GPU allocator.
double handed_out_bytes(const at::Device& device) {
  const auto stats = c10::getDeviceAllocator(device.type())->getDeviceStats(device.index());
  return static_cast<double>(
      stats.allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)].current);
}

}  // namespace

double AttentionShape::elements() const {
  return static_cast<double>(batch) * static_cast<double>(heads) * static_cast<double>(sequence) *
         static_cast<double>(head_dim);
}

double AttentionShape::scores() const {
  return elements() / static_cast<double>(head_dim) * static_cast<double>(sequence) * (causal ? 0.5 : 1);
}

double AttentionShape::forward_flops() const { return 4 * scores() * static_cast<double>(head_dim); }

Descriptor AttentionWorkload::describe_as(const std::string& name, std::uint32_t order,
                                          const std::string& documentation) {
  return Descriptor{name, documentation}
      .family("attention", order)
      .param("batch", Int{8}.at_least(1), "batch size")
      .param("heads", Int{1}.at_least(1), "number of attention heads")
      .param("seq", Int{256}.at_least(1).unit("tokens").axis({256, 1024, 4096, 8192, 16384}), "sequence length")
      .param("head_dim", Int{64}.at_least(1).axis({16, 32, 64, 128}), "head dimension")
      .param("dtype", Choice{"fp32", libtorch::dtype_names()}, "data type of query, key and value")
      .param("causal", Bool{true}, "apply a causal mask")
      .param(
          "mode", Choice{"forward_backward", {"forward", "backward", "forward_backward"}},
          "passes of a step; forward records no gradients, backward repeats the backward pass of a single forward pass")
      .optional_phases({"forward", "backward"})
      .uses(Framework::LibTorch)
      .ranks(1, 1)
      .asynchronous();
}

void AttentionWorkload::check(Context&, const at::Tensor&, const at::Tensor&, const at::Tensor&, bool) {}

void AttentionWorkload::prepare(Context& ctx) {
  shape_ = {.batch = ctx.integer("batch"),
            .heads = ctx.integer("heads"),
            .sequence = ctx.integer("seq"),
            .head_dim = ctx.integer("head_dim"),
            .dtype = libtorch::dtype(ctx.text("dtype")),
            .causal = ctx.boolean("causal")};
  with_forward_ = ctx.text("mode") != "backward";
  with_backward_ = ctx.text("mode") != "forward";
  const at::Device device = libtorch::select_device(ctx);
  at::Generator generator = libtorch::make_generator(device, ctx.seed());
  attention_ = make(ctx, shape_.causal);
  for (at::Tensor* tensor : {&query_, &key_, &value_}) {
    *tensor = draw(shape_, device, generator).requires_grad_(with_backward_);
    libtorch::tag(ctx, *tensor, Block::Input);
  }
  if (with_backward_) output_gradient_ = draw(shape_, device, generator);
  libtorch::tag(ctx, output_gradient_, Block::Input);
  check(ctx, query_, key_, value_, shape_.causal);
  declare(ctx);
  if (!with_forward_) output_ = attention_->apply(ctx, query_, key_, value_);
}

void AttentionWorkload::declare(Context& ctx) const {
  const double element_bytes = static_cast<double>(c10::elementSize(shape_.dtype));
  const double tensor_bytes = shape_.elements() * element_bytes;
  const double score_bytes = tensor_bytes / static_cast<double>(shape_.head_dim) * static_cast<double>(shape_.sequence);
  // Forward reads query, key and value and writes the output; backward reads those and the gradient, and writes three
  // gradients.
  if (with_forward_)
    ctx.work("forward", shape_.forward_flops(), 4 * tensor_bytes + score_passes(false, shape_.causal) * score_bytes);
  if (with_backward_)
    ctx.work("backward", shape_.backward_flops(), 8 * tensor_bytes + score_passes(true, shape_.causal) * score_bytes);
  ctx.metric("input_bytes", 3 * tensor_bytes, "B");
  ctx.metric("score_matrix_bytes", score_bytes, "B");
  report(ctx, attention_flops(shape_.scores(), shape_.head_dim));
}

void AttentionWorkload::step(Context& ctx) {
  if (!with_backward_) {
    const c10::NoGradGuard no_gradients;
    auto phase = libtorch::phase(ctx, "forward");
    attention_->apply(ctx, query_, key_, value_);
    return;
  }
  for (at::Tensor* tensor : {&query_, &key_, &value_}) tensor->mutable_grad().reset();
  at::Tensor output = output_;
  if (with_forward_) {
    auto phase = libtorch::phase(ctx, "forward");
    output = attention_->apply(ctx, query_, key_, value_);
  }
  if (with_forward_) before_backward(ctx);
  {
    auto phase = libtorch::phase(ctx, "backward");
    output.backward(output_gradient_, /*retain_graph=*/!with_forward_);
  }
  if (!ctx.host()->tag) return;
  for (const at::Tensor* tensor : {&query_, &key_, &value_}) libtorch::tag(ctx, tensor->grad(), Block::Gradient);
}

void AttentionWorkload::before_backward(Context& ctx) {
  ctx.mark("before_backward");
  if (memory_reported_ || !query_.is_cuda()) return;
  memory_reported_ = true;  // the same in every step, and each query takes time
  ctx.metric("memory_before_backward", handed_out_bytes(query_.device()), "B");
}

Verification AttentionWorkload::verify(Context& ctx) {
  AttentionShape small = shape_;
  small.batch = std::min<std::int64_t>(small.batch, 2);
  small.heads = std::min<std::int64_t>(small.heads, 2);
  small.sequence = std::min<std::int64_t>(small.sequence, 160);
  at::Generator generator = libtorch::make_generator(query_.device(), ctx.seed() + 1);
  at::Tensor query = draw(small, query_.device(), generator).requires_grad_(with_backward_);
  at::Tensor key = draw(small, query_.device(), generator).requires_grad_(with_backward_);
  at::Tensor value = draw(small, query_.device(), generator).requires_grad_(with_backward_);
  const at::Tensor gradient = with_backward_ ? draw(small, query_.device(), generator) : at::Tensor();
  check(ctx, query, key, value, small.causal);

  const at::Tensor output = attention_->apply(ctx, query, key, value);
  if (with_backward_) output.backward(gradient);
  const AttentionReference expected = reference_attention(query, key, value, gradient, small.causal);
  const double tolerance = tolerance_of(small.dtype);
  const std::string reference = "float64 attention, computed per head";
  Verification result;
  const auto expect_equal = [&](const char* name, const at::Tensor& actual, const at::Tensor& exact) {
    expect_close(result, name, reference, distance(actual, exact), tolerance);
  };
  expect_equal("output", output, expected.output);
  if (!with_backward_) return result;
  expect_equal("query gradient", query.grad(), expected.query_gradient);
  expect_equal("key gradient", key.grad(), expected.key_gradient);
  expect_equal("value gradient", value.grad(), expected.value_gradient);
  return result;
}

}  // namespace kymo::transformer
