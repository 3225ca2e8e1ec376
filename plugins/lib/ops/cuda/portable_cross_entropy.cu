// SPDX-License-Identifier: Apache-2.0
// Loss and gradient of a row of logits, one block per row, in place. The first pass over the row keeps a running
// maximum and sum (online softmax); the second, in reverse order, finds the end of the row in the caches.
#include "layer_vectors.cuh"
#include "ptx.cuh"

namespace kymo::layers {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int64_t kLongRow = 32768;
using flash::kLog2E;
constexpr float kLowest = -3.0e38f;  // finite, so that differences of two of them are 0

/// The maximum of some logits, and the sum of exp(logit - maximum).
struct Softmax {
  float top = kLowest, sum = 0;
};

__device__ __forceinline__ Softmax merged(Softmax a, Softmax b) {
  const float top = fmaxf(a.top, b.top);
  return {top, a.sum * flash::exp2_fast((a.top - top) * kLog2E) + b.sum * flash::exp2_fast((b.top - top) * kLog2E)};
}

__device__ __forceinline__ Softmax warp_merged(Softmax x) {
#pragma unroll
  for (int i = kWarp / 2; i > 0; i /= 2)
    x = merged(x, {__shfl_xor_sync(0xffffffffu, x.top, i), __shfl_xor_sync(0xffffffffu, x.sum, i)});
  return x;
}

__device__ __forceinline__ Softmax block_merged(Softmax x) {
  __shared__ Softmax shared[kMaxThreads / kWarp];
  const int thread = static_cast<int>(threadIdx.x), warps = static_cast<int>(blockDim.x) / kWarp;
  x = warp_merged(x);
  if (thread % kWarp == 0) shared[thread / kWarp] = x;
  __syncthreads();
  x = thread % kWarp < warps ? shared[thread % kWarp] : Softmax{kLowest, 0.f};
  return warp_merged(x);
}

template <class T, bool kGradient>
__global__ void __launch_bounds__(kMaxThreads) cross_entropy(const CrossEntropy call) {
  constexpr int kV = kVector<T>;
  const int64_t row = blockIdx.x;
  T* const logits = static_cast<T*>(call.logits) + row * call.row_stride;
  const int classes = static_cast<int>(call.classes), vectors = (classes + kV - 1) / kV;
  const int64_t label = call.target[row];
  const bool valid = label >= 0 && label < classes;
  const float hit = valid ? to_float(logits[label]) : __int_as_float(0x7fffffff);  // NaN

  Softmax own;
#pragma unroll 2
  for (int vector = static_cast<int>(threadIdx.x); vector < vectors; vector += static_cast<int>(blockDim.x)) {
    float x[kV];
    load(logits + static_cast<int64_t>(vector) * kV, x);
    float top = own.top;
#pragma unroll
    for (int i = 0; i < kV; ++i) {
      if (vector * kV + i >= classes) x[i] = -INFINITY;
      top = fmaxf(top, x[i]);
    }
    own.sum *= flash::exp2_fast((own.top - top) * kLog2E);
    own.top = top;
#pragma unroll
    for (int i = 0; i < kV; ++i) own.sum += flash::exp2_fast((x[i] - top) * kLog2E);
  }
  const Softmax all = block_merged(own);  // every thread has read `hit`: the row may be overwritten
  const float normaliser = all.top + logf(all.sum);
  if (threadIdx.x == 0) call.losses[row] = normaliser - hit;
  if constexpr (!kGradient) return;

  const int target = valid ? static_cast<int>(label) : -1, threads = static_cast<int>(blockDim.x);
  const int last = (vectors - 1 - static_cast<int>(threadIdx.x)) / threads;  // negative without vectors: no round
  if (static_cast<int>(threadIdx.x) >= vectors) return;
#pragma unroll 2
  for (int round = last; round >= 0; --round) {
    const int column = (static_cast<int>(threadIdx.x) + round * threads) * kV;
    float x[kV];
    load(logits + column, x);
#pragma unroll
    for (int i = 0; i < kV; ++i) {
      const float weight = flash::exp2_fast((x[i] - normaliser) * kLog2E) - (column + i == target ? 1.f : 0.f);
      x[i] = column + i < classes ? weight * call.scale : 0.f;
    }
    store(logits + column, x);
  }
}

}  // namespace

std::string launch(const CrossEntropy& call, Stream stream) {
  return with_type(call.element, [&](auto element) {
    using T = decltype(element);
    const int threads = threads_for(divided_up(call.classes, kVector<T>), call.classes > kLongRow ? kMaxThreads : 512);
    const flash::LaunchShape shape{call.rows, threads, 0, stream};
    return flash::failure(
        "cross_entropy", flash::queue(call.scale != 0 ? cross_entropy<T, true> : cross_entropy<T, false>, shape, call));
  });
}

}  // namespace kymo::layers
