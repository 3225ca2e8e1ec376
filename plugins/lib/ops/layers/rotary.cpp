// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include "ops/dispatch.hpp"
#include "ops/layers.hpp"
#include "ops/layers/checks.hpp"
#include "ops/layers/kernels.hpp"

namespace kymo::ops::rotary_layer {
namespace {

using at::Tensor;
using layer_kernels::RotaryTensors;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr const char* kName = "rotary";

Tensor call_rotary(const Tensor& qkv, const Tensor& rotation, bool inverse) {
  static const auto op = operator_named<Tensor(const Tensor&, const Tensor&, bool)>("kymo::rotary");
  return op.call(qkv, rotation, inverse);
}

void call_in_place(const Tensor& qkv, const Tensor& rotation, bool inverse) {
  static const auto op = operator_named<void(const Tensor&, const Tensor&, bool)>("kymo::rotary_");
  op.call(qkv, rotation, inverse);
}

Tensor call_join(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& rotation, bool inverse) {
  static const auto op =
      operator_named<Tensor(const Tensor&, const Tensor&, const Tensor&, const Tensor&, bool)>("kymo::rotary_join");
  return op.call(query, key, value, rotation, inverse);
}

void check_rotation(const Tensor& rotation, const Tensor& like, const c10::SymInt& sequence, const c10::SymInt& width) {
  layer_checks::check_type(kName, "qkv", like);
  TORCH_CHECK_VALUE(width % 2 == 0, "rotary: d is ", width, "; it must be even");
  const std::array<c10::SymInt, 3> sizes{sequence, width / 2, c10::SymInt(2)};
  layer_checks::check_sizes(kName, "rotation", rotation, sizes);
  layer_checks::check_same_type(kName, "rotation", rotation, layer_checks::sum_type(like.scalar_type()));
  layer_checks::check_device(kName, "rotation", rotation, like);
}

void check_joint(const Tensor& qkv, const Tensor& rotation) {
  TORCH_CHECK_VALUE(qkv.dim() == 5 && qkv.sym_size(2) == 3, "rotary: qkv is ", qkv.sym_sizes(),
                    "; it must be [batch, sequence, 3, heads, d]");
  check_rotation(rotation, qkv, qkv.sym_size(1), qkv.sym_size(4));
}

/// Query, key or value of a joint tensor as [batch, heads, sequence, d].
Tensor part(const Tensor& joint, std::int64_t index) { return joint.select(2, index).transpose(1, 2); }

/// Computes (even · cos − odd · sin, even · sin + odd · cos) for each pair.
void reference_rotate(const Tensor& from, const Tensor& to, const Tensor& rotation, bool inverse) {
  const Tensor wide = from.to(rotation.scalar_type());
  const std::int64_t pairs = wide.size(-1) / 2;
  const Tensor by_pair = wide.reshape({wide.size(0), wide.size(1), wide.size(2), pairs, 2});
  const Tensor even = by_pair.select(-1, 0), odd = by_pair.select(-1, 1), cosine = rotation.select(-1, 0);
  const Tensor sine = inverse ? rotation.select(-1, 1).neg() : rotation.select(-1, 1);
  Tensor rotated = at::empty_like(by_pair, at::MemoryFormat::Contiguous);
  rotated.select(-1, 0).copy_(even.mul(cosine).sub(odd.mul(sine)));
  rotated.select(-1, 1).copy_(even.mul(sine).add(odd.mul(cosine)));
  to.copy_(rotated.view(wide.sizes()));
}

void run(const RotaryTensors& tensors) {
  if (tensors.joint.numel() == 0 || layer_kernels::rotary(tensors)) return;
  reference_rotate(tensors.query, part(tensors.joint, 0), tensors.rotation, tensors.inverse);
  reference_rotate(tensors.key, part(tensors.joint, 1), tensors.rotation, tensors.inverse);
  if (tensors.value.defined()) part(tensors.joint, 2).copy_(tensors.value);
}

Tensor rotary_shapes(const Tensor& qkv, const Tensor& rotation, bool) {
  check_joint(qkv, rotation);
  return at::empty_symint(qkv.sym_sizes(), qkv.options());
}

Tensor rotary(const Tensor& qkv, const Tensor& rotation, bool inverse) {
  Tensor result = rotary_shapes(qkv, rotation, inverse);
  run({part(qkv, 0), part(qkv, 1), part(qkv, 2), rotation.contiguous(), result, inverse});
  return result;
}

void in_place_shapes(const Tensor& qkv, const Tensor& rotation, bool) {
  check_joint(qkv, rotation);
  TORCH_CHECK_VALUE(qkv.is_contiguous(), "rotary_: qkv is not contiguous; use rotary");
}

void in_place(const Tensor& qkv, const Tensor& rotation, bool inverse) {
  in_place_shapes(qkv, rotation, inverse);
  run({part(qkv, 0), part(qkv, 1), Tensor(), rotation.contiguous(), qkv, inverse});
}

Tensor join_shapes(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& rotation, bool) {
  TORCH_CHECK_VALUE(query.dim() == 4, "rotary: query is ", query.sym_sizes(),
                    "; it must be [batch, heads, sequence, d]");
  for (const auto& [name, tensor] : {std::pair{"key", &key}, {"value", &value}}) {
    layer_checks::check_sizes(kName, name, *tensor, query.sym_sizes());
    layer_checks::check_same_type(kName, name, *tensor, query.scalar_type());
    layer_checks::check_device(kName, name, *tensor, query);
  }
  check_rotation(rotation, query, query.sym_size(2), query.sym_size(3));
  return at::empty_symint({query.sym_size(0), query.sym_size(2), c10::SymInt(3), query.sym_size(1), query.sym_size(3)},
                          query.options());
}

Tensor join(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& rotation, bool inverse) {
  Tensor result = join_shapes(query, key, value, rotation, inverse);
  run({query, key, value, rotation.contiguous(), result, inverse});
  return result;
}

/// The rotation is orthogonal: its gradient is the inverse rotation.
struct Differentiable : torch::autograd::Function<Differentiable> {
  static Tensor forward(AutogradContext* saved, const Tensor& qkv, const Tensor& rotation, bool inverse) {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    saved->saved_data["rotation"] = rotation;
    saved->saved_data["inverse"] = inverse;
    return call_rotary(qkv, rotation, inverse);
  }

