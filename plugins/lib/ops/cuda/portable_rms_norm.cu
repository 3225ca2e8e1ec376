// SPDX-License-Identifier: Apache-2.0
// RMSNorm, with the addition of a residual. A row stays in the registers of its threads: it is read once. The threads
// of a block are (threads of a row) x (rows).
//
// Backward, with r = 1 / sqrt(mean(x^2) + epsilon) and g = gradient * weight:
//   dx = r (g - x r^2 mean(x g)) + gradient of the sum,   dweight = sum over rows of gradient * x * r
// Each block sums the weight gradient of its rows, which are always the same, in registers; a second kernel adds the
// blocks in order. The result is therefore bitwise reproducible.
#include <algorithm>

#include "layer_vectors.cuh"

namespace kymo::layers {
namespace {

constexpr int kMaxThreads = 512;
constexpr int kMaxWarps = kMaxThreads / kWarp;

/// Sum over the threads of a row, whose number is a multiple of 32. `shared` may be reused after the next
/// __syncthreads().
template <int kCount>
__device__ __forceinline__ void row_sums(float (&values)[kCount], float (*shared)[kMaxWarps]) {
  const int warps = static_cast<int>(blockDim.x) / kWarp, thread = static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(threadIdx.y) * warps;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    values[i] = warp_sum(values[i]);
    if (thread % kWarp == 0) shared[i][first + thread / kWarp] = values[i];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    values[i] = 0;
    for (int warp = 0; warp < warps; ++warp) values[i] += shared[i][first + warp];
  }
}

template <class S, class B, class W, bool kAdds, int kChunks>
__global__ void __launch_bounds__(kMaxThreads) rms_norm(const RmsNorm call) {
  constexpr int kV = kVector<S>;
  __shared__ float shared[1][kMaxWarps];
  const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y, start = row * call.width;
  const bool inside = row < call.rows;
  float x[kChunks][kV] = {}, total[1] = {};
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    const int column = static_cast<int>(threadIdx.x + c * blockDim.x) * kV;
    if (!inside || column >= call.width) continue;
    if constexpr (kAdds) {
      float added[kV];
      load(static_cast<const B*>(call.x) + start + column, added);
      load(static_cast<const S*>(call.residual) + start + column, x[c]);
#pragma unroll
      for (int i = 0; i < kV; ++i) x[c][i] = to_float(rounded<S>(x[c][i] + added[i]));
      store(static_cast<S*>(call.sum) + start + column, x[c]);
    } else {
      load(static_cast<const S*>(call.x) + start + column, x[c]);
    }
#pragma unroll
    for (int i = 0; i < kV; ++i) total[0] += x[c][i] * x[c][i];
  }
  row_sums(total, shared);
  const float root = rsqrtf(total[0] / static_cast<float>(call.width) + call.epsilon);
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    const int column = static_cast<int>(threadIdx.x + c * blockDim.x) * kV;
    if (!inside || column >= call.width) continue;
    float weight[kV];
    load(static_cast<const W*>(call.weight) + column, weight);
#pragma unroll
    for (int i = 0; i < kV; ++i) weight[i] *= x[c][i] * root;
    store(static_cast<B*>(call.y) + start + column, weight);
  }
}

/// Writes the sum of `sums` over the rows of the block to its row of the partial sums.
template <int kChunks, int kV>
__device__ __forceinline__ void write_partials(const RmsNormBackward& call, const float (&sums)[kChunks][kV]) {
  const int width = static_cast<int>(call.width), threads = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  float* const to = call.partials + static_cast<int64_t>(blockIdx.x) * width;
  if constexpr (kChunks == 1) {  // only then a block has several rows
    __shared__ float shared[kMaxThreads * kV];
#pragma unroll
    for (int i = 0; i < kV; ++i) shared[(row * kV + i) * threads + thread] = sums[0][i];
    __syncthreads();
    if (row > 0 || thread * kV >= width) return;
    float total[kV] = {};
    for (int other = 0; other < static_cast<int>(blockDim.y); ++other)
#pragma unroll
      for (int i = 0; i < kV; ++i) total[i] += shared[(other * kV + i) * threads + thread];
    store(to + thread * kV, total);
  } else {
#pragma unroll
    for (int c = 0; c < kChunks; ++c)
      if ((thread + c * threads) * kV < width) store(to + (thread + c * threads) * kV, sums[c]);
  }
}

/// What a thread reads of a row.
template <class S, class B, bool kAdds, int kChunks>
struct BackwardInputs {
  static constexpr int kV = kVector<S>;
  Packed<S, kV> x[kChunks], sum_gradient[kAdds ? kChunks : 1];
  Packed<B, kV> gradient[kChunks];

