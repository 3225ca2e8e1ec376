// SPDX-License-Identifier: Apache-2.0
// The work of a call of each operator by its arguments, for kymo.
#include <kymo_operators.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace kymo::ops {
namespace {

using Argument = kymo_operator_argument;
using Work = std::optional<kymo_operator_work>;

/// The arguments of a call by their positions in the schema.
class Arguments {
 public:
  explicit Arguments(const kymo_operator_call& call) : call_(call) {}

  /// A tensor or a list of tensors.
  const Argument* tensors(std::uint32_t position) const {
    const Argument* const found = at(position);
    return found && (found->kind == KYMO_TENSOR || found->kind == KYMO_TENSOR_LIST) ? found : nullptr;
  }
  bool flag(std::uint32_t position) const {
    const Argument* const found = at(position);
    return found && found->kind == KYMO_INTEGERS && found->count == 1 && found->values[0] != 0;
  }
  double bytes(std::uint32_t position) const { return tensors(position) ? tensors(position)->bytes : 0; }
  double total_bytes() const {
    double sum = 0;
    for (std::uint32_t i = 0; i < call_.argument_count; ++i) sum += bytes(i);
    return sum;
  }

 private:
  const Argument* at(std::uint32_t position) const {
    return position < call_.argument_count ? &call_.arguments[position] : nullptr;
  }

