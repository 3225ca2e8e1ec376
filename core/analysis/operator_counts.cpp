// SPDX-License-Identifier: Apache-2.0
#include "analysis/operator_counts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kymo::analysis::count {
namespace {

using event::CallWork;
using event::WorkKind;

double total_bytes(const std::vector<const TensorArgument*>& tensors) {
  double bytes = 0;
  for (const TensorArgument* each : tensors) bytes += each->bytes;
  return bytes;
}

/// The kinds of types in the order in which LibTorch promotes them.
int promotion_rank(std::string_view dtype) {
  constexpr auto kOrder = std::to_array<std::string_view>(
      {"bool", "u8", "i8", "i16", "i32", "i64", "f8", "bf16", "f16", "f32", "f64", "c64", "c128"});
  return static_cast<int>(std::ranges::find(kOrder, dtype) - kOrder.begin());
}

bool is_complex(std::string_view dtype) { return dtype.starts_with('c'); }

/// Booleans, integers, floating-point numbers, complex numbers.
int category(std::string_view dtype) {
  const int rank = promotion_rank(dtype);
  return rank == 0 ? 0 : rank < 6 ? 1 : rank < 11 ? 2 : 3;
}

/// The type of a result: scalars matter only if they are of a higher category.
std::string promoted(const std::vector<const TensorArgument*>& operands) {
  std::string type;
  for (const bool scalars : {false, true}) {
    for (const TensorArgument* each : operands) {
      if (each->sizes.empty() != scalars) continue;
      const bool counts = type.empty() || (scalars ? category(each->dtype) > category(type)
                                                   : promotion_rank(each->dtype) > promotion_rank(type));
      const bool is_half = each->dtype == "f16" || each->dtype == "bf16";
      if (!scalars && is_half && (type == "f16" || type == "bf16") && type != each->dtype)
        type = "f32";
      else if (counts)
        type = each->dtype;
    }
  }
  return type;
}

double broadcast_elements(const std::vector<const TensorArgument*>& operands) {
  std::size_t dimensions = 0;
  for (const TensorArgument* each : operands) dimensions = std::max(dimensions, each->dimensions());
  double elements = 1;
  for (std::size_t i = 1; i <= dimensions; ++i) {
    double size = 1;
    for (const TensorArgument* each : operands)
      if (i <= each->dimensions() && each->size(-static_cast<int>(i)) != 1) size = each->size(-static_cast<int>(i));
    elements *= size;
  }
  return elements;
}

// Matrix products.

Result product(const TensorArgument* left, const TensorArgument* right, const TensorArgument* added) {
  if (!left || !right || left->sizes.empty() || right->sizes.empty()) return std::nullopt;
  const double columns = right->dimensions() == 1 ? 1 : right->size(-1);
  const double inner = left->size(-1);
  const double result = inner > 0 ? left->elements / inner * columns : 0;
  const double bytes =
      left->bytes + right->bytes + (added ? added->bytes : 0) + result * std::max(2.0, element_bytes(left->dtype));
  return work(WorkKind::kMatmul, left->dtype, 2 * left->elements * columns, bytes);
}

// Attention.

/// Query i sees i + 1 keys, at most all.
double causal_scores(double queries, double keys) {
  const double partial = std::min(queries, keys);
  return partial * (partial + 1) / 2 + (queries - partial) * keys;
}

struct AttentionCall {
  const TensorArgument *query, *key, *value;
  bool causal;
  bool backward;
};

Result attention(const AttentionCall& call) {
  const auto *query = call.query, *key = call.key, *value = call.value;
  if (!query || !key || !value || query->dimensions() < 3) return std::nullopt;
  const double queries = query->size(-2), keys = key->size(-2);
  const double per_score = 2 * (query->size(-1) + value->size(-1));
  const double heads = queries * query->size(-1) > 0 ? query->elements / queries / query->size(-1) : 0;
  const double all = heads * queries * keys * per_score;
  const double seen = call.causal ? heads * causal_scores(queries, keys) * per_score : all;
  const double result = heads * queries * value->size(-1) * element_bytes(query->dtype);
  const double log_sum_exp = heads * queries * 4;
  const double operands = query->bytes + key->bytes + value->bytes;
  if (!call.backward)
    return CallWork{WorkKind::kAttention, query->dtype, seen, all, seen, operands + result + log_sum_exp};
  // Reads the output and its gradient as well; writes the gradients of the operands.
  return CallWork{
      WorkKind::kAttention, query->dtype, 2.5 * seen, 2 * all, 2 * seen, 2 * operands + 2 * result + log_sum_exp};
}

Result attention_at(const Call& call, std::size_t query, bool backward) {
  const bool causal = call.arguments.integer(call.causal, 0) != 0;
  return attention({call.tensor(query), call.tensor(query + 1), call.tensor(query + 2), causal, backward});
}

// Operators with a fixed number of operations per element.

/// Reads all tensors up to the result's position and writes a result like the tensor at `like`.
Result per_element(WorkKind kind, const Call& call, std::size_t like, double results) {
  const auto* const input = call.tensor(like);
  if (!input) return std::nullopt;
  const double read = total_bytes(call.arguments.tensors());
  return work(kind, input->dtype, call.flops_per_element * input->elements, read + results * input->bytes);
}

/// An addition of complex numbers has two operations; integers have none.
double operations(const std::string& dtype, double real, double complex) {
  return is_complex(dtype) ? complex : category(dtype) == 2 ? real : 0;
}

Result elementwise_of(const Call& call, double complex_operations, bool boolean_result) {
  std::vector<const TensorArgument*> operands = call.arguments.tensors();
  if (operands.size() > call.operands) operands.resize(call.operands);
  if (operands.empty()) return std::nullopt;
  const std::string dtype = promoted(operands);
  const double elements = call.in_place ? operands[0]->elements : broadcast_elements(operands);
  const double result_bytes =
      call.in_place ? operands[0]->bytes : elements * (boolean_result ? 1 : element_bytes(dtype));
  return work(WorkKind::kElementwise, dtype, elements * operations(dtype, call.flops_per_element, complex_operations),
              total_bytes(operands) + result_bytes);
}

/// The elements that remain when the dimensions of the second argument, or all, are reduced.
double remaining_elements(const Arguments& arguments, const TensorArgument& input) {
  const auto* const dimensions = arguments.integers(1);
  if (!dimensions || dimensions->empty()) return 1;
  double reduced = 1;
  for (const std::int64_t each : *dimensions) reduced *= std::max(1.0, input.size(static_cast<int>(each)));
  return input.elements / reduced;
}

/// The names of LibTorch's types by their numbers (c10::ScalarType), which are part of its C interface.
std::string_view type_name(std::int64_t number) {
  constexpr auto kTypes = std::to_array<std::string_view>(
      {"u8", "i8", "i16",  "i32", "i64", "f16", "f32", "f64", "", "c64", "c128", "bool", "",
       "",   "",   "bf16", "",    "",    "",    "",    "",    "", "",    "f8",   "f8"});
  return number >= 0 && number < static_cast<std::int64_t>(kTypes.size()) ? kTypes[static_cast<std::size_t>(number)]
                                                                          : std::string_view();
}

// Indexing.

Result indexed(const TensorArgument* source, const TensorArgument* index, double elements, double flops) {
  if (!source || !index) return std::nullopt;
  return work(WorkKind::kIndexing, source->dtype, flops, index->bytes + 2 * elements * element_bytes(source->dtype));
}

}  // namespace

