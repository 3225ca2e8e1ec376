// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>
#include <ATen/ops/sigmoid.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <kymo/vector_functions.hpp>

#include "ops/dispatch.hpp"
#include "ops/layers.hpp"
#include "ops/layers/checks.hpp"
#include "ops/layers/kernels.hpp"

namespace kymo::ops::swiglu_layer {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kName = "swiglu";

Tensor call_forward(const Tensor& gate_and_up) {
  static const auto op = operator_named<Tensor(const Tensor&)>("kymo::swiglu");
  return op.call(gate_and_up);
}

Tensor call_backward(const Tensor& gradient, const Tensor& gate_and_up) {
  static const auto op = operator_named<Tensor(const Tensor&, const Tensor&)>("kymo::swiglu_backward");
  return op.call(gradient, gate_and_up);
}

Tensor shapes(const Tensor& gate_and_up) {
  layer_checks::check_type(kName, "gate_and_up", gate_and_up);
  TORCH_CHECK_VALUE(gate_and_up.dim() >= 1 && gate_and_up.sym_size(-1) % 2 == 0, "swiglu: gate_and_up is ",
                    gate_and_up.sym_sizes(), "; its last dimension must be even");
  c10::SymDimVector sizes(gate_and_up.sym_sizes());
  sizes.back() = gate_and_up.sym_size(-1) / 2;
  return at::empty_symint(sizes, gate_and_up.options());
}

Tensor forward(const Tensor& gate_and_up) {
  Tensor result = shapes(gate_and_up);
  if (result.numel() == 0) return result;
  if (gate_and_up.is_cpu()) libtorch::settle_vector_functions();
  const Tensor joint = gate_and_up.contiguous();
  if (layer_kernels::swiglu(joint, result)) return result;
  const Tensor wide = joint.to(layer_checks::sum_type(joint.scalar_type()));
  const std::int64_t width = result.size(-1);
  const Tensor gate = wide.narrow(-1, 0, width), up = wide.narrow(-1, width, width);
  return result.copy_(gate.mul(at::sigmoid(gate)).mul(up));
}

Tensor backward_shapes(const Tensor& gradient, const Tensor& gate_and_up) {
  const Tensor result = shapes(gate_and_up);
  layer_checks::check_sizes(kName, "gradient", gradient, result.sym_sizes());
  layer_checks::check_same_type(kName, "gradient", gradient, gate_and_up.scalar_type());
  layer_checks::check_device(kName, "gradient", gradient, gate_and_up);
  return at::empty_symint(gate_and_up.sym_sizes(), gate_and_up.options());
}

/// d silu(g) / dg = s · (1 + g · (1 − s)), where s = sigmoid(g).
Tensor backward(const Tensor& gradient, const Tensor& gate_and_up) {
  Tensor result = backward_shapes(gradient, gate_and_up);
  if (result.numel() == 0) return result;
  if (gate_and_up.is_cpu()) libtorch::settle_vector_functions();
  const Tensor joint = gate_and_up.contiguous(), to = gradient.contiguous();
  if (layer_kernels::swiglu_backward(to, joint, result)) return result;
  const at::ScalarType type = layer_checks::sum_type(joint.scalar_type());
  const Tensor wide = joint.to(type), of_result = to.to(type);
  const std::int64_t width = to.size(-1);
  const Tensor gate = wide.narrow(-1, 0, width), up = wide.narrow(-1, width, width), share = at::sigmoid(gate);
  const Tensor slope = share.mul(gate.mul(share.neg().add(1)).add(1));
  result.narrow(-1, 0, width).copy_(of_result.mul(up).mul(slope));
  result.narrow(-1, width, width).copy_(of_result.mul(gate).mul(share));
  return result;
}

struct Differentiable : torch::autograd::Function<Differentiable> {
  static Tensor forward(AutogradContext* saved, const Tensor& gate_and_up) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    saved->save_for_backward({gate_and_up});
    return call_forward(gate_and_up);
  }

  static variable_list backward(AutogradContext* saved, const variable_list& gradients) {
    const SkipAutogradInBackward skip_autograd;
    return {call_backward(gradients[0], saved->get_saved_variables()[0])};
  }
};

Tensor forward_autograd(const Tensor& gate_and_up) { return Differentiable::apply(gate_and_up); }

void implement(torch::Library& library) {
  library.impl("swiglu", &forward);
  library.impl("swiglu_backward", &backward);
}

TORCH_LIBRARY_FRAGMENT(kymo, library) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  library.def("swiglu(Tensor gate_and_up) -> Tensor", tags);
  library.def("swiglu_backward(Tensor gradient, Tensor gate_and_up) -> Tensor", tags);
}

TORCH_LIBRARY_IMPL(kymo, CPU, library) { implement(library); }
TORCH_LIBRARY_IMPL(kymo, CUDA, library) { implement(library); }
TORCH_LIBRARY_IMPL(kymo, Meta, library) {
  library.impl("swiglu", &shapes);
  library.impl("swiglu_backward", &backward_shapes);
}
TORCH_LIBRARY_IMPL(kymo, Autograd, library) {
  library.impl("swiglu", &forward_autograd);
  library.impl("swiglu_backward", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace
}  // namespace kymo::ops::swiglu_layer

namespace kymo::ops {

at::Tensor swiglu(const at::Tensor& gate_and_up) { return swiglu_layer::call_forward(gate_and_up); }

}  // namespace kymo::ops
