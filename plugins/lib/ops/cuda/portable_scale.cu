// SPDX-License-Identifier: Apache-2.0
// Multiplies a tensor of fp32 sums by a number in device memory and rounds it. A thread loads the sums for kLoads
// vectors of results before it waits for any of them.
#include "layer_vectors.cuh"

namespace kymo::layers {
namespace {

constexpr int kThreads = 256, kLoads = 2;

template <class T>
__global__ void __launch_bounds__(kThreads) scale(const Scale call) {
  constexpr int kV = kVector<T>;
  const float factor = *call.factor;
  const float* const from = call.from;
  T* const to = static_cast<T*>(call.to);
  const int64_t vectors = call.elements / kV,
                first = static_cast<int64_t>(blockIdx.x) * kThreads * kLoads + threadIdx.x;
  float x[kLoads][kV];
#pragma unroll
  for (int i = 0; i < kLoads; ++i)
    if (first + i * kThreads < vectors) load(from + (first + i * kThreads) * kV, x[i]);
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    if (first + i * kThreads >= vectors) continue;
#pragma unroll
    for (float& number : x[i]) number *= factor;
    store(to + (first + i * kThreads) * kV, x[i]);
  }
  const int64_t last = vectors * kV + threadIdx.x;
  if (blockIdx.x == 0 && last < call.elements) to[last] = rounded<T>(from[last] * factor);
}

}  // namespace

std::string launch(const Scale& call, Stream stream) {
  return with_type(call.element, [&](auto element) {
    using T = decltype(element);
    const int64_t blocks = divided_up(call.elements, int64_t{kVector<T>} * kThreads * kLoads);
    return flash::failure("scale", flash::queue(scale<T>, flash::LaunchShape{blocks, kThreads, 0, stream}, call));
  });
}

}  // namespace kymo::layers