Result plain_product(const Call& call) { return product(call.tensor(0), call.tensor(1), nullptr); }

Result added_product(const Call& call) { return product(call.tensor(1), call.tensor(2), call.tensor(0)); }

/// mkldnn::_linear_pointwise and others: input, weight of outputs × inputs, bias.
Result linear(const Call& call) {
  const auto *input = call.tensor(0), *weight = call.tensor(1);
  if (!input || !weight || weight->dimensions() != 2 || input->size(-1) == 0) return std::nullopt;
  const double result = input->elements / input->size(-1) * weight->size(0);
  const double bias = call.tensor(2) ? call.tensor(2)->bytes : 0;
  return work(WorkKind::kMatmul, input->dtype, 2 * result * input->size(-1),
              input->bytes + weight->bytes + bias + result * element_bytes(input->dtype));
}

Result attention_forward(const Call& call) { return attention_at(call, 0, false); }

Result attention_backward(const Call& call) { return attention_at(call, 1, true); }

Result normalization(const Call& call) { return per_element(WorkKind::kNormalization, call, 0, 1); }

Result normalization_backward(const Call& call) { return per_element(WorkKind::kNormalization, call, 1, 1); }

Result softmax(const Call& call) { return per_element(WorkKind::kSoftmax, call, 0, 1); }

Result dropout(const Call& call) {
  auto result = per_element(WorkKind::kElementwise, call, 0, 1);
  if (result) *result->bytes += call.tensor(0)->elements;  // the mask
  return result;
}

Result elementwise(const Call& call) { return elementwise_of(call, 2 * call.flops_per_element, false); }

Result multiplication(const Call& call) { return elementwise_of(call, 6, false); }

Result comparison(const Call& call) { return elementwise_of(call, 0, true); }

Result reduction(const Call& call) {
  const auto* const input = call.tensor(0);
  if (!input) return std::nullopt;
  const double results = remaining_elements(call.arguments, *input);
  return work(WorkKind::kReduction, input->dtype, call.flops_per_element * input->elements,
              input->bytes + results * element_bytes(input->dtype));
}

Result scan(const Call& call) { return per_element(WorkKind::kReduction, call, 0, 1); }

