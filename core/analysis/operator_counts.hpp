// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "analysis/operator_arguments.hpp"
#include "event/derived.hpp"

/// The work of one call of an operator by its kind, for the table of operators. Each function returns nullopt if the
/// arguments are not those that it expects.
namespace kymo::analysis::count {

/// A call: its arguments and what the table says about the operator.
struct Call {
  const Arguments& arguments;
  bool in_place = false;
  double flops_per_element = 0;
  std::size_t operands = 0;  ///< of an elementwise operator (further tensors are results); of pooling, its dimensions
  std::size_t causal = 0;    ///< position of the argument `causal`

  const TensorArgument* tensor(std::size_t position) const { return arguments.tensor(position); }
};
using Result = std::optional<event::CallWork>;

inline constexpr double kIndexBytes = 8;  ///< of a position in a tensor, which is an i64

/// Work whose model FLOPs are its FLOPs.
inline event::CallWork work(event::WorkKind kind, std::string dtype, double flops, double bytes) {
  return {kind, std::move(dtype), flops, flops, flops, bytes};
}

// Matrix products: left and right operand; a third one in front is added. Linear: input, weight, bias.
Result plain_product(const Call& call);
Result added_product(const Call& call);
Result linear(const Call& call);

// Attention: query, key and value; backward behind the gradient. LibTorch aligns causal masks top-left.
Result attention_forward(const Call& call);
Result attention_backward(const Call& call);

// Input, weight, bias, stride, padding, dilation, transposed, output padding, groups; backward: gradient of the result,
// input, weight, bias sizes, ..., and which of the gradients of input, weight and bias are wanted.
Result convolution(const Call& call);
Result convolution_backward(const Call& call);

// A fixed number of operations per element of the input; backward behind the gradient.
Result normalization(const Call& call);
Result normalization_backward(const Call& call);
Result softmax(const Call& call);
Result dropout(const Call& call);
Result reduction(const Call& call);
Result scan(const Call& call);

// Pooling: one operation per element of each window; adaptive: per element of the input. Input, kernel, stride,
// padding; backward behind the gradient. Maxima also write or read the positions of the elements.
Result max_pool(const Call& call);
Result max_pool_backward(const Call& call);
Result average_pool(const Call& call);
Result average_pool_backward(const Call& call);
Result adaptive_pool(const Call& call);
Result adaptive_pool_backward(const Call& call);

// Comparisons count as operations: n log2 n for sorting, one per element to select the largest. Both write positions.
Result sort(const Call& call);
Result top_elements(const Call& call);

// A fixed number of operations per element of the result, which has the broadcast shape of the operands.
Result elementwise(const Call& call);
Result multiplication(const Call& call);
Result comparison(const Call& call);
/// Several tensors at once, as optimizers use them: the elements of the first list, the bytes of all.
Result foreach_elementwise(const Call& call);
/// Parameters, gradients and states: all are read, all but the gradients are written.
Result update(const Call& call);

// No operations.
Result overwrite(const Call& call);
Result copy_to(const Call& call);
Result copy(const Call& call);
Result convert(const Call& call);
Result collective(const Call& call);

Result embedding(const Call& call);
Result embedding_backward(const Call& call);
Result index_select(const Call& call);
Result gather(const Call& call);
Result scatter(const Call& call);
Result nll_loss(const Call& call);
Result nll_loss_backward(const Call& call);

}  // namespace kymo::analysis::count
