// SPDX-License-Identifier: Apache-2.0
// A chunk of tokens at a time: logits (matrix product) ─► losses and gradient of the logits in place (one kernel)
// ─► gradient of x, and contribution to the gradient of the weight (two matrix products).
#include <ATen/autocast_mode.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mm.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/library.h>

#include <algorithm>
#include <kymo/vector_functions.hpp>

#include "ops/dispatch.hpp"
#include "ops/layers.hpp"
#include "ops/layers/checks.hpp"
#include "ops/layers/kernels.hpp"

namespace kymo::ops::linear_cross_entropy_layer {
namespace {

using at::Tensor;
using Triple = std::tuple<Tensor, Tensor, Tensor>;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kName = "linear_cross_entropy";
constexpr std::int64_t kRowAlignmentBytes = 16;
constexpr std::int64_t kChunkBytes = std::int64_t{256} << 20;
constexpr std::int64_t kFewestRows = 1024;

using Signature = Tensor(const Tensor&, const Tensor&, const Tensor&, std::int64_t);
using ForwardSignature = Triple(const Tensor&, const Tensor&, const Tensor&, std::int64_t, bool, bool);

Tensor call_loss(const Tensor& x, const Tensor& weight, const Tensor& target, std::int64_t chunk_rows) {
  static const auto op = operator_named<Signature>("kymo::linear_cross_entropy");
  return op.call(x, weight, target, chunk_rows);
}

Triple call_forward(const Tensor& x, const Tensor& weight, const Tensor& target, std::int64_t chunk_rows,
                    bool x_gradient, bool weight_gradient) {
  static const auto op = operator_named<ForwardSignature>("kymo::linear_cross_entropy_forward");
  return op.call(x, weight, target, chunk_rows, x_gradient, weight_gradient);
}

void check(const Tensor& x, const Tensor& weight, const Tensor& target, std::int64_t chunk_rows) {
  layer_checks::check_type(kName, "x", x);
  TORCH_CHECK_VALUE(x.dim() == 2, kName, ": x is ", x.sym_sizes(), "; it must be [tokens, width]");
  TORCH_CHECK_VALUE(weight.dim() == 2 && weight.sym_size(1) == x.sym_size(1) && weight.sym_size(0) >= 1, kName,
                    ": weight is ", weight.sym_sizes(), "; it must be [classes, ", x.sym_size(1), "]");
  layer_checks::check_type_or_float(kName, "weight", weight, x.scalar_type());
  layer_checks::check_device(kName, "weight", weight, x);
  layer_checks::check_sizes(kName, "target", target, {x.sym_size(0)});
  layer_checks::check_same_type(kName, "target", target, at::kLong);
  layer_checks::check_device(kName, "target", target, x);
  TORCH_CHECK_VALUE(chunk_rows >= 0, kName, ": chunk_rows is ", chunk_rows, "; it must be at least 0");
}

/// Rows start on 16-byte boundaries.
std::int64_t row_stride(std::int64_t classes, std::int64_t element_bytes) {
  const std::int64_t step = kRowAlignmentBytes / element_bytes;
  return (classes + step - 1) / step * step;
}

/// `free_bytes`: memory that the backward pass needs anyway.
std::int64_t rows_of_chunk(std::int64_t given, std::int64_t tokens, std::int64_t row_bytes, std::int64_t free_bytes) {
  const std::int64_t rows =
      given > 0 ? given : std::max(kFewestRows, std::max(kChunkBytes, free_bytes) / row_bytes / 128 * 128);
  return std::clamp<std::int64_t>(rows, 1, std::max<std::int64_t>(tokens, 1));
}

void reference(const Tensor& logits, const Tensor& target, const Tensor& losses, double scale) {
  const Tensor wide = logits.to(losses.scalar_type()), index = target.unsqueeze(1);
  const Tensor normaliser = at::logsumexp(wide, 1, /*keepdim=*/true);
  losses.copy_(normaliser.sub(wide.gather(1, index)).squeeze(1));
  if (scale == 0) return;
  const Tensor weights = wide.sub(normaliser).exp_();
  const Tensor hit = weights.gather(1, index).sub_(1);
  logits.copy_(weights.scatter_(1, index, hit).mul_(scale));
}

/// total (+)= left · right, in the type of `total`, which is that of the operands or fp32.
void accumulate(Tensor& total, const Tensor& left, const Tensor& right, bool first) {
  if (total.scalar_type() != left.scalar_type() && total.is_cuda()) {
    if (first)
      at::mm_out(total, left, right, total.scalar_type());
    else
      at::addmm_out(total, total, left, right, total.scalar_type());
    return;
  }
  const Tensor a = left.to(total.scalar_type()), b = right.to(total.scalar_type());
  if (first)
    at::mm_out(total, a, b);
  else
    total.addmm_(a, b);
}

/// In the type of sums: what multiplies them later is rounded once only.
struct Gradients {
  Tensor x, weight;  ///< undefined if not required
};

/// Computes `losses` and the gradients of their mean.
void run_chunks(const Tensor& x, const Tensor& weight, const Tensor& target, std::int64_t chunk, const Tensor& losses,
                Gradients& gradients) {
  const std::int64_t tokens = x.size(0), classes = weight.size(0);
  const bool with_gradients = gradients.x.defined() || gradients.weight.defined();
  const double scale = with_gradients ? 1 / static_cast<double>(tokens) : 0;
  const Tensor buffer =
      at::empty({chunk, row_stride(classes, static_cast<std::int64_t>(x.element_size()))}, x.options());
  if (buffer.is_meta()) return;  // the kernels need no other memory
  for (std::int64_t first = 0; first < tokens; first += chunk) {
    const std::int64_t rows = std::min(chunk, tokens - first);
    Tensor logits = buffer.narrow(0, 0, rows).narrow(1, 0, classes);
    const Tensor part = x.narrow(0, first, rows);
    const Tensor labels = target.narrow(0, first, rows), to = losses.narrow(0, first, rows);
    at::mm_out(logits, part, weight.t());
    if (!layer_kernels::cross_entropy(logits, labels, to, scale)) reference(logits, labels, to, scale);
    if (gradients.x.defined()) {
      Tensor of_part = gradients.x.narrow(0, first, rows);
      accumulate(of_part, logits, weight, true);
    }
    if (gradients.weight.defined()) accumulate(gradients.weight, logits.t(), part, first == 0);
  }
}

Triple forward(const Tensor& x, const Tensor& weight, const Tensor& target, std::int64_t chunk_rows, bool x_gradient,
               bool weight_gradient) {
  check(x, weight, target, chunk_rows);
  if (x.is_cpu()) libtorch::settle_vector_functions();
  const std::int64_t tokens = x.size(0);
  const Tensor losses = at::empty({tokens}, x.options().dtype(layer_checks::sum_type(x.scalar_type())));
  const std::int64_t row_bytes = weight.size(0) * static_cast<std::int64_t>(x.element_size());
  // Several chunks need a sum in fp32: where it would take as much memory as all logits, one chunk is faster.
  const bool is_one_chunk = chunk_rows == 0 && weight_gradient && weight.scalar_type() == x.scalar_type() &&
                            tokens * row_bytes <= weight.numel() * static_cast<std::int64_t>(sizeof(float));
  // Each chunk reads and writes the sum, so that fewer are faster: their logits may take the memory that the backward
  // pass needs for the rounded gradient.
  const bool rounds = weight_gradient && is_narrow(weight.scalar_type());
  const std::int64_t chunk = rows_of_chunk(is_one_chunk ? tokens : chunk_rows, tokens, row_bytes,
                                           rounds ? static_cast<std::int64_t>(weight.nbytes()) : 0);
  const at::TensorOptions sums = x.options().dtype(layer_checks::sum_type(x.scalar_type()));
  Gradients gradients;
  if (x_gradient) gradients.x = at::empty(x.sizes(), sums);
  if (weight_gradient)
    gradients.weight = tokens > 0 ? at::empty(weight.sizes(), sums) : at::zeros(weight.sizes(), sums);
  run_chunks(x.contiguous(), weight.to(x.scalar_type()).contiguous(), target.contiguous(), chunk, losses, gradients);
  const auto result = [&](const Tensor& gradient) { return gradient.defined() ? gradient : at::empty({0}, sums); };
  return {losses.mean(), result(gradients.x), result(gradients.weight)};
}

Triple forward_shapes(const Tensor& x, const Tensor& weight, const Tensor& target, std::int64_t chunk_rows,
                      bool x_gradient, bool weight_gradient) {
  if (!x.unsafeGetTensorImpl()->has_symbolic_sizes_strides() &&
      !weight.unsafeGetTensorImpl()->has_symbolic_sizes_strides())
    return forward(x, weight, target, chunk_rows, x_gradient, weight_gradient);  // with the memory that it takes
  check(x, weight, target, chunk_rows);
  const auto shaped = [](const Tensor& like, bool required) {
    const auto options = like.options().dtype(layer_checks::sum_type(like.scalar_type()));
    return required ? at::empty_symint(like.sym_sizes(), options) : at::empty({0}, options);
  };
  return {at::empty({}, x.options().dtype(layer_checks::sum_type(x.scalar_type()))), shaped(x, x_gradient),
          shaped(weight, weight_gradient)};
}

Tensor loss_alone(const Tensor& x, const Tensor& weight, const Tensor& target, std::int64_t chunk_rows) {
  return std::get<0>(call_forward(x, weight, target, chunk_rows, false, false));
}

/// Saves the gradients instead of the inputs. Each backward pass scales and rounds them, the last one in place if they
/// have the type of the inputs.
struct Differentiable : torch::autograd::Function<Differentiable> {
  static Tensor forward(AutogradContext* saved, const Tensor& x, const Tensor& weight, const Tensor& target,
                        std::int64_t chunk_rows, bool x_gradient, bool weight_gradient) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    auto [loss, of_x, of_weight] = call_forward(x, weight, target, chunk_rows, x_gradient, weight_gradient);
    if (x_gradient) saved->saved_data["x"] = std::move(of_x);
    if (weight_gradient) saved->saved_data["weight"] = std::move(of_weight);
    saved->saved_data["x_type"] = static_cast<std::int64_t>(x.scalar_type());
    saved->saved_data["weight_type"] = static_cast<std::int64_t>(weight.scalar_type());
    saved->saved_data["unused"] = true;
    return loss;
  }

