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

/// Helper functions for workloads that use LibTorch. They need no CUDA headers: device-specific operations use
/// LibTorch's device guard.
namespace kymo::libtorch {

/// Makes the device that the host assigned to this rank LibTorch's current device and returns it; the device meta if
/// the memory of the workload is predicted. Call it before any
/// computation. Throws c10::Error if LibTorch cannot use the device.
inline at::Device select_device(const Context& ctx) {
  settle_vector_functions();
  if (ctx.on_meta()) return at::Device(at::kMeta);
  if (!ctx.is_cuda()) return at::Device(at::kCPU);
  const at::Device device(at::kCUDA, static_cast<at::DeviceIndex>(ctx.device_index()));
  c10::impl::getDeviceGuardImpl(at::kCUDA)->setDevice(device);
  return device;
}

/// Returns LibTorch's current cudaStream_t for this thread, or nullptr on CPU and meta.
inline void* current_stream(const Context& ctx) {
  if (!ctx.is_cuda() || ctx.on_meta()) return nullptr;
  const at::Device device(at::kCUDA, static_cast<at::DeviceIndex>(ctx.device_index()));
  return c10::impl::getDeviceGuardImpl(at::kCUDA)->getStream(device).native_handle();
}

/// Begins a phase on LibTorch's current stream.
[[nodiscard]] inline Phase phase(const Context& ctx, const char* name) { return ctx.phase(name, current_stream(ctx)); }

/// Names of the dtypes that workloads offer, as accepted by dtype().
inline std::vector<std::string> dtype_names() { return {"fp32", "bf16", "fp16"}; }

/// Returns the dtype with this name. Also accepts "fp64", for references. Throws std::invalid_argument for other names.
inline at::ScalarType dtype(std::string_view name) {
  if (name == "fp32") return at::kFloat;
  if (name == "bf16") return at::kBFloat16;
  if (name == "fp16") return at::kHalf;
  if (name == "fp64") return at::kDouble;
  throw std::invalid_argument("unknown dtype '" + std::string(name) + "': expected one of fp32, bf16, fp16, fp64");
}

/// Seeds the default generators of all devices.
inline void seed_everything(std::uint64_t seed) { at::manual_seed(seed); }

/// Creates a generator for a device that is independent of the device's default generator.
inline at::Generator make_generator(const at::Device& device, std::uint64_t seed) {
  at::Generator shared = at::globalContext().defaultGenerator(device.is_meta() ? at::Device(at::kCPU) : device);
  at::Generator own = [&] {
    std::lock_guard<std::mutex> lock(shared.mutex());
    return shared.clone();
  }();
  own.set_current_seed(seed);
  return own;
}

/// Reports the category of a tensor's memory to the host. Undefined tensors are ignored.
inline void tag(const Context& ctx, const at::Tensor& tensor, Block what) {
  if (tensor.defined()) ctx.tag(tensor.const_data_ptr(), tensor.nbytes(), what);
}

}  // namespace kymo::libtorch
