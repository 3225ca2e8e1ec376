// SPDX-License-Identifier: Apache-2.0
// The fused layers of kymo_ops.
#include "analysis/call_work.hpp"
#include "analysis/operator_counts.hpp"

namespace kymo::analysis::count {

using event::WorkKind;

Result added_normalization(const Call& call) {
  const auto *x = call.tensor(0), *residual = call.tensor(1);
  if (!x || !residual) return std::nullopt;
  return work(WorkKind::kNormalization, x->dtype, call.flops_per_element * x->elements,
              total_bytes(call.arguments.tensors()) + x->bytes + residual->bytes);
}

Result added_normalization_backward(const Call& call) {
  const auto *x = call.tensor(2), *weight = call.tensor(3);
  if (!x || !weight) return std::nullopt;
  const double added = call.tensor(1) ? 1 : 0;
  return work(WorkKind::kNormalization, x->dtype, (call.flops_per_element + added) * x->elements,
              total_bytes(call.arguments.tensors()) + x->bytes + weight->bytes);
}

Result swiglu(const Call& call) {
  const auto* const joint = call.tensor(0);
  if (!joint) return std::nullopt;
  return work(WorkKind::kElementwise, joint->dtype, call.flops_per_element * joint->elements / 2, joint->bytes * 3 / 2);
}

Result swiglu_backward(const Call& call) {
  const auto *gradient = call.tensor(0), *joint = call.tensor(1);
  if (!gradient || !joint) return std::nullopt;
  return work(WorkKind::kElementwise, joint->dtype, call.flops_per_element * gradient->elements,
              gradient->bytes + 2 * joint->bytes);
}

Result rotary(const Call& call) {
  const auto *joint = call.tensor(0), *rotation = call.tensor(1);
  if (!joint || !rotation) return std::nullopt;
  return work(WorkKind::kElementwise, joint->dtype, call.flops_per_element * joint->elements * 2 / 3,
              2 * joint->bytes + rotation->bytes);
}

Result rotary_in_place(const Call& call) {
  auto result = rotary(call);
  if (result) *result->bytes -= call.tensor(0)->bytes * 2 / 3;
  return result;
}

Result rotary_join(const Call& call) {
  const auto *query = call.tensor(0), *key = call.tensor(1), *value = call.tensor(2), *rotation = call.tensor(3);
  if (!query || !key || !value || !rotation) return std::nullopt;
  return work(WorkKind::kElementwise, query->dtype, call.flops_per_element * (query->elements + key->elements),
              2 * (query->bytes + key->bytes + value->bytes) + rotation->bytes);
}

Result linear_cross_entropy(const Call& call) {
  const auto *input = call.tensor(0), *weight = call.tensor(1), *target = call.tensor(2);
  if (!input || !weight || !target || weight->dimensions() != 2) return std::nullopt;
  const bool to_input = call.arguments.integer(4, 0) != 0, to_weight = call.arguments.integer(5, 0) != 0;
  const double products = 1 + (to_input ? 1 : 0) + (to_weight ? 1 : 0);
  const double softmax = call.flops_per_element * target->elements * weight->size(0);
  return work(WorkKind::kMatmul, input->dtype, products * 2 * input->elements * weight->size(0) + softmax,
              input->bytes * (to_input ? 2 : 1) + weight->bytes * (to_weight ? 2 : 1) + target->bytes);
}

}  // namespace kymo::analysis::count