  static variable_list backward(AutogradContext* saved, const variable_list& gradients) {
    const Tensor rotation = saved->saved_data["rotation"].toTensor();
    return {call_rotary(gradients[0], rotation, !saved->saved_data["inverse"].toBool()), Tensor(), Tensor()};
  }
};

Tensor rotary_autograd(const Tensor& qkv, const Tensor& rotation, bool inverse) {
  TORCH_CHECK_VALUE(!rotation.requires_grad(), "rotary: rotation requires a gradient; it must be a constant");
  return Differentiable::apply(qkv, rotation, inverse);
}

void implement(torch::Library& library) {
  library.impl("rotary", &rotary);
  library.impl("rotary_", &in_place);
  library.impl("rotary_join", &join);
}

TORCH_LIBRARY_FRAGMENT(kymo, library) {
  const std::vector<at::Tag> tags{at::Tag::pt2_compliant_tag};
  library.def("rotary(Tensor qkv, Tensor rotation, bool inverse=False) -> Tensor", tags);
  library.def("rotary_(Tensor(a!) qkv, Tensor rotation, bool inverse=False) -> ()", tags);
  library.def("rotary_join(Tensor query, Tensor key, Tensor value, Tensor rotation, bool inverse=False) -> Tensor",
              tags);
}

TORCH_LIBRARY_IMPL(kymo, CPU, library) { implement(library); }
TORCH_LIBRARY_IMPL(kymo, CUDA, library) { implement(library); }
TORCH_LIBRARY_IMPL(kymo, Meta, library) {
  library.impl("rotary", &rotary_shapes);
  library.impl("rotary_", &in_place_shapes);
  library.impl("rotary_join", &join_shapes);
}
TORCH_LIBRARY_IMPL(kymo, Autograd, library) {
  library.impl("rotary", &rotary_autograd);
  library.impl("rotary_", torch::autograd::autogradNotImplementedFallback());
  library.impl("rotary_join", torch::autograd::autogradNotImplementedFallback());
}

}  // namespace
}  // namespace kymo::ops::rotary_layer

namespace kymo::ops {

at::Tensor rotary(const at::Tensor& qkv, const at::Tensor& rotation, bool inverse) {
  return rotary_layer::call_rotary(qkv, rotation, inverse);
}

void rotary_(const at::Tensor& qkv, const at::Tensor& rotation, bool inverse) {
  rotary_layer::call_in_place(qkv, rotation, inverse);
}

at::Tensor rotary_join(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                       const at::Tensor& rotation, bool inverse) {
  return rotary_layer::call_join(query, key, value, rotation, inverse);
}

}  // namespace kymo::ops
