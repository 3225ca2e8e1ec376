// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <kymo/vector_functions.hpp>

#include "ops/dispatch.hpp"
#include "ops/layers.hpp"
#include "ops/layers/checks.hpp"
#include "ops/layers/kernels.hpp"

namespace kymo::ops::rms_norm_layer {
namespace {

using at::Tensor;
using Pair = std::tuple<Tensor, Tensor>;
using Dtype = std::optional<at::ScalarType>;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kName = "rms_norm";

using NormSignature = Tensor(const Tensor&, const Tensor&, double, Dtype);
using AddSignature = Pair(const Tensor&, const Tensor&, const Tensor&, double);
using BackwardSignature = Pair(const Tensor&, const std::optional<Tensor>&, const Tensor&, const Tensor&, double);

Tensor call_norm(const Tensor& x, const Tensor& weight, double epsilon, Dtype dtype) {
  static const auto op = operator_named<NormSignature>("kymo::rms_norm");
  return op.call(x, weight, epsilon, dtype);
}

Pair call_add(const Tensor& x, const Tensor& residual, const Tensor& weight, double epsilon) {
  static const auto op = operator_named<AddSignature>("kymo::add_rms_norm");
  return op.call(x, residual, weight, epsilon);
}

Pair call_backward(const Tensor& gradient, const std::optional<Tensor>& sum_gradient, const Tensor& x,
                   const Tensor& weight, double epsilon) {
  static const auto op = operator_named<BackwardSignature>("kymo::rms_norm_backward");
  return op.call(gradient, sum_gradient, x, weight, epsilon);
}

/// `stream` is the type of the values that are normalized.
void check_weight(const Tensor& x, const Tensor& weight, at::ScalarType stream) {
  layer_checks::check_type(kName, "x", x);
  TORCH_CHECK_VALUE(x.dim() >= 1, "rms_norm: x has no dimensions; it must have at least 1");
  TORCH_CHECK_VALUE(x.sym_size(-1) >= 1, "rms_norm: the last dimension of x is 0; it must be at least 1");
  layer_checks::check_sizes(kName, "weight", weight, {x.sym_size(-1)});
  layer_checks::check_type_or_float(kName, "weight", weight, stream);
  layer_checks::check_device(kName, "weight", weight, x);
}

at::ScalarType checked_type(const Tensor& x, Dtype dtype) {
  const at::ScalarType own = x.scalar_type(), result_type = dtype.value_or(own);
  TORCH_CHECK_TYPE(result_type == own || (own == at::kFloat && is_narrow(result_type)), "rms_norm: dtype is ",
                   result_type, "; it must be the type of x, ", own, own == at::kFloat ? ", BFloat16 or Half" : "");
  return result_type;
}

void check_residual(const Tensor& x, const Tensor& residual) {
  layer_checks::check_sizes(kName, "residual", residual, x.sym_sizes());
  layer_checks::check_type_or_float(kName, "residual", residual, x.scalar_type());
  layer_checks::check_device(kName, "residual", residual, x);
}

Tensor empty_of(const Tensor& like, at::ScalarType dtype) {
  return at::empty_symint(like.sym_sizes(), like.options().dtype(dtype));
}

Tensor inverse_root(const Tensor& x, double epsilon) {
  return at::rsqrt(x.square().mean(-1, /*keepdim=*/true).add(epsilon));
}

void reference(const layer_kernels::RmsNormTensors& t) {
  if (t.residual.defined()) t.sum.copy_(t.residual.add(t.x.to(t.residual.scalar_type())));
  const at::ScalarType wide = layer_checks::sum_type(t.x.scalar_type());
  const Tensor x = (t.sum.defined() ? t.sum : t.x).to(wide);
  t.y.copy_(x.mul(inverse_root(x, t.epsilon)).mul(t.weight.to(wide)));
}

void reference_backward(const layer_kernels::RmsNormBackwardTensors& t) {
  const at::ScalarType wide = layer_checks::sum_type(t.x.scalar_type());
  const Tensor x = t.x.to(wide), gradient = t.gradient.to(wide), root = inverse_root(x, t.epsilon);
  const Tensor scaled = gradient.mul(t.weight.to(wide));
  const Tensor along = x.mul(scaled).mean(-1, /*keepdim=*/true).mul(root.square());
  Tensor to_x = scaled.sub(x.mul(along)).mul(root);
  if (t.sum_gradient.defined()) to_x = to_x.add(t.sum_gradient.to(wide));
  t.x_gradient.copy_(to_x);
  t.weight_gradient.copy_(gradient.mul(x).mul(root).reshape({-1, x.size(-1)}).sum(0));
}

void run(const layer_kernels::RmsNormTensors& tensors) {
  if (tensors.x.numel() == 0) return;
  if (tensors.x.is_cpu()) libtorch::settle_vector_functions();
  if (!layer_kernels::rms_norm(tensors)) reference(tensors);
}

Tensor norm_shapes(const Tensor& x, const Tensor& weight, double, Dtype dtype) {
  check_weight(x, weight, x.scalar_type());
  return empty_of(x, checked_type(x, dtype));
}

Tensor norm(const Tensor& x, const Tensor& weight, double epsilon, Dtype dtype) {
  Tensor y = norm_shapes(x, weight, epsilon, dtype);
  run({.x = x.contiguous(), .residual = {}, .weight = weight.contiguous(), .y = y, .sum = {}, .epsilon = epsilon});
  return y;
}

Pair add_shapes(const Tensor& x, const Tensor& residual, const Tensor& weight, double) {
  check_weight(x, weight, residual.scalar_type());
  check_residual(x, residual);
  return {empty_of(x, x.scalar_type()), empty_of(x, residual.scalar_type())};
}

Pair add(const Tensor& x, const Tensor& residual, const Tensor& weight, double epsilon) {
  auto [y, sum] = add_shapes(x, residual, weight, epsilon);
  run({.x = x.contiguous(),
       .residual = residual.contiguous(),
       .weight = weight.contiguous(),
       .y = y,
       .sum = sum,
       .epsilon = epsilon});
  return {std::move(y), std::move(sum)};
}

Pair backward_shapes(const Tensor& gradient, const std::optional<Tensor>& sum_gradient, const Tensor& x,
                     const Tensor& weight, double) {
  check_weight(x, weight, x.scalar_type());
  layer_checks::check_sizes(kName, "gradient", gradient, x.sym_sizes());
  layer_checks::check_device(kName, "gradient", gradient, x);
  const bool is_narrower = x.scalar_type() == at::kFloat && is_narrow(gradient.scalar_type());
  if (!is_narrower) layer_checks::check_same_type(kName, "gradient", gradient, x.scalar_type());
  if (sum_gradient) {
    layer_checks::check_sizes(kName, "sum_gradient", *sum_gradient, x.sym_sizes());
    layer_checks::check_same_type(kName, "sum_gradient", *sum_gradient, x.scalar_type());
    layer_checks::check_device(kName, "sum_gradient", *sum_gradient, x);
  }
  return {empty_of(x, x.scalar_type()), empty_of(weight, weight.scalar_type())};
}

Pair backward(const Tensor& gradient, const std::optional<Tensor>& sum_gradient, const Tensor& x, const Tensor& weight,
              double epsilon) {
  auto [x_gradient, weight_gradient] = backward_shapes(gradient, sum_gradient, x, weight, epsilon);
  if (x.numel() == 0) return {std::move(x_gradient), weight_gradient.zero_()};
  const layer_kernels::RmsNormBackwardTensors tensors{
      .gradient = gradient.contiguous(),
      .sum_gradient = sum_gradient ? sum_gradient->contiguous() : Tensor(),
      .x = x.contiguous(),
      .weight = weight.contiguous(),
      .x_gradient = x_gradient,
      .weight_gradient = weight_gradient,
      .epsilon = epsilon};
  if (!layer_kernels::rms_norm_backward(tensors)) reference_backward(tensors);
  return {std::move(x_gradient), std::move(weight_gradient)};
}

struct Norm : torch::autograd::Function<Norm> {
  static Tensor forward(AutogradContext* saved, const Tensor& x, const Tensor& weight, double epsilon, Dtype dtype) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    saved->save_for_backward({x, weight});
    saved->saved_data["epsilon"] = epsilon;
    return call_norm(x, weight, epsilon, dtype);
  }

