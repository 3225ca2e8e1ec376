// SPDX-License-Identifier: Apache-2.0
#include <ATen/DeviceGuard.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cstdint>
#include <vector>

#include "ops/cuda/layers.hpp"
#include "ops/layers/kernels.hpp"

namespace kymo::ops {
namespace layer_kernels {
namespace {

namespace cuda = kymo::layers;

/// Types that the kernels support.
std::optional<cuda::Element> element_of(at::ScalarType dtype) {
  if (dtype == at::kFloat) return cuda::Element::kFloat32;
  if (dtype == at::kBFloat16) return cuda::Element::kBfloat16;
  if (dtype == at::kHalf) return cuda::Element::kFloat16;
  return std::nullopt;
}

bool is_aligned(const at::Tensor& tensor) {
  return !tensor.defined() || reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()) % cuda::kVectorBytes == 0;
}

template <class... Tensors>
bool all_aligned(const Tensors&... tensors) {
  return (is_aligned(tensors) && ...);
}

bool is_whole_vectors(std::int64_t elements, const at::Tensor& like) {
  return elements * static_cast<std::int64_t>(like.element_size()) % cuda::kVectorBytes == 0;
}

const void* input(const at::Tensor& tensor) { return tensor.defined() ? tensor.const_data_ptr() : nullptr; }
void* output(const at::Tensor& tensor) { return tensor.defined() ? tensor.mutable_data_ptr() : nullptr; }

template <class Call>
bool launch(const Call& call, const at::Tensor& on) {
  const auto stream = c10::impl::getDeviceGuardImpl(at::kCUDA)->getStream(on.device()).native_handle();
  const std::string error = cuda::launch(call, static_cast<cuda::Stream>(stream));
  TORCH_CHECK(error.empty(), "fused layer: ", error);
  return true;
}

cuda::NormTypes norm_types(const at::Tensor& stream, const at::Tensor& branch, const at::Tensor& weight) {
  return {*element_of(stream.scalar_type()), *element_of(branch.scalar_type()), *element_of(weight.scalar_type())};
}

cuda::Rotary::Part part(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {tensor.const_data_ptr(), tensor.stride(0), tensor.stride(1), tensor.stride(2)};
}

/// Whether the rows of [batch, heads, sequence, d] start on 16-byte boundaries and are contiguous.
bool has_aligned_rows(const at::Tensor& tensor) {
  if (!tensor.defined()) return true;
  if (!is_aligned(tensor) || tensor.stride(3) != 1) return false;
  for (std::int64_t dimension = 0; dimension < 3; ++dimension)
    if (tensor.size(dimension) > 1 && !is_whole_vectors(tensor.stride(dimension), tensor)) return false;
  return true;
}

at::Tensor with_aligned_rows(const at::Tensor& tensor) {
  return has_aligned_rows(tensor) ? tensor : tensor.clone(at::MemoryFormat::Contiguous);
}

}  // namespace

bool rms_norm(const RmsNormTensors& t) {
  const at::Tensor& stream = t.residual.defined() ? t.residual : t.x;
  const std::int64_t width = stream.size(-1);
  if (!why_no_kernel(stream, width).empty() || width > cuda::kMaxNormWidth) return false;
  if (!all_aligned(t.x, t.residual, t.weight, t.y, t.sum)) return false;
  const c10::OptionalDeviceGuard on_device(stream.device());
  return launch(cuda::RmsNorm{.types = norm_types(stream, t.y, t.weight),
                              .rows = stream.numel() / width,
                              .width = width,
                              .epsilon = static_cast<float>(t.epsilon),
                              .x = input(t.x),
                              .residual = input(t.residual),
                              .weight = input(t.weight),
                              .y = output(t.y),
                              .sum = output(t.sum)},
                stream);
}

bool rms_norm_backward(const RmsNormBackwardTensors& t) {
  const std::int64_t width = t.x.size(-1);
  if (!why_no_kernel(t.x, width).empty() || width > cuda::kMaxNormWidth) return false;
  if (!all_aligned(t.gradient, t.sum_gradient, t.x, t.weight, t.x_gradient, t.weight_gradient)) return false;
  const c10::OptionalDeviceGuard on_device(t.x.device());
  cuda::RmsNormBackward call{.types = norm_types(t.x, t.gradient, t.weight),
                             .rows = t.x.numel() / width,
                             .width = width,
                             .epsilon = static_cast<float>(t.epsilon),
                             .gradient = input(t.gradient),
                             .sum_gradient = input(t.sum_gradient),
                             .x = input(t.x),
                             .weight = input(t.weight),
                             .x_gradient = output(t.x_gradient),
                             .weight_gradient = output(t.weight_gradient)};
  // The caching allocator reuses the memory on this stream only, so it may be released before the kernels have run.
  const at::Tensor partials = at::empty({cuda::partial_rows(call), width}, t.x.options().dtype(at::kFloat));
  call.partials = partials.mutable_data_ptr<float>();
  return launch(call, t.x);
}

bool swiglu(const at::Tensor& gate_and_up, const at::Tensor& result) {
  const std::int64_t width = result.size(-1);
  if (!why_no_kernel(result, width).empty() || !all_aligned(gate_and_up, result)) return false;
  const c10::OptionalDeviceGuard on_device(result.device());
  return launch(cuda::SwiGlu{.element = *element_of(result.scalar_type()),
                             .rows = result.numel() / width,
                             .width = width,
                             .joint = input(gate_and_up),
                             .to = output(result)},
                result);
}

bool swiglu_backward(const at::Tensor& gradient, const at::Tensor& gate_and_up, const at::Tensor& result) {
  const std::int64_t width = gradient.size(-1);
  if (!why_no_kernel(gradient, width).empty() || !all_aligned(gradient, gate_and_up, result)) return false;
  const c10::OptionalDeviceGuard on_device(result.device());
  return launch(cuda::SwiGlu{.element = *element_of(result.scalar_type()),
                             .rows = gradient.numel() / width,
                             .width = width,
                             .gradient = input(gradient),
                             .joint = input(gate_and_up),
                             .to = output(result)},
                result);
}

bool rotary(const RotaryTensors& t) {
  const std::int64_t width = t.joint.size(4);
  if (!why_no_kernel(t.joint, width).empty() || !all_aligned(t.joint, t.rotation)) return false;
  const c10::OptionalDeviceGuard on_device(t.joint.device());
  const at::Tensor query = with_aligned_rows(t.query), key = with_aligned_rows(t.key);
  const at::Tensor value = t.value.defined() ? with_aligned_rows(t.value) : t.value;
  return launch(cuda::Rotary{.element = *element_of(t.joint.scalar_type()),
                             .batch = t.joint.size(0),
                             .sequence = t.joint.size(1),
                             .heads = t.joint.size(3),
                             .d = width,
                             .query = part(query),
                             .key = part(key),
                             .value = part(value),
                             .rotation = t.rotation.const_data_ptr<float>(),
                             .joint = output(t.joint),
                             .inverse = t.inverse},
                t.joint);
}

bool adamw(const AdamWTensors& t, const AdamWOptions& options) {
  const at::Tensor& first = t.parameters[0];
  if (!why_no_kernel(first, 0).empty()) return false;
  const c10::OptionalDeviceGuard on_device(first.device());
  std::vector<cuda::AdamWTensor> tensors;
  tensors.reserve(t.parameters.size());
  for (std::size_t i = 0; i < t.parameters.size(); ++i)
    tensors.push_back({.parameter = output(t.parameters[i]),
                       .gradient = output(t.gradients[i]),
                       .mean = output(t.means[i]),
                       .square_mean = output(t.square_means[i]),
                       .copy = t.copies.empty() || t.copies[i].numel() == 0 ? nullptr : output(t.copies[i]),
                       .step = t.steps[i].mutable_data_ptr<float>(),
                       .elements = t.parameters[i].numel(),
                       .narrow_gradient = t.gradients[i].scalar_type() == t.narrow && t.narrow != first.scalar_type()});
  return launch(cuda::AdamW{.tensors = tensors.data(),
                            .count = static_cast<std::int64_t>(tensors.size()),
                            .parameter = *element_of(first.scalar_type()),
                            .state = *element_of(t.means[0].scalar_type()),
                            .narrow = *element_of(t.narrow),
                            .learning_rate = options.learning_rate,
                            .beta1 = options.beta1,
                            .beta2 = options.beta2,
                            .epsilon = options.epsilon,
                            .weight_decay = options.weight_decay,
                            .gradient_norm = static_cast<const float*>(input(options.gradient_norm)),
                            .max_norm = options.max_norm,
                            .zero_gradients = options.zero_gradients},
                first);
}

bool cross_entropy(const at::Tensor& logits, const at::Tensor& target, const at::Tensor& losses, double scale) {
  if (!why_no_kernel(logits, logits.stride(0)).empty() || !all_aligned(logits)) return false;
  const c10::OptionalDeviceGuard on_device(logits.device());
  return launch(cuda::CrossEntropy{.element = *element_of(logits.scalar_type()),
                                   .rows = logits.size(0),
                                   .classes = logits.size(1),
                                   .row_stride = logits.stride(0),
                                   .logits = output(logits),
                                   .target = target.const_data_ptr<std::int64_t>(),
                                   .losses = losses.mutable_data_ptr<float>(),
                                   .scale = static_cast<float>(scale)},
                logits);
}

bool scale(const at::Tensor& sums, const at::Tensor& factor, const at::Tensor& result) {
  if (sums.scalar_type() != at::kFloat || factor.scalar_type() != at::kFloat || factor.device() != sums.device())
    return false;
  if (!sums.is_contiguous() || !why_no_kernel(result, 0).empty() || !all_aligned(sums, result) || result.numel() == 0)
    return false;
  const c10::OptionalDeviceGuard on_device(result.device());
  return launch(cuda::Scale{.element = *element_of(result.scalar_type()),
                            .elements = result.numel(),
                            .from = sums.const_data_ptr<float>(),
                            .factor = factor.const_data_ptr<float>(),
                            .to = output(result)},
                result);
}

}  // namespace layer_kernels

std::string why_no_kernel(const at::Tensor& like, std::int64_t row) {
  if (!like.device().is_cuda()) return "requires CUDA tensors, not " + like.device().str();
  if (!layer_kernels::element_of(like.scalar_type()))
    return "supports Float, BFloat16 and Half, not " + std::string(c10::toString(like.scalar_type()));
  if (!layer_kernels::is_whole_vectors(row, like)) return "requires rows of a multiple of 16 bytes";
  const c10::OptionalDeviceGuard on_device(like.device());
  return layers::device_supported() ? "" : "requires compute capability 8.0 or later";
}

}  // namespace kymo::ops
