// SPDX-License-Identifier: Apache-2.0
// The work of convolutions and of pooling.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/operator_counts.hpp"

namespace kymo::analysis::count {
namespace {

using event::WorkKind;

/// A single number applies to all spatial dimensions.
double along(const std::vector<std::int64_t>& values, std::size_t dimension) {
  return static_cast<double>(values.size() == 1 ? values[0] : dimension < values.size() ? values[dimension] : 0);
}

// Convolutions: input, weight, bias, stride, padding, dilation, transposed, output padding, groups.

/// The result's elements along the spatial dimensions, for one image and one channel.
std::optional<double> convolved_elements(const Arguments& arguments, const TensorArgument& input,
                                         const TensorArgument& weight) {
  const auto *stride = arguments.integers(3), *padding = arguments.integers(4), *dilation = arguments.integers(5);
  if (!stride || !padding || !dilation || input.dimensions() != weight.dimensions() || input.dimensions() < 3)
    return std::nullopt;
  const bool transposed = arguments.integer(6, 0) != 0;
  double elements = 1;
  for (std::size_t i = 0; i + 2 < input.dimensions(); ++i) {
    const double size = input.size(static_cast<int>(i) + 2);
    const double kernel = along(*dilation, i) * (weight.size(static_cast<int>(i) + 2) - 1);
    if (along(*stride, i) <= 0) return std::nullopt;
    const auto* const output_padding = arguments.integers(7);
    elements *= transposed ? (size - 1) * along(*stride, i) - 2 * along(*padding, i) + kernel + 1 +
                                 (output_padding ? along(*output_padding, i) : 0)
                           : std::floor((size + 2 * along(*padding, i) - kernel - 1) / along(*stride, i)) + 1;
  }
  return elements;
}

// Pooling: input, kernel, stride, padding, and further arguments.

struct Pooled {
  double results;  ///< elements of the result
  double window;   ///< elements of the input per element of the result
};

/// `first` is the position of the kernel, `dilation` that of the dilation, 0 if the operator has none; the next
/// argument is ceil_mode.
std::optional<Pooled> pooled(const Call& call, const TensorArgument& input, std::size_t first, std::size_t dilation) {
  const Arguments& arguments = call.arguments;
  const auto *kernel = arguments.integers(first), *stride = arguments.integers(first + 1),
             *padding = arguments.integers(first + 2);
  const auto* const spread = dilation ? arguments.integers(dilation) : nullptr;
  if (!kernel || kernel->empty() || !padding || padding->empty() || (dilation && (!spread || spread->empty())))
    return std::nullopt;
  const std::size_t dimensions = call.operands;
  if (input.dimensions() <= dimensions) return std::nullopt;
  const bool round_up = arguments.integer((dilation ? dilation : first + 2) + 1, 0) != 0;
  Pooled result{input.elements, 1};
  for (std::size_t i = 0; i < dimensions; ++i) {
    const double size = input.size(static_cast<int>(i) - static_cast<int>(dimensions));
    const double step = stride && !stride->empty() ? along(*stride, i) : along(*kernel, i);
    const double reach = (spread ? along(*spread, i) : 1) * (along(*kernel, i) - 1);
    if (step <= 0 || size <= 0) return std::nullopt;
    const double exact = (size + 2 * along(*padding, i) - reach - 1) / step;
    double count = (round_up ? std::ceil(exact) : std::floor(exact)) + 1;
    if (round_up && (count - 1) * step >= size + along(*padding, i)) --count;  // windows begin inside the input
    result.results *= count / size;
    result.window *= along(*kernel, i);
  }
  return result;
}

}  // namespace

Result convolution(const Call& call) {
  const auto *input = call.tensor(0), *weight = call.tensor(1);
  if (!input || !weight) return std::nullopt;
  const auto spatial = convolved_elements(call.arguments, *input, *weight);
  if (!spatial) return std::nullopt;
  const bool transposed = call.arguments.integer(6, 0) != 0;
  const auto groups = static_cast<double>(call.arguments.integer(8, 1));
  const double channels = transposed ? weight->size(1) * groups : weight->size(0);
  const double result = input->size(0) * channels * *spatial;
  const double taps = weight->size(1) * weight->size(0) > 0 ? weight->elements / weight->size(0) : 0;
  const double bias = call.tensor(2) ? call.tensor(2)->bytes : 0;
  return work(WorkKind::kConvolution, input->dtype, 2 * (transposed ? input->elements : result) * taps,
              input->bytes + weight->bytes + bias + result * element_bytes(input->dtype));
}

Result convolution_backward(const Call& call) {
  const auto *gradient = call.tensor(0), *input = call.tensor(1), *weight = call.tensor(2);
  const auto* const wanted = call.arguments.integers(10);
  if (!gradient || !input || !weight || !wanted || wanted->size() != 3 || weight->size(0) == 0) return std::nullopt;
  const bool transposed = call.arguments.integer(7, 0) != 0;
  const double taps = weight->elements / weight->size(0);
  const double one = 2 * (transposed ? input->elements : gradient->elements) * taps;
  const auto count = static_cast<double>((*wanted)[0] + (*wanted)[1]);
  const double written = ((*wanted)[0] ? input->bytes : 0) + ((*wanted)[1] ? weight->bytes : 0);
  const double read = gradient->bytes + ((*wanted)[1] ? input->bytes : 0) + ((*wanted)[0] ? weight->bytes : 0);
  return work(WorkKind::kConvolution, input->dtype, count * one, read + written);
}

Result max_pool(const Call& call) {
  const auto* const input = call.tensor(0);
  const auto shape = input ? pooled(call, *input, 1, 4) : std::nullopt;
  if (!shape) return std::nullopt;
  return work(WorkKind::kReduction, input->dtype, shape->results * shape->window,
              input->bytes + shape->results * (element_bytes(input->dtype) + kIndexBytes));
}

Result max_pool_backward(const Call& call) {
  const auto *gradient = call.tensor(0), *input = call.tensor(1), *indices = call.tensor(7);
  if (!gradient || !input || !indices) return std::nullopt;
  return work(WorkKind::kReduction, gradient->dtype, gradient->elements,
              gradient->bytes + indices->bytes + input->elements * element_bytes(gradient->dtype));
}

Result average_pool(const Call& call) {
  const auto* const input = call.tensor(0);
  const auto shape = input ? pooled(call, *input, 1, 0) : std::nullopt;
  if (!shape) return std::nullopt;
  return work(WorkKind::kReduction, input->dtype, shape->results * shape->window,
              input->bytes + shape->results * element_bytes(input->dtype));
}

Result average_pool_backward(const Call& call) {
  const auto *gradient = call.tensor(0), *input = call.tensor(1);
  const auto shape = gradient && input ? pooled(call, *input, 2, 0) : std::nullopt;
  if (!shape) return std::nullopt;
  return work(WorkKind::kReduction, gradient->dtype, gradient->elements * shape->window,
              gradient->bytes + input->elements * element_bytes(gradient->dtype));
}

Result adaptive_pool(const Call& call) {
  const auto* const input = call.tensor(0);
  const auto* const sizes = call.arguments.integers(1);
  if (!input || !sizes || sizes->empty() || input->dimensions() <= sizes->size()) return std::nullopt;
  double results = input->elements;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    const double size = input->size(static_cast<int>(i) - static_cast<int>(sizes->size()));
    if (size <= 0) return std::nullopt;
    results *= static_cast<double>((*sizes)[i]) / size;
  }
  return work(WorkKind::kReduction, input->dtype, input->elements,
              input->bytes + results * element_bytes(input->dtype));
}

Result adaptive_pool_backward(const Call& call) {
  const auto *gradient = call.tensor(0), *input = call.tensor(1);
  if (!gradient || !input) return std::nullopt;
  return work(WorkKind::kReduction, gradient->dtype, input->elements,
              gradient->bytes + input->elements * element_bytes(gradient->dtype));
}

}  // namespace kymo::analysis::count
