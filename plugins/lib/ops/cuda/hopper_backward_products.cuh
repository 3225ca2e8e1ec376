// SPDX-License-Identifier: Apache-2.0
// Common code of the consumer warpgroups of the Hopper backward for every head size: MMAs, mask, and output of dK and
// dV.
#pragma once
#include "hopper_backward.cuh"

namespace kymo::flash {

/// Staging buffer of a consumer's 64 rows of dK or dV: address of the first row, distance of panels of 64 columns.
struct Staging {
  uint32_t to;
  int panel_bytes;
};

/// Stores dK or dV to shared memory, then by TMA to global memory, clipped to the tensor. In a block of 64 keys, each
/// consumer owns all rows.
template <class Tiles, class Block>
__device__ __forceinline__ void store_gradient(float (&acc)[Tiles::kD / 2], float factor, const Block& block,
                                               int consumer, const Staging& staging, const CUtensorMap* map) {
  const int now = thread_now(), in_eight = now & 7,
            high = now >> 4 & 1;  // read again to save a register elsewhere
  const int row = ((now & 127) >> 5) * 16 + (now >> 3 & 1) * 8 + in_eight;
#pragma unroll
  for (int k = 0; k < Tiles::kD / 16; ++k) {
    uint32_t r[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      r[i] = pack<typename Tiles::T>(acc[8 * k + 2 * i] * factor, acc[8 * k + 2 * i + 1] * factor);
    store_matrices(staging.to + (k >> 2) * staging.panel_bytes + row * 128 + (((2 * (k & 3) + high) ^ in_eight) * 16),
                   r[0], r[1], r[2], r[3]);
  }
  fence_shared();
  consumer ? named_sync(3, 128) : named_sync(2, 128);
  if ((now & 127) == 0) {
    for (int panel = 0; panel < Tiles::kPanels; ++panel)
      store_box(map, staging.to + panel * staging.panel_bytes,
                {panel * 64, first_key<Tiles>(block) + (Tiles::kKeys > 64 ? consumer * 64 : 0), block.head_kv(),
                 block.batch()});
    commit_bulk();
  }
}

/// Split-Q: adds to the sums of all blocks of these keys.
template <class Tiles, class Block>
__device__ __forceinline__ void add_gradient(const float (&acc)[Tiles::kD / 2], const HopperBackwardCall& call,
                                             const Block& block, int consumer, float* sums) {
  const int now = thread_now(), first = Tiles::kKeys > 64 ? consumer * 64 : 0;
  const int row = first_key<Tiles>(block) + first + ((now & 127) >> 5) * 16 + ((now & 31) >> 2);
  const int64_t head = static_cast<int64_t>(block.batch()) * call.heads_kv + block.head_kv();
  float* to = sums + (head * (call.key_blocks * Tiles::kKeys) + row) * Tiles::kD + 2 * (now & 3);
#pragma unroll
  for (int j = 0; j < Tiles::kD / 8; ++j)
#pragma unroll
    for (int r = 0; r < 2; ++r) add_two(to + 8 * r * Tiles::kD + 8 * j, acc[4 * j + 2 * r], acc[4 * j + 2 * r + 1]);
}

template <class Tiles, class Block>
__device__ __forceinline__ void output_gradient_tile(float (&acc)[Tiles::kD / 2], float factor,
                                                     const HopperBackwardCall& call, const Block& block, int consumer,
                                                     const Staging& staging, const CUtensorMap& map, float* sums) {
  if constexpr (Tiles::kSplitQ)
    add_gradient<Tiles>(acc, call, block, consumer, sums);
  else
    store_gradient<Tiles>(acc, factor, block, consumer, staging, &map);
}

/// Converts the sums of dK (layer 0 of the grid) and dV (layer 1) to the output tensors: eight columns per thread.
template <class T, int kD>
__global__ void __launch_bounds__(256)
    gradients_out(const __grid_constant__ Backward call, const float* dk_sums, const float* dv_sums, int padded) {
  wait_for_prerequisites();
  launch_dependents();
  const Problem& p = call.problem;
  const bool is_dk = blockIdx.y == 0;
  const int64_t number = static_cast<int64_t>(blockIdx.x) * 256 + threadIdx.x, row_of_all = number / (kD / 8);
  const int column = static_cast<int>(number % (kD / 8)) * 8, row = static_cast<int>(row_of_all % p.seq_k);
  const int64_t head = row_of_all / p.seq_k;
  if (head >= p.batch * p.heads_kv || column >= p.d) return;
  const float* from = (is_dk ? dk_sums : dv_sums) + (head * padded + row) * kD + column;
  const float4 a = *reinterpret_cast<const float4*>(from), b = *reinterpret_cast<const float4*>(from + 4);
  const float factor = is_dk ? p.scale : 1.f;
  const Output& out = is_dk ? call.dk : call.dv;
  T* to = head_of<T>(out, head / p.heads_kv, head % p.heads_kv) + row * out.row_stride + column;
  *reinterpret_cast<uint4*>(to) = make_uint4(pack<T>(a.x * factor, a.y * factor), pack<T>(a.z * factor, a.w * factor),
                                             pack<T>(b.x * factor, b.y * factor), pack<T>(b.z * factor, b.w * factor));
}

/// Tells the compiler that a number is the same in all threads: then it, and what depends on it, needs no vector
/// registers.
__device__ __forceinline__ uint32_t uniform(int number) {
  return __reduce_max_sync(kWholeWarp, static_cast<unsigned>(number));
}
/// Converts the scores of 8 queries, numbers 4 j to 4 j + 3 (keys x queries), to probabilities. lse: the log-sum-exp of
/// this thread's two queries times log2(e).
template <int kNumbers>
__device__ __forceinline__ void exponentials(float (&s)[kNumbers], int j, float2 lse, float scale_log2) {
#pragma unroll
  for (int e = 0; e < 4; ++e) s[4 * j + e] = exp2_fast(fmaf(s[4 * j + e], scale_log2, -(e & 1 ? lse.y : lse.x)));
}
/// Rounds P of these queries to a left operand.
template <class T, int kNumbers>
__device__ __forceinline__ void round_p(uint32_t (&p16)[kNumbers / 2], const float (&p)[kNumbers], int j) {
  p16[2 * j] = pack<T>(p[4 * j], p[4 * j + 1]), p16[2 * j + 1] = pack<T>(p[4 * j + 2], p[4 * j + 3]);
}
/// The same for dS = P (dP - delta).
template <class T, int kNumbers>
__device__ __forceinline__ void round_ds(uint32_t (&ds16)[kNumbers / 2], const float (&p)[kNumbers],
                                         const float (&dp)[kNumbers], int j, float2 delta) {
  ds16[2 * j] = pack<T>(p[4 * j] * (dp[4 * j] - delta.x), p[4 * j + 1] * (dp[4 * j + 1] - delta.y));
  ds16[2 * j + 1] = pack<T>(p[4 * j + 2] * (dp[4 * j + 2] - delta.x), p[4 * j + 3] * (dp[4 * j + 3] - delta.y));
}
/// Address for this thread's stmatrix of a consumer's half of dS (queries x 64 keys), in the first of its buffers.
template <class Tiles>
__device__ __forceinline__ uint32_t ds_half(uint32_t shared, int consumer, int warp, int lane) {
  const int matrix = lane >> 3, in_matrix = lane & 7;
  return shared + Tiles::kDs + consumer * (Tiles::kRows * 128) + ((matrix >> 1) * 8 + in_matrix) * 128 +
         (((2 * warp + (matrix & 1)) ^ in_matrix) * 16);
}
/// Stores this consumer's half of dS (keys x queries in registers) as queries x keys.
template <int kWords>
__device__ __forceinline__ void store_ds(uint32_t to, const uint32_t (&ds)[kWords]) {
#pragma unroll
  for (int k = 0; k < kWords / 4; ++k)
    store_matrices_transposed(to + k * 2048, ds[4 * k], ds[4 * k + 1], ds[4 * k + 2], ds[4 * k + 3]);
}
/// Stores a consumer's part of dQ in fragment order.
template <int kNumbers>
__device__ __forceinline__ void store_fragments(uint32_t to, const float (&dq)[kNumbers]) {
#pragma unroll
  for (int j = 0; j < kNumbers / 4; ++j)
    store_shared4(to + j * 2048, dq[4 * j], dq[4 * j + 1], dq[4 * j + 2], dq[4 * j + 3]);
}

/// Issues acc (keys x queries) = A B^T; a, b: operands of the warpgroup's rows of K or V, and of a tile of Q or dO.
template <class Tiles>
__device__ __forceinline__ void issue_rows(float (&acc)[Tiles::kRows / 2], uint32_t a, uint32_t b) {
  product_fence();
  issue_by_rows<typename Tiles::T, Tiles::kD, Tiles::kKeys, Tiles::kRows>(acc, a, b);
  product_commit();
}
/// Issues acc (keys x head size) += left (keys x queries) B; b: operand of a tile of dO or Q, its columns.
template <class Tiles>
__device__ __forceinline__ void issue_columns(float (&acc)[Tiles::kD / 2], uint32_t (&left)[Tiles::kRows / 4],
                                              uint32_t b) {
  pin(left);
  product_fence();
  issue_by_columns<typename Tiles::T, Tiles::kD, Tiles::kRows>(acc, left, b);
  product_commit();
}
/// Sets scores to -inf where a query of the tile from row0 on does not see a key of the warpgroup, whose keys start
/// `from` rows into the block.
template <class Tiles>
__device__ __forceinline__ void mask_keys(float (&s)[Tiles::kRows / 2], const HopperBackwardCall& call, int first_key,
                                          int from, int row0) {
  const int end = first_key + Tiles::kKeys;
  const bool diagonal = Tiles::kCausal && row0 + call.shift < end;
  const bool border = end > call.seq_k;
  if (!diagonal && !border) return;
  const int now = thread_now(), key = first_key + from + ((now & 127) >> 5) * 16 + ((now & 31) >> 2);
  const int ahead = Tiles::kCausal ? key - call.shift - row0 - 2 * (now & 3) : -(1 << 30), left = call.seq_k - key;
#pragma unroll
  for (int j = 0; j < Tiles::kRows / 8; ++j)
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (8 * j + (e & 1) - (e >> 1) * 8 < ahead || (e >> 1) * 8 >= left) s[4 * j + e] = -INFINITY;
}

}  // namespace kymo::flash
