// SPDX-License-Identifier: Apache-2.0
// SwiGLU of the joint projection: silu(gate) * up, and its gradient, which recomputes silu. One block per row.
#include "layer_vectors.cuh"

namespace kymo::layers {
namespace {

constexpr int kMaxThreads = 512;
constexpr int kLoads = 2;  // vectors of each tensor that a thread loads before it waits for any of them

__device__ __forceinline__ float sigmoid(float x) { return 1.f / (1.f + __expf(-x)); }

template <class T>
__global__ void __launch_bounds__(kMaxThreads) swiglu(const SwiGlu call) {
  constexpr int kV = kVector<T>;
  const int width = static_cast<int>(call.width), step = static_cast<int>(blockDim.x) * kV;
  const T* const gate_row = static_cast<const T*>(call.joint) + static_cast<int64_t>(blockIdx.x) * 2 * width;
  T* const to = static_cast<T*>(call.to) + static_cast<int64_t>(blockIdx.x) * width;
  for (int first = static_cast<int>(threadIdx.x) * kV; first < width; first += kLoads * step) {
    Packed<T, kV> gates[kLoads], ups[kLoads];
#pragma unroll
    for (int c = 0; c < kLoads; ++c) {
      if (first + c * step >= width) continue;
      gates[c].read(gate_row + first + c * step);
      ups[c].read(gate_row + width + first + c * step);
    }
#pragma unroll
    for (int c = 0; c < kLoads; ++c) {
      if (first + c * step >= width) continue;
      float gate[kV], up[kV];
      gates[c].convert(gate), ups[c].convert(up);
#pragma unroll
      for (int i = 0; i < kV; ++i) up[i] *= gate[i] * sigmoid(gate[i]);
      store(to + first + c * step, up);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kMaxThreads) swiglu_backward(const SwiGlu call) {
  constexpr int kV = kVector<T>;
  const int width = static_cast<int>(call.width), step = static_cast<int>(blockDim.x) * kV;
  const int64_t row = blockIdx.x;
  const T* const gate_row = static_cast<const T*>(call.joint) + row * 2 * width;
  const T* const gradient_row = static_cast<const T*>(call.gradient) + row * width;
  T* const to = static_cast<T*>(call.to) + row * 2 * width;
  for (int first = static_cast<int>(threadIdx.x) * kV; first < width; first += kLoads * step) {
    Packed<T, kV> gates[kLoads], ups[kLoads], gradients[kLoads];
#pragma unroll
    for (int c = 0; c < kLoads; ++c) {
      if (first + c * step >= width) continue;
      gates[c].read(gate_row + first + c * step);
      ups[c].read(gate_row + width + first + c * step);
      gradients[c].read(gradient_row + first + c * step);
    }
#pragma unroll
    for (int c = 0; c < kLoads; ++c) {
      if (first + c * step >= width) continue;
      float gate[kV], up[kV], gradient[kV];
      gates[c].convert(gate), ups[c].convert(up), gradients[c].convert(gradient);
#pragma unroll
      for (int i = 0; i < kV; ++i) {
        const float share = sigmoid(gate[i]), silu = gate[i] * share;
        const float of_up = gradient[i] * silu;
        gate[i] = gradient[i] * up[i] * (share + silu * (1.f - share));
        up[i] = of_up;
      }
      store(to + first + c * step, gate);
      store(to + width + first + c * step, up);
    }
  }
}

}  // namespace

std::string launch(const SwiGlu& call, Stream stream) {
  return with_type(call.element, [&](auto element) {
    using T = decltype(element);
    const flash::LaunchShape shape{call.rows, threads_for(call.width / kVector<T>, kMaxThreads), 0, stream};
    return flash::failure("swiglu", flash::queue(call.gradient ? swiglu_backward<T> : swiglu<T>, shape, call));
  });
}

}  // namespace kymo::layers