Result sort(const Call& call) {
  const auto* const input = call.tensor(0);
  if (!input || input->sizes.empty()) return std::nullopt;
  // aten::sort(input, dim, descending), or with `stable` in front of dim.
  const bool has_stable = call.arguments.integer(3, -1) >= 0;
  const double length = input->size(static_cast<int>(call.arguments.integer(has_stable ? 2 : 1, -1)));
  return work(WorkKind::kReduction, input->dtype, length > 1 ? input->elements * std::log2(length) : 0,
              2 * input->bytes + kIndexBytes * input->elements);
}

Result top_elements(const Call& call) {
  const auto* const input = call.tensor(0);
  const auto wanted = static_cast<double>(call.arguments.integer(1, -1));
  if (!input || input->sizes.empty() || wanted < 0) return std::nullopt;
  const double length = input->size(static_cast<int>(call.arguments.integer(2, -1)));
  const double results = length > 0 ? input->elements / length * wanted : 0;
  return work(WorkKind::kReduction, input->dtype, input->elements,
              input->bytes + results * (element_bytes(input->dtype) + kIndexBytes));
}

// Copies.

Result overwrite(const Call& call) {
  const auto* const target = call.tensor(0);
  return target ? Result(work(WorkKind::kCopy, target->dtype, 0, target->bytes)) : std::nullopt;
}

Result copy_to(const Call& call) {
  const auto *target = call.tensor(0), *source = call.tensor(1);
  if (!target || !source) return std::nullopt;
  return work(WorkKind::kCopy, target->dtype, 0, target->bytes + source->bytes);
}

Result copy(const Call& call) {
  const auto* const source = call.tensor(0);
  if (!source) return std::nullopt;
  const double result = source->is_list ? source->bytes : source->elements * element_bytes(source->dtype);
  return work(WorkKind::kCopy, source->dtype, 0, source->bytes + result);
}

Result convert(const Call& call) {
  const auto* const source = call.tensor(0);
  if (!source) return std::nullopt;
  const std::string_view wanted = call.arguments.integers(1) ? type_name(call.arguments.integer(1, -1)) : source->dtype;
  if (wanted.empty()) return std::nullopt;
  return work(WorkKind::kCopy, std::string(wanted), 0, source->bytes + source->elements * element_bytes(wanted));
}

Result embedding(const Call& call) {
  const auto *weight = call.tensor(0), *indices = call.tensor(1);
  if (!weight || !indices) return std::nullopt;
  return indexed(weight, indices, indices->elements * weight->size(-1), 0);
}

Result embedding_backward(const Call& call) {
  const auto *gradient = call.tensor(0), *indices = call.tensor(1);
  const auto rows = static_cast<double>(call.arguments.integer(2, -1));
  if (!gradient || !indices || rows < 0) return std::nullopt;
  return work(WorkKind::kIndexing, gradient->dtype, gradient->elements,
              gradient->bytes + indices->bytes + rows * gradient->size(-1) * element_bytes(gradient->dtype));
}

Result index_select(const Call& call) {
  const auto *source = call.tensor(0), *index = call.tensor(2);
  if (!source || !index) return std::nullopt;
  const double size = source->size(static_cast<int>(call.arguments.integer(1, 0)));
  return indexed(source, index, size > 0 ? source->elements / size * index->elements : 0, 0);
}

Result gather(const Call& call) {
  return call.tensor(2) ? indexed(call.tensor(0), call.tensor(2), call.tensor(2)->elements, 0) : std::nullopt;
}

Result scatter(const Call& call) {
  const auto* const index = call.tensor(2);
  return index ? indexed(call.tensor(0), index, index->elements, call.flops_per_element * index->elements)
               : std::nullopt;
}

Result nll_loss(const Call& call) {
  const auto *input = call.tensor(0), *target = call.tensor(1);
  if (!input || !target) return std::nullopt;
  return work(WorkKind::kIndexing, input->dtype, target->elements,
              target->bytes + target->elements * element_bytes(input->dtype));
}

Result nll_loss_backward(const Call& call) {
  const auto *input = call.tensor(1), *target = call.tensor(2);
  if (!input || !target) return std::nullopt;
  return work(WorkKind::kIndexing, input->dtype, target->elements, target->bytes + input->bytes);
}

Result update(const Call& call) {
  const auto* const parameters = call.tensor(0);
  if (!parameters || !call.tensor(1)) return std::nullopt;
  double read = 0;
  for (std::size_t i = 0; i < call.operands; ++i) read += call.tensor(i) ? call.tensor(i)->bytes : 0;
  return work(WorkKind::kOptimizer, parameters->dtype, call.flops_per_element * parameters->elements,
              2 * read - call.tensor(1)->bytes);
}

Result collective(const Call& call) {
  const auto* const message = call.tensor(0);
  return message ? Result(work(WorkKind::kCollective, message->dtype, 0, 2 * message->bytes)) : std::nullopt;
}

Result foreach_elementwise(const Call& call) {
  const auto* const first = call.tensor(0);
  if (!first) return std::nullopt;
  return work(WorkKind::kOptimizer, first->dtype, call.flops_per_element * first->elements,
              total_bytes(call.arguments.tensors()) + first->bytes);
}

}  // namespace kymo::analysis::count
