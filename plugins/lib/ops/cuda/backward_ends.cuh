// SPDX-License-Identifier: Apache-2.0
// Preprocess and postprocess kernels of the backward.
//
//   begin   delta = rowsum(dO o); lse (times log2(e) for 16-bit elements), +inf for padded rows and rows that see no
//           key (then P = 0), or RowTerms instead of both; zeroes the accumulator of dQ and the semaphores of the
//           deterministic mode
//   finish  dQ = scale * accumulator, converted from the fragment order of the Hopper kernel, to T
#pragma once
#include "kernels.hpp"
#include "launch.cuh"
#include "ptx.cuh"
#include "tile_coord.cuh"

namespace kymo::flash {

/// The terms that an MMA adds to the scores q k of a row and to its dP: -lse / scale, so that P = exp(scale S), and
/// -delta. Each is stored as three bf16 numbers, whose sum has the precision of fp32, and a 0.
struct alignas(16) RowTerms {
  uint2 of_s, of_dp;
};
__device__ __forceinline__ uint2 split_in_three(float x) {
  using T = __nv_bfloat16;
  const float rest = x - unpack<T>(pack<T>(x, 0.f)).x;
  const uint32_t high_and_middle = pack<T>(x, rest);
  return {high_and_middle, pack<T>(rest - unpack<T>(high_and_middle).y, 0.f)};
}
/// For rows that see no key, S becomes the most negative finite number, because an MMA multiplies it by 0 for dP.
__device__ __forceinline__ RowTerms row_terms(float lse, float delta, float scale) {
  constexpr float kLowest = -3.3895e38f;  // of bf16
  const bool sees_keys = lse != -INFINITY;
  return {split_in_three(sees_keys ? -lse / scale : kLowest), split_in_three(sees_keys ? -delta : 0.f)};
}

/// Results of the kernel begin for each row, (batch * heads_q, padded): `terms`, if not null, otherwise `lse` and
/// `delta`.
struct RowSums {
  float *lse, *delta;
  RowTerms* terms;
  int padded;
};
/// Memory that the kernel begin zeroes for kernels that accumulate dQ in global memory.
struct DqSpace {
  float* sums;          // (batch * heads_q, padded, columns), or null
  int columns;          // a multiple of 64
  int* order;           // or null
  int64_t semaphores;   // number of entries in `order`
  bool output = false;  // dQ itself (floats), which the next kernel adds to
  bool keys = false;    // also zero dK and dV
};

/// Zeroes a tensor of floats; all threads of the grid take part.
__device__ __forceinline__ void clear_tensor(const Output& tensor, const Problem& p) {
  const int64_t in_row = p.d / 4, all = p.batch * p.heads_kv * p.seq_k * in_row;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x; i < all; i += int64_t{256} * gridDim.x) {
    const int64_t row = i / in_row, head = row / p.seq_k;
    float* to =
        head_of<float>(tensor, head / p.heads_kv, head % p.heads_kv) + (row - head * p.seq_k) * tensor.row_stride;
    *reinterpret_cast<float4*>(to + (i - row * in_row) * 4) = make_float4(0, 0, 0, 0);
  }
}

/// sum + the products of the elements of 16 bytes.
template <class T>
__device__ __forceinline__ float add_products(const uint4& x, const uint4& y, float sum) {
  const uint32_t a[4] = {x.x, x.y, x.z, x.w}, b[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (sizeof(T) == 4) {
      sum = fmaf(__uint_as_float(a[i]), __uint_as_float(b[i]), sum);
    } else {
      const float2 u = unpack<T>(a[i]), v = unpack<T>(b[i]);
      sum = fmaf(u.x, v.x, fmaf(u.y, v.y, sum));
    }
  }
  return sum;
}
/// The sum over kLanes neighboring lanes.
template <int kLanes>
__device__ __forceinline__ float sum_over_lanes(float sum) {
#pragma unroll
  for (int mask = kLanes / 2; mask; mask /= 2) sum += __shfl_xor_sync(kWholeWarp, sum, mask);
  return sum;
}