  __device__ __forceinline__ void read(const RmsNormBackward& call, int64_t row) {
    if (row >= call.rows) return;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      const int column = static_cast<int>(threadIdx.x + c * blockDim.x) * kV;
      if (column >= call.width) continue;
      const int64_t at = row * call.width + column;
      x[c].read(static_cast<const S*>(call.x) + at);
      gradient[c].read(static_cast<const B*>(call.gradient) + at);
      if constexpr (kAdds) sum_gradient[c].read(static_cast<const S*>(call.sum_gradient) + at);
    }
  }
};

// The inputs of the next row are read before the sums of the current one are known, so that memory is never idle. For
// the longest rows, there are not enough registers.
template <class S, class B, class W, bool kAdds, int kChunks>
__global__ void __launch_bounds__(kMaxThreads) rms_norm_backward(const RmsNormBackward call) {
  constexpr int kV = kVector<S>;
  constexpr bool kReadsAhead = kChunks < 4;
  __shared__ float shared[2][2][kMaxWarps];  // of alternate rounds, so that one barrier per round is sufficient
  float sums[kChunks][kV] = {};
  int round = 0;
  const int64_t rows_at_once = static_cast<int64_t>(gridDim.x) * blockDim.y;
  int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  BackwardInputs<S, B, kAdds, kChunks> now, next;
  if constexpr (kReadsAhead) next.read(call, row);
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.y; first < call.rows;
       first += rows_at_once, row += rows_at_once, round ^= 1) {
    const int64_t start = row * call.width;
    const bool inside = row < call.rows;
    if constexpr (kReadsAhead) {
      now = next;
      next.read(call, row + rows_at_once);
    } else {
      now.read(call, row);
    }
    float total[2] = {};
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      const int column = static_cast<int>(threadIdx.x + c * blockDim.x) * kV;
      if (!inside || column >= call.width) continue;
      float x[kV], gradient[kV], weight[kV];
      now.x[c].convert(x);
      now.gradient[c].convert(gradient);
      load(static_cast<const W*>(call.weight) + column, weight);
#pragma unroll
      for (int i = 0; i < kV; ++i) {
        total[0] += x[i] * x[i];
        total[1] += x[i] * gradient[i] * weight[i];
      }
      now.x[c].forget_conversion(), now.gradient[c].forget_conversion();
    }
    row_sums(total, shared[round]);
    const float count = static_cast<float>(call.width), root = rsqrtf(total[0] / count + call.epsilon);
    const float along = total[1] / count * root * root;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      const int column = static_cast<int>(threadIdx.x + c * blockDim.x) * kV;
      if (!inside || column >= call.width) continue;
      float x[kV], gradient[kV], weight[kV], added[kV] = {};
      now.x[c].convert(x);
      now.gradient[c].convert(gradient);
      load(static_cast<const W*>(call.weight) + column, weight);
      if constexpr (kAdds) now.sum_gradient[c].convert(added);
#pragma unroll
      for (int i = 0; i < kV; ++i) {
        sums[c][i] += gradient[i] * x[i] * root;
        added[i] += root * (gradient[i] * weight[i] - x[i] * along);
      }
      store(static_cast<S*>(call.x_gradient) + start + column, added);
    }
  }
  write_partials(call, sums);
}

constexpr int kSumColumns = 32, kSumRows = 32;

template <class W>
__global__ void __launch_bounds__(kSumColumns* kSumRows)
    rms_norm_weight_gradient(const float* partials, int rows, int width, W* to) {
  __shared__ float shared[kSumRows][kSumColumns + 1];
  const int column = static_cast<int>(blockIdx.x) * kSumColumns + static_cast<int>(threadIdx.x);
  float total = 0;
  if (column < width) {
#pragma unroll 4
    for (int row = static_cast<int>(threadIdx.y); row < rows; row += kSumRows)
      total += partials[static_cast<int64_t>(row) * width + column];
  }
  shared[threadIdx.y][threadIdx.x] = total;
  __syncthreads();
  if (threadIdx.y > 0 || column >= width) return;
  total = 0;
#pragma unroll
  for (int row = 0; row < kSumRows; ++row) total += shared[row][threadIdx.x];
  to[column] = rounded<W>(total);
}

/// Threads of a row, rows of a block and vectors of a thread.
struct Shape {
  int threads, rows, chunks;
};

Shape shape_of(int64_t width, Element stream, int block_threads) {
  const int64_t vectors = width * bytes_of(stream) / kVectorBytes;
  const int chunks = vectors <= kMaxThreads ? 1 : vectors <= 2 * kMaxThreads ? 2 : 4;
  const int threads = static_cast<int>(divided_up(divided_up(vectors, chunks), kWarp) * kWarp);
  return {threads, chunks == 1 ? std::max(1, block_threads / threads) : 1, chunks};
}

