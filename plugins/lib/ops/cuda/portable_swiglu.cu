// SPDX-License-Identifier: Apache-2.0
// SwiGLU of the joint projection: silu(gate) * up, and its gradient, which recomputes silu. One block per row.
#include "layer_vectors.cuh"

namespace kymo::layers {
namespace {

constexpr int kMaxThreads = 256;

__device__ __forceinline__ float sigmoid(float x) { return 1.f / (1.f + __expf(-x)); }

template <class T>
__global__ void __launch_bounds__(kMaxThreads) swiglu(const SwiGlu call) {
  constexpr int kV = kVector<T>;
  const T* const gate_row = static_cast<const T*>(call.joint) + static_cast<int64_t>(blockIdx.x) * 2 * call.width;
  T* const to = static_cast<T*>(call.to) + static_cast<int64_t>(blockIdx.x) * call.width;
#pragma unroll 2
  for (int64_t column = threadIdx.x * kV; column < call.width; column += blockDim.x * kV) {
    float gate[kV], up[kV];
    load(gate_row + column, gate);
    load(gate_row + call.width + column, up);
#pragma unroll
    for (int i = 0; i < kV; ++i) up[i] *= gate[i] * sigmoid(gate[i]);
    store(to + column, up);
  }
}

template <class T>
__global__ void __launch_bounds__(kMaxThreads) swiglu_backward(const SwiGlu call) {
  constexpr int kV = kVector<T>;
  const int64_t row = blockIdx.x;
  const T* const gate_row = static_cast<const T*>(call.joint) + row * 2 * call.width;
  const T* const gradient_row = static_cast<const T*>(call.gradient) + row * call.width;
  T* const to = static_cast<T*>(call.to) + row * 2 * call.width;
#pragma unroll 2
  for (int64_t column = threadIdx.x * kV; column < call.width; column += blockDim.x * kV) {
    float gate[kV], up[kV], gradient[kV];
    load(gate_row + column, gate);
    load(gate_row + call.width + column, up);
    load(gradient_row + column, gradient);
#pragma unroll
    for (int i = 0; i < kV; ++i) {
      const float share = sigmoid(gate[i]), silu = gate[i] * share;
      const float of_up = gradient[i] * silu;
      gate[i] = gradient[i] * up[i] * (share + silu * (1.f - share));
      up[i] = of_up;
    }
    store(to + column, gate);
    store(to + call.width + column, up);
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
