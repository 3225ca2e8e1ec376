// SPDX-License-Identifier: Apache-2.0
// RMSNorm, with the addition of a residual. Blocks are (threads of a row) x (rows).
//
// Forward, a block reads its rows once, keeps them in registers, and ends: as blocks start in order, the memory that is
// accessed at a time is contiguous, which makes the pass as fast as a copy. A thread loads 2 vectors of its row, 4 of
// rows that would need too many threads, and those of the weight before it waits for any of them.
//
// Backward, with r = 1 / sqrt(mean(x^2) + epsilon) and g = gradient * weight:
//   dx = r (g - x r^2 mean(x g)) + gradient of the sum,   dweight = sum over rows of gradient * x * r
// Blocks are persistent, and a ring in shared memory receives the next rows of a group of threads. Each thread sums the
// weight gradient of its rows, which are always the same, in registers; a second kernel adds the blocks in order. The
// result is therefore bitwise reproducible. The row in process is kept in registers, too: up to 8 elements of each
// tensor in each of up to 1024 threads. With fewer threads, long rows would not fit, and shared memory would be read
// twice.
#include "row_ring.cuh"

namespace kymo::layers {
namespace {

constexpr int kForwardThreads = 512;  // of a block, whose rows are as many as fit

/// Sum over the threads of a row, for all rows of the block. The rows wait for each other: with a barrier for each,
/// whose number is not known to the compiler, a block would reserve all 16, and an SM would hold no more than four
/// blocks.
__device__ __forceinline__ float row_sum(float value) {
  __shared__ float shared[kMaxRowThreads / kWarp];
  const int threads = static_cast<int>(blockDim.x), warps = threads / kWarp, thread = static_cast<int>(threadIdx.x);
  value = warp_sum(value);
  if (warps == 1) return value;
  float* const of_row = shared + static_cast<int>(threadIdx.y) * warps;
  if (thread % kWarp == 0) of_row[thread / kWarp] = value;
  __syncthreads();
  value = 0;
#pragma unroll 4
  for (int warp = 0; warp < warps; ++warp) value += of_row[warp];
  return value;
}

/// 1 / sqrt(x) with one step of Newton's method: the error of rsqrtf alone, of up to two units in the last place, would
/// be that of the whole row. Where the step overflows (x is 0 or infinite), that of rsqrtf. The backward pass does
/// without: its errors are no larger than LibTorch's anyway, and it would take 0.5 % more time.
__device__ __forceinline__ float precise_rsqrt(float x) {
  const float root = rsqrtf(x), rest = fmaf(-x * root, root, 1.f);
  return fabsf(rest) < 1.f ? fmaf(0.5f * root, rest, root) : root;
}

__device__ __forceinline__ float root_of(float total, const RmsNorm& call) {
  return precise_rsqrt(total / static_cast<float>(call.width) + call.epsilon);
}

template <class S, class B, class W, bool kAdds, int kChunks>
__global__ void __launch_bounds__(kMaxRowThreads) rms_norm(const RmsNorm call) {
  constexpr int kV = kVector<S>;
  const int64_t row = first_row(), start = row * call.width;
  const auto column = [](int chunk) { return static_cast<int>(threadIdx.x + chunk * blockDim.x) * kV; };
  const int width = row < call.rows ? static_cast<int>(call.width) : 0;  // all threads take part in the sum
  Packed<S, kV> x[kChunks];
  Packed<B, kV> added[kAdds ? kChunks : 1];
  Packed<W, kV> weight[kChunks];
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    if (column(c) >= width) continue;
    x[c].read(static_cast<const S*>(kAdds ? call.residual : call.x) + start + column(c));
    if constexpr (kAdds) added[c].read(static_cast<const B*>(call.x) + start + column(c));
  }
#pragma unroll
  for (int c = 0; c < kChunks; ++c)
    if (column(c) < width) weight[c].read(static_cast<const W*>(call.weight) + column(c));
  float total = 0;
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    if (column(c) >= width) continue;
    float values[kV], of_vector = 0;
    x[c].convert(values);
    if constexpr (kAdds) {
      float more[kV];
      added[c].convert(more);
#pragma unroll
      for (int i = 0; i < kV; ++i) values[i] += more[i];
      x[c].round(values);
      x[c].write(static_cast<S*>(call.sum) + start + column(c));
      x[c].convert(values);
    }
#pragma unroll
    for (int i = 0; i < kV; ++i) of_vector += values[i] * values[i];
    total += of_vector;
  }
  const float root = root_of(row_sum(total), call);
#pragma unroll
  for (int c = 0; c < kChunks; ++c) {
    if (column(c) >= width) continue;
    float values[kV], scale[kV];
    x[c].convert(values), weight[c].convert(scale);
#pragma unroll
    for (int i = 0; i < kV; ++i) values[i] = scale[i] * (values[i] * root);
    store(static_cast<B*>(call.y) + start + column(c), values);
  }
}