/// lse and delta of a row as the other kernels use them: lse times log2(e) for 16-bit elements; +inf if the row sees no
/// key, so that P = 0.
struct RowSum {
  float lse, delta;
};
template <class T>
__device__ __forceinline__ RowSum row_sum(float lse, float delta) {
  if (lse == -INFINITY) return {INFINITY, 0.f};
  return {sizeof(T) == 4 ? lse : lse * kLog2E, delta};
}

/// kLanes lanes read one row; 256 threads per block.
template <class T, int kLanes>
__global__ void __launch_bounds__(256)
    backward_begin(const __grid_constant__ Backward call, const RowSums sums, const DqSpace dq) {
  constexpr int kRows = 256 / kLanes, kElements = 16 / static_cast<int>(sizeof(T));
  wait_for_prerequisites();
  launch_dependents();
  const Problem& p = call.problem;
  const unsigned blocks = static_cast<unsigned>(sums.padded / kRows), all_head = blockIdx.x / blocks;
  const int row = static_cast<int>(blockIdx.x % blocks) * kRows + threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  const int64_t batch = all_head / p.heads_q, head = all_head % p.heads_q;
  float sum = 0.f;
  if (row < p.seq_q) {
    const T* o = head_of<T>(call.o, batch, head) + row * call.o.row_stride;
    const T* d_o = head_of<T>(call.d_o, batch, head) + row * call.d_o.row_stride;
    for (int at = lane * kElements; at < p.d; at += kLanes * kElements)
      sum = add_products<T>(*reinterpret_cast<const uint4*>(o + at), *reinterpret_cast<const uint4*>(d_o + at), sum);
  }
  sum = sum_over_lanes<kLanes>(sum);
  const int64_t at = static_cast<int64_t>(all_head) * sums.padded + row;
  if (lane == 0) {
    const float lse = row < p.seq_q ? call.lse[all_head * p.seq_q + row] : -INFINITY;
    if (sums.terms) {
      sums.terms[at] = row_terms(lse, sum, p.scale);
    } else {
      const RowSum used = row_sum<T>(lse, sum);
      sums.delta[at] = used.delta;
      sums.lse[at] = used.lse;
    }
  }
  if (dq.sums)
    for (int column = lane * 4; column < dq.columns; column += kLanes * 4)
      *reinterpret_cast<float4*>(dq.sums + at * dq.columns + column) = make_float4(0, 0, 0, 0);
  if constexpr (sizeof(T) == 4)
    if (dq.output && row < p.seq_q)
      for (int column = lane * 4; column < p.d; column += kLanes * 4)
        *reinterpret_cast<float4*>(head_of<T>(call.dq, batch, head) + row * call.dq.row_stride + column) =
            make_float4(0, 0, 0, 0);
  if constexpr (sizeof(T) == 4)
    if (dq.keys) clear_tensor(call.dk, p), clear_tensor(call.dv, p);
  if (dq.order)
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x; i < dq.semaphores;
         i += int64_t{256} * gridDim.x)
      dq.order[i] = 0;
}

/// Waits until `all` contributions have been added.
__device__ __forceinline__ void wait_for_counter(const int* count, int all) {
  if (threadIdx.x == 0) {
    int now;
    do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(now) : "l"(count) : "memory");
    while (now != all);
  }
  __syncthreads();
}

