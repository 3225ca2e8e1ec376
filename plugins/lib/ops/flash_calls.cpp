// SPDX-License-Identifier: Apache-2.0
#include <ATen/DeviceGuard.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cstdint>

#include "ops/cuda/flash.hpp"
#include "ops/kernels.hpp"

namespace kymo::ops::flash {
namespace {

namespace kernels = kymo::flash;

constexpr std::int64_t kRowAlignmentBytes = 16;  // width of a vector load in the kernels

/// Whether every row starts at an address the kernels can load from. The stride of a dimension of size 1 is never used.
bool is_aligned(const at::Tensor& tensor) {
  if (tensor.stride(3) != 1 || reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr()) % kRowAlignmentBytes != 0)
    return false;
  for (std::int64_t dimension = 0; dimension < 3; ++dimension)
    if (tensor.size(dimension) > 1 &&
        tensor.stride(dimension) * static_cast<std::int64_t>(tensor.element_size()) % kRowAlignmentBytes != 0)
      return false;
  return true;
}

/// The tensor itself, or a contiguous copy if the kernels cannot load its rows.
at::Tensor loadable(const at::Tensor& tensor) {
  return is_aligned(tensor) ? tensor : tensor.clone(at::MemoryFormat::Contiguous);
}

/// The tensor that the kernels write to: `tensor` itself, or a buffer of its shape that finish() copies back.
at::Tensor writable(const at::Tensor& tensor) {
  return is_aligned(tensor) ? tensor : at::empty_like(tensor, tensor.options(), at::MemoryFormat::Contiguous);
}
void finish(const at::Tensor& written, const at::Tensor& tensor) {
  if (!written.is_same(tensor)) tensor.copy_(written);
}

kernels::Input input(const at::Tensor& tensor) {
  return {tensor.const_data_ptr(), tensor.stride(0), tensor.stride(1), tensor.stride(2)};
}
kernels::Output output(const at::Tensor& tensor) {
  return {tensor.mutable_data_ptr(), tensor.stride(0), tensor.stride(1), tensor.stride(2)};
}

kernels::Element element_of(at::ScalarType dtype) {
  if (dtype == at::kBFloat16) return kernels::Element::kBfloat16;
  return dtype == at::kHalf ? kernels::Element::kFloat16 : kernels::Element::kFloat32;
}

kernels::Problem problem_of(const at::Tensor& query, const at::Tensor& key, const Setting& setting) {
  return {.batch = query.size(0),
          .heads_q = query.size(1),
          .heads_kv = key.size(1),
          .seq_q = query.size(2),
          .seq_k = key.size(2),
          .d = query.size(3),
          .element = element_of(query.scalar_type()),
          .causal = setting.causal,
          .scale = static_cast<float>(setting.scale)};
}

kernels::Stream current_stream(const at::Device& device) {
  return static_cast<kernels::Stream>(c10::impl::getDeviceGuardImpl(at::kCUDA)->getStream(device).native_handle());
}

/// Undefined if the call needs no workspace. The caching allocator reuses the memory on this stream only, so it may be
/// released before the kernels have run.
template <class Call>
at::Tensor workspace_of(const Call& call, const at::Tensor& like) {
  const auto bytes = static_cast<std::int64_t>(kernels::workspace_bytes(call));
  return bytes > 0 ? at::empty({bytes}, like.options().dtype(at::kByte)) : at::Tensor();
}

void* address_of(const at::Tensor& workspace) { return workspace.defined() ? workspace.mutable_data_ptr() : nullptr; }

/// Why the kernels do not support these sizes; empty if they do. Passes an aligned address that is neither read nor
/// written.
std::string size_error(const kernels::Problem& problem, Direction direction) {
  alignas(256) static char aligned[256];
  const std::int64_t query_head = problem.seq_q * problem.d, key_head = problem.seq_k * problem.d;
  const kernels::Input rows_of_query{aligned, problem.heads_q * query_head, query_head, problem.d};
  const kernels::Input rows_of_key{aligned, problem.heads_kv * key_head, key_head, problem.d};
  const kernels::Output to_query{aligned, problem.heads_q * query_head, query_head, problem.d};
  const kernels::Output to_key{aligned, problem.heads_kv * key_head, key_head, problem.d};
  auto* const numbers = reinterpret_cast<float*>(aligned);
  const kernels::Forward forward_call{
      .problem = problem, .q = rows_of_query, .k = rows_of_key, .v = rows_of_key, .o = to_query, .lse = numbers};
  const kernels::Backward backward_call{.problem = problem,
                                        .q = rows_of_query,
                                        .k = rows_of_key,
                                        .v = rows_of_key,
                                        .o = rows_of_query,
                                        .d_o = rows_of_query,
                                        .lse = numbers,
                                        .dq = to_query,
                                        .dk = to_key,
                                        .dv = to_key,
                                        .workspace = aligned};
  std::string reason;
  const bool supported = direction == Direction::kForward ? kernels::supported(forward_call, &reason)
                                                          : kernels::supported(backward_call, &reason);
  return supported ? "" : "does not support these inputs: " + reason;
}

}  // namespace

