// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels.hpp"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <cmath>
#include <kymo/vector_functions.hpp>
#include <utility>

#include "ops/attention.hpp"

namespace kymo::ops {
namespace {

/// [batch, sequence, …] as [batch, 1, sequence, …]: inputs without a head dimension have one head. The result shares
/// storage.
at::Tensor with_heads(const at::Tensor& tensor, bool has_heads) { return has_heads ? tensor : tensor.unsqueeze(1); }

bool is_supported(at::ScalarType dtype) {
  return dtype == at::kFloat || dtype == at::kBFloat16 || dtype == at::kHalf || dtype == at::kDouble;
}

/// `name` is the operator's argument name: q, k, v …
void check_alike(const char* name, const at::Tensor& tensor, const at::Tensor& query) {
  TORCH_CHECK_VALUE(tensor.dim() == query.dim(), "attention: ", name, " has ", tensor.dim(), " dimensions but q has ",
                    query.dim(), "; they must be equal");
  TORCH_CHECK_TYPE(tensor.scalar_type() == query.scalar_type(), "attention: ", name, " is ", tensor.scalar_type(),
                   " but q is ", query.scalar_type(), "; they must have the same type");
  TORCH_CHECK_VALUE(tensor.device() == query.device(), "attention: ", name, " is on ", tensor.device(), " but q is on ",
                    query.device(), "; they must be on the same device");
}

void check_contiguous_rows(const char* name, const at::Tensor& tensor) {
  TORCH_CHECK_VALUE(tensor.sym_size(-1) == 1 || tensor.sym_stride(-1) == 1, "attention: the last dimension of ", name,
                    " has stride ", tensor.sym_stride(-1), "; it must be contiguous, call .contiguous()");
}

void check_same_sizes(const char* name, const at::Tensor& tensor, const char* other_name, const at::Tensor& other) {
  TORCH_CHECK_VALUE(tensor.sym_sizes().equals(other.sym_sizes()), "attention: ", name, " is ", tensor.sym_sizes(),
                    " but ", other_name, " is ", other.sym_sizes(), "; they must have the same shape");
}

/// Throw c10::ValueError or c10::TypeError unless the tensors are compatible. Sizes may be symbolic.
void check_inputs(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value) {
  TORCH_CHECK_VALUE(query.dim() == 3 || query.dim() == 4, "attention: q has ", query.dim(),
                    " dimensions; it must be [batch, sequence, d] or [batch, heads, sequence, d]");
  TORCH_CHECK_TYPE(is_supported(query.scalar_type()), "attention: q is ", query.scalar_type(),
                   "; it must be Float, BFloat16, Half or Double");
  check_alike("k", key, query);
  check_alike("v", value, query);
  check_same_sizes("v", value, "k", key);
  TORCH_CHECK_VALUE(key.sym_size(0) == query.sym_size(0), "attention: q has batch size ", query.sym_size(0),
                    " but k has ", key.sym_size(0), "; they must be equal");
  TORCH_CHECK_VALUE(key.sym_size(-1) == query.sym_size(-1), "attention: q has d = ", query.sym_size(-1), " but k has ",
                    key.sym_size(-1), "; they must be equal");
  TORCH_CHECK_VALUE(query.sym_size(-1) >= 1, "attention: d is 0; it must be at least 1");
  TORCH_CHECK_VALUE(query.sym_size(-2) >= 1 && key.sym_size(-2) >= 1, "attention: q has length ", query.sym_size(-2),
                    " and k has ", key.sym_size(-2), "; both must be at least 1");
  if (query.dim() == 4) {
    const c10::SymInt heads = query.sym_size(1), key_heads = key.sym_size(1);
    TORCH_CHECK_VALUE(key_heads >= 1 && heads % key_heads == 0, "attention: q has ", heads, " heads and k has ",
                      key_heads, "; the heads of q must be a multiple of those of k");
  }
  check_contiguous_rows("q", query);
  check_contiguous_rows("k", key);
  check_contiguous_rows("v", value);
}

void check_backward_inputs(const at::Tensor& output_gradient, const at::Tensor& query, const at::Tensor& key,
                           const at::Tensor& value, const at::Tensor& output, const at::Tensor& log_sum_exp) {
  check_inputs(query, key, value);
  check_alike("do", output_gradient, query);
  check_alike("o", output, query);
  check_same_sizes("do", output_gradient, "q", query);
  check_same_sizes("o", output, "q", query);
  const auto rows = query.sym_sizes().slice(0, static_cast<std::size_t>(query.dim() - 1));
  TORCH_CHECK_VALUE(log_sum_exp.sym_sizes().equals(rows), "attention: lse is ", log_sum_exp.sym_sizes(),
                    "; it must be ", rows, ", one value per row of q");
  const at::ScalarType required = accumulator_of(query.scalar_type());
  TORCH_CHECK_TYPE(log_sum_exp.scalar_type() == required, "attention: lse is ", log_sum_exp.scalar_type(),
                   "; it must be ", required, ", as returned by attention_forward");
  TORCH_CHECK_VALUE(log_sum_exp.device() == query.device(), "attention: lse is on ", log_sum_exp.device(),
                    " but q is on ", query.device(), "; they must be on the same device");
}

/// 1/√d by default. Throws c10::ValueError unless the scale is finite.
double resolve_scale(std::optional<double> given, std::int64_t width) {
  if (!given) return 1 / std::sqrt(static_cast<double>(width));
  TORCH_CHECK_VALUE(std::isfinite(*given), "attention: scale is ", *given, "; it must be finite");
  return *given;
}

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

/// Calls the function of the implementation.
template <class Tensors>
void run(Implementation implementation, const Tensors& tensors, const Setting& setting, auto naive, auto tiled,
         auto flash) {
  if (tensors.query.is_cpu()) libtorch::settle_vector_functions();
  if (implementation == Implementation::kNaive) return naive(tensors, setting);
  if (implementation == Implementation::kTiled) return tiled(tensors, setting);
  flash(tensors, setting);
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
  if (q.numel() > 0) run(chosen, tensors, setting, naive::forward, tiled::forward, flash::forward);
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
  if (q.numel() > 0) run(chosen, tensors, setting, naive::backward, tiled::backward, flash::backward);
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
