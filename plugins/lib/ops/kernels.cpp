// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels.hpp"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <kymo/vector_functions.hpp>
#include <utility>

#include "ops/attention.hpp"

namespace kymo::ops {
namespace {

enum class Implementation { kNaive, kTiled, kFlash };

/// The implementation with this name. Throws if the name is unknown, or if flash is requested but not supported.
Implementation choose(std::string_view name, const at::Tensor& query, const at::Tensor& key, const Setting& setting,
                      flash::Direction direction) {
  if (name == "naive") return Implementation::kNaive;
  if (name == "tiled") return Implementation::kTiled;
  TORCH_CHECK_VALUE(name == "auto" || name == "flash", "attention: unknown implementation '", name,
                    "', must be one of auto, naive, tiled, flash");
  const std::string unsupported_reason = flash::unsupported_reason(query, key, setting, direction);
  if (unsupported_reason.empty()) return Implementation::kFlash;
  TORCH_CHECK_VALUE(name == "auto", "attention: flash ", unsupported_reason, "; use implementation 'tiled' or 'auto'");
  return Implementation::kTiled;
}

/// The gradient of a sum is expanded, with all strides 0. It is the only input that may lack contiguous rows.
at::Tensor with_contiguous_rows(const at::Tensor& tensor) {
  return tensor.stride(-1) == 1 ? tensor : tensor.contiguous();
}

at::Tensor empty_log_sum_exp(const at::Tensor& q) {
  return at::empty_symint(q.sym_sizes().slice(0, static_cast<std::size_t>(q.dim() - 1)),
                          q.options().dtype(accumulator_of(q.scalar_type())));
}

void run(Implementation implementation, const ForwardTensors& tensors, const Setting& setting) {
  if (tensors.query.is_cpu()) libtorch::settle_vector_functions();
  if (implementation == Implementation::kNaive) return naive::forward(tensors, setting);
  if (implementation == Implementation::kTiled) return tiled::forward(tensors, setting);
  flash::forward(tensors, setting);
}

void run(Implementation implementation, const BackwardTensors& tensors, const Setting& setting) {
  if (tensors.query.is_cpu()) libtorch::settle_vector_functions();
  if (implementation == Implementation::kNaive) return naive::backward(tensors, setting);
  if (implementation == Implementation::kTiled) return tiled::backward(tensors, setting);
  flash::backward(tensors, setting);
}

Setting setting_of(const AttentionOptions& options, const at::Tensor& query) {
  return {.causal = options.causal,
          .scale = resolve_scale(options.scale, query.size(-1)),
          .deterministic = options.deterministic};
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> forward_kernel(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                                  bool causal, std::optional<double> scale,
                                                  std::string_view implementation) {
  auto [o, lse] = forward_shapes(q, k, v, causal, scale, implementation);
  const bool has_heads = q.dim() == 4;
  const Setting setting{.causal = causal, .scale = resolve_scale(scale, q.size(-1))};
  const ForwardTensors tensors{with_heads(q, has_heads), with_heads(k, has_heads), with_heads(v, has_heads),
                               with_heads(o, has_heads), with_heads(lse, has_heads)};
  const Implementation chosen = choose(implementation, tensors.query, tensors.key, setting, flash::Direction::kForward);
  if (q.numel() > 0) run(chosen, tensors, setting);
  return {std::move(o), std::move(lse)};
}

std::tuple<at::Tensor, at::Tensor> forward_shapes(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, bool,
                                                  std::optional<double>, std::string_view) {
  check_inputs(q, k, v);
  return {at::empty_like(q), empty_log_sum_exp(q)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> backward_kernel(const at::Tensor& output_gradient, const at::Tensor& q,
                                                               const at::Tensor& k, const at::Tensor& v,
                                                               const at::Tensor& o, const at::Tensor& lse, bool causal,
                                                               std::optional<double> scale,
                                                               std::string_view implementation, bool deterministic) {
  auto [dq, dk, dv] = backward_shapes(output_gradient, q, k, v, o, lse, causal, scale, implementation, deterministic);
  const bool has_heads = q.dim() == 4;
  const auto seen = [has_heads](const at::Tensor& tensor) { return with_heads(tensor, has_heads); };
  const bool always = at::globalContext().deterministicAlgorithms();  // torch.use_deterministic_algorithms(True)
  const Setting setting{
      .causal = causal, .scale = resolve_scale(scale, q.size(-1)), .deterministic = deterministic || always};
  const BackwardTensors tensors{seen(with_contiguous_rows(output_gradient)),
                                seen(q),
                                seen(k),
                                seen(v),
                                seen(with_contiguous_rows(o)),
                                seen(lse),
                                seen(dq),
                                seen(dk),
                                seen(dv)};
  const Implementation chosen =
      choose(implementation, tensors.query, tensors.key, setting, flash::Direction::kBackward);
  if (q.numel() > 0) run(chosen, tensors, setting);
  return {std::move(dq), std::move(dk), std::move(dv)};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> backward_shapes(const at::Tensor& output_gradient, const at::Tensor& q,
                                                               const at::Tensor& k, const at::Tensor& v,
                                                               const at::Tensor& o, const at::Tensor& lse, bool,
                                                               std::optional<double>, std::string_view, bool) {
  check_backward_inputs(output_gradient, q, k, v, o, lse);
  return {at::empty_like(q), at::empty_like(k), at::empty_like(v)};
}

std::string chosen_implementation(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                                  const AttentionOptions& options) {
  check_inputs(query, key, value);
  const bool has_heads = query.dim() == 4;
  switch (choose(options.implementation, with_heads(query, has_heads), with_heads(key, has_heads),
                 setting_of(options, query), flash::Direction::kForward)) {
    case Implementation::kNaive:
      return "naive";
    case Implementation::kTiled:
      return "tiled";
    case Implementation::kFlash:
      break;
  }
  return "flash";
}

std::string why_not_flash(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                          const AttentionOptions& options) {
  check_inputs(query, key, value);
  const Setting setting = setting_of(options, query);
  const bool has_heads = query.dim() == 4;
  for (const flash::Direction direction : {flash::Direction::kForward, flash::Direction::kBackward})
    if (std::string unsupported_reason =
            flash::unsupported_reason(with_heads(query, has_heads), with_heads(key, has_heads), setting, direction);
        !unsupported_reason.empty())
      return unsupported_reason;
  return "";
}

}  // namespace kymo::ops
