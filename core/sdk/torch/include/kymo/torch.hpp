// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cstdint>
#include <kymo/context.hpp>
#include <kymo/vector_functions.hpp>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Glue between a workload and LibTorch. Needs no CUDA header: what is particular to a device goes through LibTorch's
/// own device guard.
namespace kymo::libtorch {

/// The device that the host chose for this rank, made LibTorch's current one; before anything is computed. Throws
/// c10::Error if LibTorch cannot use it.
inline at::Device select_device(const Context& ctx) {
  settle_vector_functions();
  if (!ctx.is_cuda()) return at::Device(at::kCPU);
  const at::Device device(at::kCUDA, static_cast<at::DeviceIndex>(ctx.device_index()));
  c10::impl::getDeviceGuardImpl(at::kCUDA)->setDevice(device);
  return device;
}

/// The cudaStream_t that LibTorch queues this thread's work on; nullptr on CPU.
inline void* current_stream(const Context& ctx) {
  if (!ctx.is_cuda()) return nullptr;
  const at::Device device(at::kCUDA, static_cast<at::DeviceIndex>(ctx.device_index()));
  return c10::impl::getDeviceGuardImpl(at::kCUDA)->getStream(device).native_handle();
}

/// Begins a phase on LibTorch's current stream.
[[nodiscard]] inline Phase phase(const Context& ctx, const char* name) { return ctx.phase(name, current_stream(ctx)); }

/// The names that dtype() knows and that workloads offer.
inline std::vector<std::string> dtype_names() { return {"fp32", "bf16", "fp16"}; }

/// The element type of a name; also "fp64", for references. Throws std::invalid_argument.
inline at::ScalarType dtype(std::string_view name) {
  if (name == "fp32") return at::kFloat;
  if (name == "bf16") return at::kBFloat16;
  if (name == "fp16") return at::kHalf;
  if (name == "fp64") return at::kDouble;
  throw std::invalid_argument("there is no element type '" + std::string(name) +
                              "': it is one of fp32, bf16, fp16, fp64");
}

/// Seeds the generators of all devices.
inline void seed_everything(std::uint64_t seed) { at::manual_seed(seed); }

/// A generator of its own for a device: what others draw does not move it.
inline at::Generator make_generator(const at::Device& device, std::uint64_t seed) {
  at::Generator shared = at::globalContext().defaultGenerator(device);
  at::Generator own = [&] {
    std::lock_guard<std::mutex> lock(shared.mutex());
    return shared.clone();
  }();
  own.set_current_seed(seed);
  return own;
}

/// Tells the host what the memory of a tensor holds. Undefined tensors are left out.
inline void tag(const Context& ctx, const at::Tensor& tensor, Block what) {
  if (tensor.defined()) ctx.tag(tensor.const_data_ptr(), tensor.nbytes(), what);
}

}  // namespace kymo::libtorch