/// Rounds a tile of dQ, in the fragment order of the Hopper kernel, to rows in shared memory. For each 64 x 64 piece
/// and i of 8, the accumulator holds a float4 of each of the 128 threads of a consumer: row g, columns 8 i + 2 t and
/// the next; row g + 8, the same columns. Tiles of kLockstepRows queries are transposed: 64 columns and i of
/// kRows / 8.
template <class T, int kD, int kRows, int kPitch, class Load>
__device__ __forceinline__ void round_fragments(T (&piece)[kRows * kPitch], float scale, const Load& load) {
#pragma unroll
  for (int n = 0; n < kRows * kD / 4 / 256; ++n) {
    const int at = n * 256 + threadIdx.x, thread = at & 127, lane = thread & 31,
              row_of_mma = (thread >> 5) * 16 + (lane >> 2);
    const float4 v = load(at);
    const uint32_t low = pack<T>(v.x * scale, v.y * scale), high = pack<T>(v.z * scale, v.w * scale);
    if constexpr (kRows == kLockstepRows) {
      const int i = (at >> 7) % (kRows / 8), part = at / (128 * (kRows / 8)), row = 8 * i + 2 * (lane & 3),
                column = part * 64 + row_of_mma;
      uint16_t* const to = reinterpret_cast<uint16_t*>(piece) + row * kPitch + column;
      to[0] = low & 0xffff, to[kPitch] = low >> 16, to[8] = high & 0xffff, to[kPitch + 8] = high >> 16;
    } else {
      const int i = at >> 7 & 7, part = at >> 10, row = row_of_mma + (kD == 64 ? part * 64 : 0),
                column = 8 * i + 2 * (lane & 3) + (kD == 64 ? 0 : part * 64);
      *reinterpret_cast<uint32_t*>(&piece[row * kPitch + column]) = low;
      *reinterpret_cast<uint32_t*>(&piece[(row + 8) * kPitch + column]) = high;
    }
  }
}

/// A block converts one tile of kRows queries.
///
/// kEarly: while the last blocks of the previous kernel still run, SMs without one convert the heads that are complete,
/// in the order in which they were processed. `counters` counts the contributions added so far per (batch, key/value
/// head). All blocks of the previous kernel have started by then, so the wait terminates. The last block of this kernel
/// stays until the previous kernel has ended, so that later work in the stream sees dK and dV.
template <class T, int kD, int kRows, bool kEarly>
__global__ void __launch_bounds__(256) backward_finish(const __grid_constant__ Backward call, const float* sums,
                                                       int tiles, const int* counters, int all_counts) {
  constexpr int kPitch = kD + 8;  // rows are offset by 16 bytes to avoid bank conflicts
  __shared__ __align__(16) T piece[kRows * kPitch];
  if constexpr (!kEarly) wait_for_prerequisites();
  launch_dependents();
  const Problem& p = call.problem;
  const unsigned number = kEarly ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
  const unsigned all_head = number / tiles, tile = number % tiles;
  if constexpr (kEarly) wait_for_counter(counters + all_head / (p.heads_q / p.heads_kv), all_counts);
  const float4* from = reinterpret_cast<const float4*>(sums + static_cast<int64_t>(number) * (kRows * kD));
  round_fragments<T, kD, kRows, kPitch>(piece, p.scale, [&](int at) { return kEarly ? __ldcg(from + at) : from[at]; });
  __syncthreads();
  T* to = head_of<T>(call.dq, all_head / p.heads_q, all_head % p.heads_q);
#pragma unroll
  for (int n = 0; n < kRows * kD / 8 / 256; ++n) {
    const int at = n * 256 + threadIdx.x, in_tile = at / (kD / 8), column = at % (kD / 8) * 8;
    const int64_t row = static_cast<int64_t>(tile) * kRows + in_tile;
    if (row < p.seq_q && column < p.d)
      *reinterpret_cast<uint4*>(to + row * call.dq.row_stride + column) =
          *reinterpret_cast<const uint4*>(&piece[in_tile * kPitch + column]);
  }
  if (kEarly && blockIdx.x == gridDim.x - 1) wait_for_prerequisites();
}

inline RowSums row_sums(const Backward& call, const BackwardSpace& space, bool as_terms = false) {
  float* const first = static_cast<float*>(call.workspace);
  const int padded = static_cast<int>(space.padded);
  if (as_terms) return {nullptr, nullptr, static_cast<RowTerms*>(call.workspace), padded};
  return {first, first + space.rows, nullptr, padded};
}

template <class T, int D>
cudaError_t begin_backward(const Backward& call, const BackwardSpace& space, const RowSums& sums, const DqSpace& dq,
                           cudaStream_t stream) {
  constexpr int kChunks = D * static_cast<int>(sizeof(T)) / 16, kLanes = 32 % kChunks == 0 ? kChunks : 32;
  return queue(backward_begin<T, kLanes>, {space.rows / (256 / kLanes), 256, 0, stream, true}, call, sums, dq);
}

}  // namespace kymo::flash