  static variable_list backward(AutogradContext* saved, const variable_list& gradients) {
    const variable_list tensors = saved->get_saved_variables();
    const SkipAutogradInBackward skip_autograd;
    const auto [x_gradient, weight_gradient] =
        call_backward(gradients[0], std::nullopt, tensors[0], tensors[1], saved->saved_data["epsilon"].toDouble());
    return {x_gradient, weight_gradient, Tensor(), Tensor()};
  }
};

struct AddNorm : torch::autograd::Function<AddNorm> {
  static variable_list forward(AutogradContext* saved, const Tensor& x, const Tensor& residual, const Tensor& weight,
                               double epsilon) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    auto [y, sum] = call_add(x, residual, weight, epsilon);
    saved->save_for_backward({sum, weight});
    saved->set_materialize_grads(false);
    saved->saved_data["epsilon"] = epsilon;
    saved->saved_data["x_type"] = static_cast<std::int64_t>(x.scalar_type());
    return {y, sum};
  }

  static variable_list backward(AutogradContext* saved, const variable_list& gradients) {
    const auto x_type = static_cast<at::ScalarType>(saved->saved_data["x_type"].toInt());
    const Tensor &gradient = gradients[0], &sum_gradient = gradients[1];
    if (!gradient.defined())
      return {sum_gradient.defined() ? sum_gradient.to(x_type) : Tensor(), sum_gradient, Tensor(), Tensor()};
    const variable_list tensors = saved->get_saved_variables();
    const SkipAutogradInBackward skip_autograd;
    const auto [stream, weight] =
        call_backward(gradient, sum_gradient.defined() ? std::optional(sum_gradient) : std::nullopt, tensors[0],
                      tensors[1], saved->saved_data["epsilon"].toDouble());
    return {stream.to(x_type), stream, weight, Tensor()};
  }
};