  const kymo_operator_call& call_;
};

/// The size of a dimension, counted from the last one, which is 1.
double size_from_end(const Argument& tensor, std::uint32_t dimension) {
  return dimension <= tensor.count ? static_cast<double>(tensor.values[tensor.count - dimension]) : 0;
}

kymo_operator_work work(const char* kind, const Argument& like, double flops, double bytes) {
  return {kind, like.dtype, flops, flops, flops, bytes};
}

/// The last query sees all keys, each one before it one less.
double causal_scores(double queries, double keys) {
  const double seeing = std::min(queries, keys);  // queries that see a key
  return seeing * (keys - seeing + 1) + seeing * (seeing - 1) / 2;
}

/// Query, key and value from `first` on. The forward pass has two products of queries × keys × head size; the backward
/// pass executes five, of which the model needs four. It reads the output and its gradient as well, and writes the
/// gradients of the operands.
Work attention(const Arguments& arguments, std::uint32_t first, bool causal, bool backward) {
  const auto *query = arguments.tensors(first), *key = arguments.tensors(first + 1),
             *value = arguments.tensors(first + 2);
  if (!query || !key || !value || query->count < 3) return std::nullopt;
  const double queries = size_from_end(*query, 2), keys = size_from_end(*key, 2);
  const double width = size_from_end(*query, 1), value_width = size_from_end(*value, 1);
  const double heads = queries * width > 0 ? query->elements / queries / width : 0;
  const double per_score = 2 * (width + value_width);
  const double all = heads * queries * keys * per_score;
  const double seen = causal ? heads * causal_scores(queries, keys) * per_score : all;
  const double operands = query->bytes + key->bytes + value->bytes;
  const double result = heads * queries * value_width * query->element_bytes, log_sum_exp = heads * queries * 4;
  if (!backward) return kymo_operator_work{"attention", query->dtype, seen, all, seen, operands + result + log_sum_exp};
  return kymo_operator_work{"attention", query->dtype, 2.5 * seen,
                            2 * all,     2 * seen,     2 * operands + 2 * result + log_sum_exp};
}

Work attention_forward(const Arguments& arguments) { return attention(arguments, 0, arguments.flag(3), false); }

Work attention_backward(const Arguments& arguments) { return attention(arguments, 1, arguments.flag(6), true); }

/// Mean square 2, quotient 1, scale 1.
Work rms_norm(const Arguments& arguments) {
  const auto* const x = arguments.tensors(0);
  if (!x) return std::nullopt;
  return work("normalization", *x, 4 * x->elements, arguments.total_bytes() + x->bytes);
}

/// One more operation for the sum, which is a second result.
Work add_rms_norm(const Arguments& arguments) {
  const auto *x = arguments.tensors(0), *residual = arguments.tensors(1);
  if (!x || !residual) return std::nullopt;
  return work("normalization", *x, 5 * x->elements, arguments.total_bytes() + x->bytes + residual->bytes);
}

/// Gradient, gradient of the sum or None, x, weight.
Work rms_norm_backward(const Arguments& arguments) {
  const auto *x = arguments.tensors(2), *weight = arguments.tensors(3);
  if (!x || !weight) return std::nullopt;
  const double per_element = arguments.tensors(1) ? 10 : 9;
  return work("normalization", *x, per_element * x->elements, arguments.total_bytes() + x->bytes + weight->bytes);
}

/// Per element of the result: sigmoid 4, products 2.
Work swiglu(const Arguments& arguments) {
  const auto* const joint = arguments.tensors(0);
  if (!joint) return std::nullopt;
  return work("elementwise", *joint, 6 * joint->elements / 2, joint->bytes * 3 / 2);
}

/// Per element of the gradient: sigmoid 4, products 5, difference and sum 2.
Work swiglu_backward(const Arguments& arguments) {
  const auto *gradient = arguments.tensors(0), *joint = arguments.tensors(1);
  if (!gradient || !joint) return std::nullopt;
  return work("elementwise", *joint, 11 * gradient->elements, gradient->bytes + 2 * joint->bytes);
}

/// Two products and a sum for each element of query and key, which are two thirds of the joint tensor.
Work rotary(const Arguments& arguments) {
  const auto *joint = arguments.tensors(0), *rotation = arguments.tensors(1);
  if (!joint || !rotation) return std::nullopt;
  return work("elementwise", *joint, 3 * joint->elements * 2 / 3, 2 * joint->bytes + rotation->bytes);
}

/// The value is not touched.
Work rotary_in_place(const Arguments& arguments) {
  Work result = rotary(arguments);
  if (result) result->bytes -= arguments.bytes(0) * 2 / 3;
  return result;
}

Work rotary_join(const Arguments& arguments) {
  const auto *query = arguments.tensors(0), *key = arguments.tensors(1), *value = arguments.tensors(2),
             *rotation = arguments.tensors(3);
  if (!query || !key || !value || !rotation) return std::nullopt;
  return work("elementwise", *query, 3 * (query->elements + key->elements),
              2 * (query->bytes + key->bytes + value->bytes) + rotation->bytes);
}

/// Input, weight of classes × inputs, target, rows at a time, and which of the gradients of input and weight are
/// wanted. The softmax has 5 operations for each logit. Logits are not counted as bytes.
Work linear_cross_entropy(const Arguments& arguments) {
  const auto *input = arguments.tensors(0), *weight = arguments.tensors(1), *target = arguments.tensors(2);
  if (!input || !weight || !target || weight->count != 2) return std::nullopt;
  const double to_input = arguments.flag(4) ? 1 : 0, to_weight = arguments.flag(5) ? 1 : 0;
  const double classes = size_from_end(*weight, 2);
  const double products = (1 + to_input + to_weight) * 2 * input->elements * classes;
  return work("matmul", *input, products + 5 * target->elements * classes,
              input->bytes * (1 + to_input) + weight->bytes * (1 + to_weight) + target->bytes);
}

/// Parameters, gradients, means and square means: all are read, all but the gradients are written, as are the copies.
/// Decay 1, mean 3, square mean 4, denominator 3, update 3.
Work adamw(const Arguments& arguments) {
  constexpr std::uint32_t kCopies = 13;
  const auto *parameters = arguments.tensors(0), *gradients = arguments.tensors(1);
  if (!parameters || !gradients) return std::nullopt;
  const double read = parameters->bytes + gradients->bytes + arguments.bytes(2) + arguments.bytes(3);
  return work("optimizer", *parameters, 14 * parameters->elements,
              2 * read - gradients->bytes + arguments.bytes(kCopies));
}

struct Operator {
  std::string_view name;
  Work (*work)(const Arguments&);
};

constexpr Operator kOperators[] = {
    {"attention", attention_forward},
    {"attention_forward", attention_forward},
    {"attention_backward", attention_backward},
    {"rms_norm", rms_norm},
    {"add_rms_norm", add_rms_norm},
    {"rms_norm_backward", rms_norm_backward},
    {"swiglu", swiglu},
    {"swiglu_backward", swiglu_backward},
    {"rotary", rotary},
    {"rotary_", rotary_in_place},
    {"rotary_join", rotary_join},
    {"linear_cross_entropy_forward", linear_cross_entropy},
    {"adamw_", adamw},
};

}  // namespace
}  // namespace kymo::ops

extern "C" __attribute__((visibility("default"))) std::int32_t kymo_operator_work_v1(const kymo_operator_call* call,
                                                                                     kymo_operator_work* out) {
  constexpr std::string_view kLibrary = "kymo::";
  std::string_view name = call->name;
  if (!name.starts_with(kLibrary)) return 0;
  name.remove_prefix(kLibrary.size());
  const auto* const found = std::ranges::find(kymo::ops::kOperators, name, &kymo::ops::Operator::name);
  if (found == std::end(kymo::ops::kOperators)) return 0;
  if (const auto work = found->work(kymo::ops::Arguments(*call))) *out = *work;
  return 1;
}
