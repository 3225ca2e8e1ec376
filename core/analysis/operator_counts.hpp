// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

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

// Matrix products: left and right operand; a third one in front is added. Linear: input, weight, bias.
Result plain_product(const Call& call);
Result added_product(const Call& call);
Result linear(const Call& call);

// Attention: query, key and value; backward behind the gradient. LibTorch aligns causal masks top-left, kymo
// bottom-right.
Result attention_forward(const Call& call);
Result attention_backward(const Call& call);
Result own_attention_forward(const Call& call);
Result own_attention_backward(const Call& call);

// Input, weight, bias, stride, padding, dilation, transposed, output padding, groups; backward: gradient of the result,
// input, weight, bias sizes, ..., and which of the gradients of input, weight and bias are wanted.
Result convolution(const Call& call);
Result convolution_backward(const Call& call);

// A fixed number of operations per element of the input; backward behind the gradient.
Result normalization(const Call& call);
Result normalization_backward(const Call& call);
/// kymo's RMSNorm: x, residual, weight, with the sum as a second result; backward: gradient, gradient of the sum, x,
/// weight.
Result added_normalization(const Call& call);
Result added_normalization_backward(const Call& call);
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
/// The same by kymo's AdamW, which also writes rounded copies of parameters.
Result update_with_copies(const Call& call);

// Kymo's fused layers. SwiGLU: gate and up in one tensor; backward behind the gradient; operations per element of the
// result of the forward pass. Rotary: query, key and value in one tensor, or in three tensors, of which the value is
// only copied; in place, it is not touched. Operations per rotated element.
Result swiglu(const Call& call);
Result swiglu_backward(const Call& call);
Result rotary(const Call& call);
Result rotary_in_place(const Call& call);
Result rotary_join(const Call& call);
/// Input, weight of classes × inputs, target, rows at a time, and which of the gradients of input and weight are
/// wanted. Logits are not counted as bytes.
Result linear_cross_entropy(const Call& call);

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