template <class... Parameters, class Call>
std::string queue_rows(const char* name, void (*kernel)(Parameters...), const Shape& shape, int64_t blocks,
                       Stream stream, const Call& call) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(shape.threads), static_cast<unsigned>(shape.rows));
  config.stream = stream;
  return flash::failure(name, cudaLaunchKernelEx(&config, kernel, call));
}

/// Calls function(S{}, B{}, W{}) with the types of stream, branch and weight.
template <class Function>
std::string with_types(const NormTypes& types, const Function& function) {
  if (types.stream == Element::kFloat32) {
    if (types.weight != Element::kFloat32) return "rms_norm: the weight must be fp32";
    return with_type(types.branch, [&](auto branch) { return function(float{}, branch, float{}); });
  }
  if (types.branch != types.stream) return "rms_norm: the branch must have the type of the stream";
  return with_type(types.stream, [&](auto stream) -> std::string {
    using S = decltype(stream);
    if constexpr (std::is_same_v<S, float>) {
      return "rms_norm: unreachable";
    } else {
      return types.weight == Element::kFloat32 ? function(S{}, S{}, float{}) : function(S{}, S{}, S{});
    }
  });
}

/// Calls function with the number of vectors of a thread; the maximal width needs 4 of fp32 and 2 of 16-bit types.
template <class S, class Function>
std::string with_chunks(int chunks, const Function& function) {
  if (chunks == 1) return function(std::integral_constant<int, 1>{});
  if (chunks == 2 || sizeof(S) == 2) return function(std::integral_constant<int, 2>{});
  if constexpr (sizeof(S) == 4) return function(std::integral_constant<int, 4>{});
  return "rms_norm: the row is too long";
}

constexpr int kForwardThreads = 256;
constexpr int kBackwardThreads = 256;

/// Calls function(kernel, shape) with the kernel of a backward pass.
template <class Function>
std::string with_backward(const RmsNormBackward& call, const Function& function) {
  const Shape shape = shape_of(call.width, call.types.stream, kBackwardThreads);
  return with_types(call.types, [&](auto s, auto b, auto w) {
    using S = decltype(s);
    return with_chunks<S>(shape.chunks, [&](auto chunks) {
      using B = decltype(b);
      using W = decltype(w);
      const auto kernel = call.sum_gradient ? rms_norm_backward<S, B, W, true, chunks.value>
                                            : rms_norm_backward<S, B, W, false, chunks.value>;
      return function(kernel, shape);
    });
  });
}

}  // namespace

bool device_supported() {
  int major = 0;
  return flash::device_attribute(cudaDevAttrComputeCapabilityMajor, major) == cudaSuccess && major >= 8;
}

std::string launch(const RmsNorm& call, Stream stream) {
  const Shape shape = shape_of(call.width, call.types.stream, kForwardThreads);
  const int64_t blocks = divided_up(call.rows, shape.rows);
  return with_types(call.types, [&](auto s, auto b, auto w) {
    using S = decltype(s);
    using B = decltype(b);
    using W = decltype(w);
    return with_chunks<S>(shape.chunks, [&](auto chunks) {
      const auto kernel =
          call.residual ? rms_norm<S, B, W, true, chunks.value> : rms_norm<S, B, W, false, chunks.value>;
      return queue_rows("rms_norm", kernel, shape, blocks, stream, call);
    });
  });
}

int64_t partial_rows(const RmsNormBackward& call) {
  int multiprocessors = 1;
  if (flash::count_multiprocessors(multiprocessors) != cudaSuccess) multiprocessors = 1;
  int64_t blocks = 1;
  // All blocks run at once: each takes as many rows as the others.
  with_backward(call, [&](auto kernel, const Shape& shape) -> std::string {
    int per_multiprocessor = 1;
    if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel, shape.threads * shape.rows, 0) !=
        cudaSuccess)
      per_multiprocessor = 1;
    blocks = std::min(divided_up(call.rows, shape.rows), int64_t{multiprocessors} * std::max(per_multiprocessor, 1));
    return {};
  });
  return blocks;
}

std::string launch(const RmsNormBackward& call, Stream stream) {
  const int64_t blocks = partial_rows(call);
  std::string error = with_backward(call, [&](auto kernel, const Shape& shape) {
    return queue_rows("rms_norm_backward", kernel, shape, blocks, stream, call);
  });
  if (!error.empty()) return error;
  return with_type(call.types.weight, [&](auto w) {
    using W = decltype(w);
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(divided_up(call.width, kSumColumns)));
    config.blockDim = dim3(kSumColumns, kSumRows);
    config.stream = stream;
    return flash::failure("rms_norm_weight_gradient",
                          cudaLaunchKernelEx(&config, rms_norm_weight_gradient<W>,
                                             static_cast<const float*>(call.partials), static_cast<int>(blocks),
                                             static_cast<int>(call.width), static_cast<W*>(call.weight_gradient)));
  });
}

}  // namespace kymo::layers