  static variable_list backward(AutogradContext* saved, const variable_list& gradients) {
    TORCH_CHECK(saved->saved_data.find("unused") != saved->saved_data.end(), kName,
                ": backward already used the gradients of this call; pass retain_graph, or call the operator again");
    const bool is_last = !torch::autograd::get_current_graph_task_keep_graph();
    if (is_last) saved->saved_data.erase("unused");
    const auto take = [&](const char* name, const char* type_name) -> Tensor {
      const auto found = saved->saved_data.find(name);
      if (found == saved->saved_data.end()) return {};
      Tensor gradient = found->second.toTensor();
      const auto type = static_cast<at::ScalarType>(saved->saved_data[type_name].toInt());
      if (is_last) saved->saved_data.erase(found);
      if (is_last && gradient.scalar_type() == type) return gradient.mul_(gradients[0]);
      Tensor result = at::empty(gradient.sizes(), gradient.options().dtype(type));
      // LibTorch's product of one type with a result of another takes 2.6 times as long.
      return layer_kernels::scale(gradient, gradients[0], result) ? result
                                                                  : at::mul_out(result, gradient, gradients[0]);
    };
    return {take("x", "x_type"), take("weight", "weight_type"), Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

Tensor loss_autograd(const Tensor& x, const Tensor& weight, const Tensor& target, std::int64_t chunk_rows) {
  const bool recorded = at::GradMode::is_enabled();
  const bool x_gradient = recorded && x.requires_grad(), weight_gradient = recorded && weight.requires_grad();
  return Differentiable::apply(x, weight, target, chunk_rows, x_gradient, weight_gradient);
}

/// The product has the autocast type, like that of LibTorch's linear, and the loss is fp32. The weight is cast inside,
/// so that its gradient is summed and returned in fp32.
template <at::DeviceType device>
Tensor loss_autocast(const Tensor& x, const Tensor& weight, const Tensor& target, std::int64_t chunk_rows) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(
      at::autocast::get_autocast_dispatch_key_from_device_type(device));
  const at::ScalarType type = at::autocast::get_autocast_dtype(device);
  const Tensor narrow = at::autocast::cached_cast(type, x, device);
  const bool fits = weight.scalar_type() == at::kFloat || weight.scalar_type() == narrow.scalar_type();
  return call_loss(narrow, fits ? weight : at::autocast::cached_cast(type, weight, device), target, chunk_rows);
}

void implement(torch::Library& library) {
  library.impl("linear_cross_entropy", &loss_alone);
  library.impl("linear_cross_entropy_forward", &forward);
}

TORCH_LIBRARY_FRAGMENT(kymo, library) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  library.def("linear_cross_entropy(Tensor x, Tensor weight, Tensor target, int chunk_rows=0) -> Tensor", tags);
  library.def(
      "linear_cross_entropy_forward(Tensor x, Tensor weight, Tensor target, int chunk_rows=0, bool x_gradient=False, "
      "bool weight_gradient=False) -> (Tensor loss, Tensor of_x, Tensor of_weight)",
      tags);
}

TORCH_LIBRARY_IMPL(kymo, CPU, library) { implement(library); }
TORCH_LIBRARY_IMPL(kymo, CUDA, library) { implement(library); }
TORCH_LIBRARY_IMPL(kymo, Meta, library) {
  library.impl("linear_cross_entropy", &loss_alone);
  library.impl("linear_cross_entropy_forward", &forward_shapes);
}
TORCH_LIBRARY_IMPL(kymo, Autograd, library) {
  library.impl("linear_cross_entropy", &loss_autograd);
  library.impl("linear_cross_entropy_forward", torch::autograd::autogradNotImplementedFallback());
}
TORCH_LIBRARY_IMPL(kymo, AutocastCPU, library) { library.impl("linear_cross_entropy", &loss_autocast<at::kCPU>); }
TORCH_LIBRARY_IMPL(kymo, AutocastCUDA, library) { library.impl("linear_cross_entropy", &loss_autocast<at::kCUDA>); }

}  // namespace
}  // namespace kymo::ops::linear_cross_entropy_layer

namespace kymo::ops {

at::Tensor linear_cross_entropy(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& target,
                                std::int64_t chunk_rows) {
  return linear_cross_entropy_layer::call_loss(x, weight, target, chunk_rows);
}

}  // namespace kymo::ops
