// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/pow.h>
#include <torch/library.h>

#include "ops/dispatch.hpp"
#include "ops/layers.hpp"
#include "ops/layers/checks.hpp"
#include "ops/layers/kernels.hpp"

namespace kymo::ops::adamw_layer {
namespace {

using at::Tensor;
using at::TensorList;
using layer_kernels::AdamWTensors;

constexpr const char* kName = "adamw_";

using Copies = std::optional<TensorList>;
using Signature = void(TensorList, TensorList, TensorList, TensorList, TensorList, double, double, double, double,
                       double, const std::optional<Tensor>&, double, bool, Copies);

bool has_copy(const AdamWTensors& t, std::size_t i) { return !t.copies.empty() && t.copies[i].numel() > 0; }

/// The type of the copies and narrow gradients of fp32 parameters: that of the first one. The type of the parameters if
/// there are none.
at::ScalarType narrow_type(const AdamWTensors& t) {
  const at::ScalarType type = t.parameters[0].scalar_type();
  if (type != at::kFloat) return type;
  for (const TensorList list : {t.copies, t.gradients})
    for (const Tensor& tensor : list)
      if (tensor.numel() > 0 && is_narrow(tensor.scalar_type())) return tensor.scalar_type();
  return type;
}

void check_dense(const char* name, const Tensor& tensor, const Tensor& parameter) {
  layer_checks::check_sizes(kName, name, tensor, parameter.sym_sizes());
  layer_checks::check_device(kName, name, tensor, parameter);
  TORCH_CHECK_VALUE(tensor.is_contiguous(), "adamw_: ", name, " is not contiguous; call .contiguous()");
}

void check_gradient_type(const AdamWTensors& t, const Tensor& gradient) {
  const at::ScalarType type = gradient.scalar_type(), wide = t.parameters[0].scalar_type();
  if (type == wide || type == t.narrow || gradient.numel() == 0) return;
  const std::string narrow = t.narrow != wide     ? std::string(" or ") + c10::toString(t.narrow)
                             : wide == at::kFloat ? ", BFloat16 or Half"
                                                  : "";
  TORCH_CHECK_TYPE(false, "adamw_: a gradient is ", type, "; it must be ", wide, narrow);
}

void check_copy(const AdamWTensors& t, std::size_t i) {
  if (!has_copy(t, i)) return;
  layer_checks::check_same_type(kName, "a parameter with a copy", t.parameters[i], at::kFloat);
  check_dense("a copy", t.copies[i], t.parameters[i]);
  TORCH_CHECK_TYPE(is_narrow(t.copies[i].scalar_type()), "adamw_: a copy is ", t.copies[i].scalar_type(),
                   "; it must be BFloat16 or Half");
  layer_checks::check_same_type(kName, "a copy", t.copies[i], t.narrow);
}

void check_one(const AdamWTensors& t, std::size_t i) {
  const Tensor &parameter = t.parameters[i], &first = t.parameters[0];
  layer_checks::check_type(kName, "a parameter", parameter);
  layer_checks::check_same_type(kName, "a parameter", parameter, first.scalar_type());
  layer_checks::check_device(kName, "a parameter", parameter, first);
  check_dense("a parameter", parameter, parameter);
  check_dense("a gradient", t.gradients[i], parameter);
  check_dense("a mean", t.means[i], parameter);
  check_dense("a square mean", t.square_means[i], parameter);
  check_gradient_type(t, t.gradients[i]);
  check_copy(t, i);
  layer_checks::check_type_or_float(kName, "a mean", t.means[i], first.scalar_type());
  layer_checks::check_same_type(kName, "a mean", t.means[i], t.means[0].scalar_type());
  layer_checks::check_same_type(kName, "a square mean", t.square_means[i], t.means[0].scalar_type());
  TORCH_CHECK_VALUE(t.steps[i].dim() == 0, "adamw_: a step count has ", t.steps[i].dim(),
                    " dimensions; it must be a scalar");
  layer_checks::check_same_type(kName, "a step count", t.steps[i], at::kFloat);
  layer_checks::check_device(kName, "a step count", t.steps[i], first);
}

AdamWTensors checked(AdamWTensors t, const std::optional<Tensor>& gradient_norm) {
  const auto lists = {std::pair{"gradients", t.gradients.size()},
                      {"means", t.means.size()},
                      {"square_means", t.square_means.size()},
                      {"steps", t.steps.size()}};
  for (const auto& [name, size] : lists)
    TORCH_CHECK_VALUE(size == t.parameters.size(), "adamw_: ", name, " has ", size, " tensors but parameters has ",
                      t.parameters.size(), "; they must be equal");
  TORCH_CHECK_VALUE(t.copies.empty() || t.copies.size() == t.parameters.size(), "adamw_: copies has ", t.copies.size(),
                    " tensors but parameters has ", t.parameters.size(),
                    "; it must be empty, or have a tensor for each parameter, without elements where there is no copy");
  t.narrow = narrow_type(t);
  for (std::size_t i = 0; i < t.parameters.size(); ++i) check_one(t, i);
  if (!gradient_norm) return t;
  TORCH_CHECK_VALUE(gradient_norm->dim() == 0, "adamw_: gradient_norm has ", gradient_norm->dim(),
                    " dimensions; it must be a scalar");
  layer_checks::check_same_type(kName, "gradient_norm", *gradient_norm, at::kFloat);
  layer_checks::check_device(kName, "gradient_norm", *gradient_norm, t.parameters[0]);
  return t;
}

void reference(const AdamWTensors& t, std::size_t i, const AdamWOptions& options) {
  const Tensor &parameter = t.parameters[i], &mean = t.means[i], &square_mean = t.square_means[i];
  const at::ScalarType wide = layer_checks::sum_type(parameter.scalar_type());
  t.steps[i].add_(1);
  const Tensor step = t.steps[i].to(at::kDouble);
  const Tensor mean_share = (1 - at::pow(options.beta1, step)).to(wide);
  const Tensor square_share = (1 - at::pow(options.beta2, step)).to(wide);
  Tensor gradient = t.gradients[i].to(wide);
  if (options.gradient_norm.defined())
    gradient = gradient * (options.max_norm / (options.gradient_norm + 1e-6)).clamp_max(1).to(wide);
  const Tensor new_mean = mean.to(wide) * options.beta1 + gradient * (1 - options.beta1);
  const Tensor new_square = square_mean.to(wide) * options.beta2 + gradient * gradient * (1 - options.beta2);
  const Tensor decayed = parameter.to(wide) * (1 - options.learning_rate * options.weight_decay);
  const Tensor denominator = (new_square / square_share).sqrt() + options.epsilon;
  parameter.copy_(decayed - new_mean / mean_share / denominator * options.learning_rate);
  if (has_copy(t, i)) t.copies[i].copy_(parameter);
  mean.copy_(new_mean);
  square_mean.copy_(new_square);
  if (options.zero_gradients) t.gradients[i].zero_();
}

AdamWOptions options_of(double learning_rate, double beta1, double beta2, double epsilon, double weight_decay,
                        const std::optional<Tensor>& gradient_norm, double max_norm, bool zero_gradients) {
  return {.learning_rate = learning_rate,
          .beta1 = beta1,
          .beta2 = beta2,
          .epsilon = epsilon,
          .weight_decay = weight_decay,
          .gradient_norm = gradient_norm.value_or(Tensor()),
          .max_norm = max_norm,
          .zero_gradients = zero_gradients};
}

void update(TensorList parameters, TensorList gradients, TensorList means, TensorList square_means, TensorList steps,
            double learning_rate, double beta1, double beta2, double epsilon, double weight_decay,
            const std::optional<Tensor>& gradient_norm, double max_norm, bool zero_gradients, Copies copies) {
  const AdamWTensors tensors =
      checked({parameters, gradients, means, square_means, steps, copies.value_or(TensorList())}, gradient_norm);
  const AdamWOptions options =
      options_of(learning_rate, beta1, beta2, epsilon, weight_decay, gradient_norm, max_norm, zero_gradients);
  if (layer_kernels::adamw(tensors, options)) return;
  for (std::size_t i = 0; i < parameters.size(); ++i) reference(tensors, i, options);
}

void check_only(TensorList parameters, TensorList gradients, TensorList means, TensorList square_means,
                TensorList steps, double, double, double, double, double, const std::optional<Tensor>& gradient_norm,
                double, bool, Copies copies) {
  checked({parameters, gradients, means, square_means, steps, copies.value_or(TensorList())}, gradient_norm);
}

TORCH_LIBRARY_FRAGMENT(kymo, library) {
  library.def(
      "adamw_(Tensor(a!)[] parameters, Tensor(b!)[] gradients, Tensor(c!)[] means, Tensor(d!)[] square_means, "
      "Tensor(e!)[] steps, float learning_rate=0.001, float beta1=0.9, float beta2=0.999, float epsilon=1e-08, "
      "float weight_decay=0.01, Tensor? gradient_norm=None, float max_norm=1.0, bool zero_gradients=False, "
      "Tensor(f!)[]? copies=None) -> ()",
      {at::Tag::pt2_compliant_tag});
}

TORCH_LIBRARY_IMPL(kymo, CPU, library) { library.impl("adamw_", &update); }
TORCH_LIBRARY_IMPL(kymo, CUDA, library) { library.impl("adamw_", &update); }
TORCH_LIBRARY_IMPL(kymo, Meta, library) { library.impl("adamw_", &check_only); }

}  // namespace
}  // namespace kymo::ops::adamw_layer

namespace kymo::ops {

void adamw_(at::TensorList parameters, at::TensorList gradients, at::TensorList means, at::TensorList square_means,
            at::TensorList steps, const AdamWOptions& options, at::TensorList copies) {
  if (parameters.empty()) return;  // the dispatcher would find no device
  static const auto op = operator_named<adamw_layer::Signature>("kymo::adamw_");
  op.call(parameters, gradients, means, square_means, steps, options.learning_rate, options.beta1, options.beta2,
          options.epsilon, options.weight_decay,
          options.gradient_norm.defined() ? std::optional(options.gradient_norm) : std::nullopt, options.max_norm,
          options.zero_gradients, copies.empty() ? std::nullopt : std::optional(copies));
}

}  // namespace kymo::ops
