// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/polar.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>
#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>
#include <torch/csrc/autograd/custom_function.h>

#include "ops/layers.hpp"
#include "transformer/model.hpp"

namespace kymo::transformer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Views pairs of the last dimension as complex numbers.
at::Tensor pairs(const at::Tensor& tensor) {
  std::vector<std::int64_t> shape = tensor.sizes().vec();
  shape.back() /= 2;
  shape.push_back(2);
  return at::view_as_complex(tensor.view(shape));
}

/// The same for a tensor of unknown layout: copied if its strides do not allow a view.
at::Tensor pairs_of_any(const at::Tensor& tensor) {
  bool fits = tensor.stride(-1) == 1 && tensor.storage_offset() % 2 == 0;
  for (std::int64_t dim = 0; dim + 1 < tensor.dim(); ++dim) fits = fits && tensor.stride(dim) % 2 == 0;
  return pairs(fits ? tensor : tensor.contiguous());
}

/// Writes `query` and `key`, rotated by `angles`, to to[0] and to[1]. Narrow types are converted to float, for accuracy
/// and because complex requires it.
void rotate(const at::Tensor& to, const at::Tensor& query, const at::Tensor& key, const at::Tensor& angles) {
  if (!ops::is_narrow(to.scalar_type())) {
    at::Tensor query_to = pairs(to.select(0, 0)), key_to = pairs(to.select(0, 1));
    at::mul_out(query_to, pairs_of_any(query), angles);
    at::mul_out(key_to, pairs_of_any(key), angles);
    return;
  }
  at::Tensor wide = at::empty(to.sizes(), to.options().dtype(at::kFloat));
  wide.select(0, 0).copy_(query);
  wide.select(0, 1).copy_(key);
  pairs(wide).mul_(angles);
  to.copy_(wide);
}

/// The same with query and key in one tensor: half as many kernels. `to` may be `from`.
void rotate_both(const at::Tensor& to, const at::Tensor& from, const at::Tensor& angles) {
  if (!ops::is_narrow(to.scalar_type())) {
    at::Tensor target = pairs(to);
    at::mul_out(target, pairs(from), angles);
    return;
  }
  at::Tensor wide = at::empty(from.sizes(), from.options().dtype(at::kFloat)).copy_(from);
  pairs(wide).mul_(angles);
  to.copy_(wide);
}

struct SplitAndRotate : torch::autograd::Function<SplitAndRotate> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& projected, const at::Tensor& rotate_by,
                               const at::Tensor& inverse_rotation, std::int64_t batch, std::int64_t heads,
                               bool in_place) {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    const std::int64_t sequence = projected.size(0) / batch;
    const std::int64_t head_dim = projected.size(1) / (3 * heads);
    at::Tensor parts = projected.view({batch, sequence, 3, heads, head_dim}).permute({2, 0, 3, 1, 4});
    at::Tensor result = in_place ? parts : at::empty({3, batch, heads, sequence, head_dim}, projected.options());
    rotate_both(result.narrow(0, 0, 2), parts.narrow(0, 0, 2), rotate_by);
    if (!in_place) result.select(0, 2).copy_(parts.select(0, 2));
    ctx->saved_data["inverse_rotation"] = inverse_rotation;
    return {result.select(0, 0), result.select(0, 1), result.select(0, 2)};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    const at::Tensor inverse_rotation = ctx->saved_data["inverse_rotation"].toTensor();
    const at::Tensor& query = gradients[0];
    const auto batch = query.size(0), heads = query.size(1), sequence = query.size(2), head_dim = query.size(3);
    at::Tensor whole = at::empty({batch, sequence, 3, heads, head_dim}, query.options());
    at::Tensor parts = whole.permute({2, 0, 3, 1, 4});
    rotate(parts.narrow(0, 0, 2), query, gradients[1], inverse_rotation);
    parts.select(0, 2).copy_(gradients[2]);
    return {whole.view({batch * sequence, 3 * heads * head_dim}), {}, {}, {}, {}, {}};
  }
};

/// The same with fused operators.
struct FusedSplitAndRotate : torch::autograd::Function<FusedSplitAndRotate> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& projected, const at::Tensor& rotation,
                               std::int64_t batch, std::int64_t heads, bool heads_first) {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    const std::int64_t sequence = projected.size(0) / batch;
    const std::int64_t head_dim = projected.size(1) / (3 * heads);
    const at::Tensor joint = projected.view({batch, sequence, 3, heads, head_dim});
    ops::rotary_(joint, at::view_as_real(rotation));
    at::Tensor parts = joint.permute({2, 0, 3, 1, 4});
    if (heads_first) parts = parts.contiguous();
    ctx->saved_data["rotation"] = rotation;
    return {parts.select(0, 0), parts.select(0, 1), parts.select(0, 2)};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    const at::Tensor rotation = at::view_as_real(ctx->saved_data["rotation"].toTensor());
    const at::Tensor joint = ops::rotary_join(gradients[0], gradients[1], gradients[2], rotation, /*inverse=*/true);
    return {joint.view({joint.size(0) * joint.size(1), -1}), {}, {}, {}, {}};
  }
};

struct SwiGlu : torch::autograd::Function<SwiGlu> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& gate_and_up) {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    const std::int64_t width = gate_and_up.size(-1) / 2;
    at::Tensor activated = at::silu(gate_and_up.narrow(-1, 0, width));
    ctx->save_for_backward({gate_and_up, activated});
    return activated.mul(gate_and_up.narrow(-1, width, width));
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &gate_and_up = saved[0], &activated = saved[1], &gradient = gradients[0];
    const std::int64_t width = activated.size(-1);
    at::Tensor result = at::empty_like(gate_and_up);
    at::Tensor to_gate = result.narrow(-1, 0, width), to_up = result.narrow(-1, width, width);
    at::mul_out(to_up, gradient, activated);
    at::silu_backward_out(to_gate, gradient.mul(gate_and_up.narrow(-1, width, width)),
                          gate_and_up.narrow(-1, 0, width));
    return {result};
  }
};

}  // namespace

Rotary make_rotary(std::int64_t positions, std::int64_t head_dim, double theta, const at::TensorOptions& options) {
  const at::TensorOptions exact = at::TensorOptions().dtype(at::kDouble);
  const at::Tensor rates = at::pow(theta, at::arange(0, head_dim, 2, exact).div(-static_cast<double>(head_dim)));
  const at::Tensor angles = at::outer(at::arange(positions, exact), rates);
  const auto kind = options.dtype() == at::kDouble ? at::kComplexDouble : at::kComplexFloat;
  const at::Tensor table = at::polar(at::ones_like(angles), angles).to(kind);
  return {table.to(options.device()), table.conj().resolve_conj().to(options.device())};
}

Rotary first_positions(const Rotary& rotary, std::int64_t count) {
  return {rotary.rotation.narrow(0, 0, count), rotary.inverse_rotation.narrow(0, 0, count)};
}

std::array<at::Tensor, 3> split_and_rotate(const at::Tensor& projected, const Rotary& rotary, std::int64_t batch,
                                           std::int64_t heads, Layout layout, bool fused) {
  const bool tokens_first = layout == Layout::kTokensFirst;
  const variable_list parts =
      fused ? FusedSplitAndRotate::apply(projected, rotary.rotation, batch, heads, !tokens_first)
            : SplitAndRotate::apply(projected, rotary.rotation, rotary.inverse_rotation, batch, heads, tokens_first);
  return {parts[0], parts[1], parts[2]};
}

at::Tensor swiglu(const at::Tensor& gate_and_up) { return SwiGlu::apply(gate_and_up); }

}  // namespace kymo::transformer