/// Elements of a thread and tensor that the backward pass keeps in registers while it processes a row.
constexpr int kKeptElements = 8;

/// Vectors of a thread and tensor in the backward pass, at most.
template <class S>
constexpr int kRingChunks = kKeptElements / kVector<S>;
static_assert(kKeptElements * kMaxBlockThreads >= kMaxNormWidth);

/// Writes the sum of `sums` over the rows of the block to its row of the partial sums. Reuses the memory of the ring.
template <int kChunks, int kV>
__device__ __forceinline__ void write_partials(const RmsNormBackward& call, const float (&sums)[kChunks][kV]) {
  const int width = static_cast<int>(call.width), threads = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y);
  const int rows = static_cast<int>(blockDim.y);
  float* const to = call.partials + static_cast<int64_t>(blockIdx.x) * width;
  if (rows == 1) {
#pragma unroll
    for (int c = 0; c < kChunks; ++c)
      if ((thread + c * threads) * kV < width) store(to + (thread + c * threads) * kV, sums[c]);
    return;
  }
  constexpr int kElements = kChunks * kV;
  float* const shared = reinterpret_cast<float*>(ring_memory);  // of each row: kElements x threads
  __syncthreads();
#pragma unroll
  for (int e = 0; e < kElements; ++e) shared[(row * kElements + e) * threads + thread] = sums[e / kV][e % kV];
  __syncthreads();
  for (int e = row; e < kElements; e += rows) {
    const int column = (thread + e / kV * threads) * kV + e % kV;
    if (column >= width) continue;
    float total = 0;
    for (int other = 0; other < rows; ++other) total += shared[(other * kElements + e) * threads + thread];
    to[column] = total;
  }
}

template <class S, class B, bool kAdds, int kChunks>
using BackwardRing =
    std::conditional_t<kAdds, RowRing<kVector<S>, kChunks, S, B, S>, RowRing<kVector<S>, kChunks, S, B>>;

template <bool kAdds, class Ring, class S, class B>
__device__ __forceinline__ Ring backward_ring(const RmsNormBackward& call, int stages) {
  const auto *x = static_cast<const S*>(call.x), *sum_gradient = static_cast<const S*>(call.sum_gradient);
  const auto* gradient = static_cast<const B*>(call.gradient);
  if constexpr (kAdds)
    return Ring(stages, call.rows, call.width, x, gradient, sum_gradient);
  else
    return Ring(stages, call.rows, call.width, x, gradient);
}