Tensor norm_autograd(const Tensor& x, const Tensor& weight, double epsilon, Dtype dtype) {
  return Norm::apply(x, weight, epsilon, dtype);
}

Pair add_autograd(const Tensor& x, const Tensor& residual, const Tensor& weight, double epsilon) {
  const variable_list results = AddNorm::apply(x, residual, weight, epsilon);
  return {results[0], results[1]};
}

void implement(torch::Library& library) {
  library.impl("rms_norm", &norm);
  library.impl("add_rms_norm", &add);
  library.impl("rms_norm_backward", &backward);
}

TORCH_LIBRARY_FRAGMENT(kymo, library) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  library.def("rms_norm(Tensor x, Tensor weight, float epsilon=1e-05, ScalarType? dtype=None) -> Tensor", tags);
  library.def("add_rms_norm(Tensor x, Tensor residual, Tensor weight, float epsilon=1e-05) -> (Tensor y, Tensor sum)",
              tags);
  library.def(
      "rms_norm_backward(Tensor gradient, Tensor? sum_gradient, Tensor x, Tensor weight, float epsilon=1e-05) -> "
      "(Tensor x_gradient, Tensor weight_gradient)",
      tags);
}

TORCH_LIBRARY_IMPL(kymo, CPU, library) { implement(library); }
TORCH_LIBRARY_IMPL(kymo, CUDA, library) { implement(library); }
TORCH_LIBRARY_IMPL(kymo, Meta, library) {
  library.impl("rms_norm", &norm_shapes);
  library.impl("add_rms_norm", &add_shapes);
  library.impl("rms_norm_backward", &backward_shapes);
}
TORCH_LIBRARY_IMPL(kymo, Autograd, library) {
  library.impl("rms_norm", &norm_autograd);
  library.impl("add_rms_norm", &add_autograd);
  library.impl("rms_norm_backward", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace
}  // namespace kymo::ops::rms_norm_layer

namespace kymo::ops {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double epsilon,
                    std::optional<at::ScalarType> dtype) {
  return rms_norm_layer::call_norm(x, weight, epsilon, dtype);
}

std::tuple<at::Tensor, at::Tensor> add_rms_norm(const at::Tensor& x, const at::Tensor& residual,
                                                const at::Tensor& weight, double epsilon) {
  return rms_norm_layer::call_add(x, residual, weight, epsilon);
}

}  // namespace kymo::ops