std::string unsupported_reason(const at::Tensor& query, const at::Tensor& key, const Setting& setting,
                               Direction direction) {
  if (!query.device().is_cuda()) return "requires CUDA tensors, but q is on " + query.device().str();
  if (query.scalar_type() == at::kDouble) return "supports Float, BFloat16 and Half, but q is Double";
  const c10::OptionalDeviceGuard on_device(query.device());
  return size_error(problem_of(query, key, setting), direction);
}

void forward(const ForwardTensors& tensors, const Setting& setting) {
  const c10::OptionalDeviceGuard on_device(tensors.query.device());
  const at::Tensor query = loadable(tensors.query), key = loadable(tensors.key), value = loadable(tensors.value);
  const at::Tensor to = writable(tensors.output);
  kernels::Forward call{.problem = problem_of(query, key, setting),
                        .q = input(query),
                        .k = input(key),
                        .v = input(value),
                        .o = output(to),
                        .lse = tensors.log_sum_exp.mutable_data_ptr<float>()};
  const at::Tensor counter = workspace_of(call, query);
  call.workspace = address_of(counter);
  const std::string error = kernels::launch_forward(call, current_stream(query.device()));
  TORCH_CHECK(error.empty(), "attention: flash: ", error);
  finish(to, tensors.output);
}

void backward(const BackwardTensors& tensors, const Setting& setting) {
  const c10::OptionalDeviceGuard on_device(tensors.query.device());
  const at::Tensor query = loadable(tensors.query), key = loadable(tensors.key), value = loadable(tensors.value);
  const at::Tensor forward_output = loadable(tensors.output), output_gradient = loadable(tensors.output_gradient);
  const at::Tensor log_sum_exp = tensors.log_sum_exp.contiguous();
  const at::Tensor query_to = writable(tensors.query_gradient), key_to = writable(tensors.key_gradient);
  const at::Tensor value_to = writable(tensors.value_gradient);
  kernels::Backward call{.problem = problem_of(query, key, setting),
                         .q = input(query),
                         .k = input(key),
                         .v = input(value),
                         .o = input(forward_output),
                         .d_o = input(output_gradient),
                         .lse = log_sum_exp.const_data_ptr<float>(),
                         .dq = output(query_to),
                         .dk = output(key_to),
                         .dv = output(value_to),
                         .deterministic = setting.deterministic};
  const at::Tensor workspace = workspace_of(call, query);
  call.workspace = address_of(workspace);
  const std::string error = kernels::launch_backward(call, current_stream(query.device()));
  TORCH_CHECK(error.empty(), "attention: flash: ", error);
  finish(query_to, tensors.query_gradient);
  finish(key_to, tensors.key_gradient);
  finish(value_to, tensors.value_gradient);
}

}  // namespace kymo::ops::flash