template <class S, class B, class W, bool kAdds, int kChunks, bool kWide>
__global__ void __launch_bounds__(kMaxBlockThreads) rms_norm_backward(const RmsNormBackward call, const int stages) {
  constexpr int kV = kVector<S>;
  // The ring is refilled as soon as the row is in registers: memory stays busy while the threads wait for their sums.
  // With a gradient of the sum, a thread would need too many registers for that.
  constexpr bool kEarly = !kAdds;
  using Sums = RowSums<kWide>;
  __shared__ __align__(sizeof(float) * Sums::kFloats) float memory[Sums::kFloats];
  flash::launch_dependents();
  auto ring = backward_ring<kAdds, BackwardRing<S, B, kAdds, kChunks>, S, B>(call, stages);
  Sums row_sums(memory);
  float sums[kChunks][kV] = {}, x[kChunks][kV], gradient[kChunks][kV], weight[kChunks][kV];
#pragma unroll
  for (int c = 0; c < kChunks; ++c)
    if (ring.inside(c)) load(static_cast<const W*>(call.weight) + ring.column(c), weight[c]);
  const float share = 1.f / static_cast<float>(call.width);
  for (; ring.any(); ring.advance()) {
    float2 total{};
    ring.wait();
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      if (!ring.inside(c)) continue;
      ring.template read<0>(c, x[c]);
      ring.template read<1>(c, gradient[c]);
#pragma unroll
      for (int i = 0; i < kV; ++i) {
        total.x += x[c][i] * x[c][i];
        total.y += x[c][i] * (gradient[c][i] * weight[c][i]);
      }
    }
    if constexpr (kEarly) ring.refill();
    total = row_sums.sum(total);
    const float root = rsqrtf(total.x * share + call.epsilon), along = total.y * share * root * root * root;
#pragma unroll
    for (int c = 0; c < kChunks; ++c) {
      if (!ring.inside(c)) continue;
      float result[kV] = {};
      if constexpr (kAdds) ring.template read<2>(c, result);
#pragma unroll
      for (int i = 0; i < kV; ++i) {
        sums[c][i] += gradient[c][i] * (x[c][i] * root);
        result[i] = kAdds ? result[i] - x[c][i] * along : -x[c][i] * along;
        result[i] += gradient[c][i] * (weight[c][i] * root);
      }
      store(static_cast<S*>(call.x_gradient) + ring.index(c), result);
    }
    if constexpr (!kEarly) ring.refill();
  }
  write_partials(call, sums);
}

constexpr int kSumColumns = 32, kSumRows = 32, kSumUnroll = 8;

template <class W>
__global__ void __launch_bounds__(kSumColumns* kSumRows)
    rms_norm_weight_gradient(const float* partials, int rows, int width, W* to) {
  __shared__ float shared[kSumRows][kSumColumns + 1];
  const int column = static_cast<int>(blockIdx.x) * kSumColumns + static_cast<int>(threadIdx.x);
  flash::wait_for_prerequisites();
  float total = 0;
  for (int row = static_cast<int>(threadIdx.y); column < width && row < rows; row += kSumUnroll * kSumRows) {
    float values[kSumUnroll];
#pragma unroll
    for (int i = 0; i < kSumUnroll; ++i) {
      const int other = row + i * kSumRows;
      values[i] = other < rows ? partials[static_cast<int64_t>(other) * width + column] : 0;
    }
#pragma unroll
    for (int i = 0; i < kSumUnroll; ++i) total += values[i];
  }
  shared[threadIdx.y][threadIdx.x] = total;
  __syncthreads();
  // A warp adds a column in pairs: added one after another, the last sums would determine the error.
  static_assert(kSumRows == kWarp && kSumColumns == kSumRows);
  total = warp_sum(shared[threadIdx.x][threadIdx.y]);
  const int of_warp = static_cast<int>(blockIdx.x) * kSumColumns + static_cast<int>(threadIdx.y);
  if (threadIdx.x == 0 && of_warp < width) to[of_warp] = rounded<W>(total);
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

template <class Kernel, class... Arguments>
cudaError_t queue_rows(Kernel kernel, const RowShape& shape, Stream stream, const Arguments&... arguments) {
  flash::LaunchShape launch{shape.blocks, shape.threads, shape.shared_bytes, stream};
  launch.block_rows = shape.rows;
  return flash::queue(kernel, launch, arguments...);
}

/// Vectors of a thread and tensor in the forward pass; one where two would leave lanes of the warp without any.
int forward_chunks(int64_t vectors) { return vectors <= kWarp ? 1 : vectors <= 2 * kMaxRowThreads ? 2 : 4; }

template <class S, class B, class W, bool kAdds>
std::string queue_forward(const RmsNorm& call, Stream stream) {
  static_assert(kMaxNormWidth <= 4 * kMaxRowThreads * kVector<S>);
  const int64_t vectors = call.width / kVector<S>;
  const int chunks = forward_chunks(vectors);
  RowShape shape{};
  shape.threads = static_cast<int>(divided_up(divided_up(vectors, chunks), kWarp) * kWarp);
  shape.rows = std::max(1, kForwardThreads / shape.threads);
  shape.blocks = divided_up(call.rows, shape.rows);
  const auto kernel = chunks == 1   ? rms_norm<S, B, W, kAdds, 1>
                      : chunks == 2 ? rms_norm<S, B, W, kAdds, 2>
                                    : rms_norm<S, B, W, kAdds, 4>;
  return flash::failure("rms_norm", queue_rows(kernel, shape, stream, call));
}

/// Calls function with the number of vectors of a thread and whether the row is wide, which are constants.
template <class S, class Function>
std::string with_ring_row(const RowShape& shape, const Function& function) {
  constexpr std::integral_constant<int, kRingChunks<S>> kMost;
  if (shape.threads > kMaxRowThreads) return function(kMost, std::true_type{});
  if (shape.chunks == kMost) return function(kMost, std::false_type{});
  return function(std::integral_constant<int, 1>{}, std::false_type{});
}

/// Calls function(kernel, shape) with the kernel of a backward pass.
template <class Function>
std::string with_backward(const RmsNormBackward& call, const Function& function) {
  return with_types(call.types, [&](auto s, auto b, auto w) {
    using S = decltype(s);
    RowShape shape = row_shape(call.width, kVector<S>, kRingChunks<S>);
    return with_ring_row<S>(shape, [&](auto chunks, auto wide) {
      using B = decltype(b);
      using W = decltype(w);
      constexpr int kChunks = decltype(chunks)::value;
      constexpr bool kWide = decltype(wide)::value;
      const int bytes = call.sum_gradient ? BackwardRing<S, B, true, kChunks>::kThreadBytes
                                          : BackwardRing<S, B, false, kChunks>::kThreadBytes;
      const cudaError_t error = add_ring(shape, call.rows, bytes);
      if (error != cudaSuccess) return flash::failure("rms_norm_backward", error);
      const auto kernel = call.sum_gradient ? rms_norm_backward<S, B, W, true, kChunks, kWide>
                                            : rms_norm_backward<S, B, W, false, kChunks, kWide>;
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
  return with_types(call.types, [&](auto s, auto b, auto w) {
    using S = decltype(s);
    using B = decltype(b);
    using W = decltype(w);
    return call.residual ? queue_forward<S, B, W, true>(call, stream) : queue_forward<S, B, W, false>(call, stream);
  });
}

int64_t partial_rows(const RmsNormBackward& call) {
  int64_t blocks = 1;
  with_backward(call, [&](auto, const RowShape& shape) -> std::string {
    blocks = shape.blocks;
    return {};
  });
  return blocks;
}

std::string launch(const RmsNormBackward& call, Stream stream) {
  int64_t blocks = 0;
  std::string error = with_backward(call, [&](auto kernel, const RowShape& shape) {
    blocks = shape.blocks;
    return flash::failure("rms_norm_backward", queue_rows(kernel, shape, stream, call, shape.stages));
  });
  if (!error.empty()) return error;
  return with_type(call.types.weight, [&](auto w) {
    using W = decltype(w);
    const flash::LaunchShape shape{divided_up(call.width, kSumColumns), kSumColumns, 0, stream, true, 1, kSumRows};
    return flash::failure(
        "rms_norm_weight_gradient",
        flash::queue(rms_norm_weight_gradient<W>, shape, static_cast<const float*>(call.partials),
                     static_cast<int>(blocks), static_cast<int>(call.width), static_cast<W*>(call.weight_gradient)));
  });
}

}  // namespace kymo::layers
