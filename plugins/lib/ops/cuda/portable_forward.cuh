// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 forward with mma.sync and cp.async (sm_80 and later), for bf16, fp16 and, with three TF32 MMAs,
// fp32.
//
// A block holds kRows query rows of one head in shared memory and loops over tiles of kKeys keys, last tile first (the
// one with the causal mask, so that all later tiles need none). Each warp owns 16 * kM query rows and never needs
// results of other warps.
//
//   copies  | Q K3 | V3        | K2          | V2        | K1          | ...
//   tensor  |      | S = Q K3  |      O += P V3 | S = Q K2 |      O += P V2 | ...
//   other   |                  | softmax        |          | softmax
//
// Shared memory holds one tile of K and one of V; each is reloaded while the other is multiplied. S, P and O stay in
// registers: the layout in which S leaves the tensor cores is the operand layout of P. Online softmax, per row: m =
// running maximum of s, l = sum of exp2((s - m) c), O rescaled by exp2((m_old - m) c); c is the scale times log2(e). A
// row that has seen no key keeps m = -inf, l = 0.
#pragma once
#include "float_tiles.cuh"
#include "forward_combine.cuh"
#include "launch.cuh"
#include "tile_coord.cuh"

namespace kymo::flash {

/// Whether any score of the warp is NaN.
template <int kM, int kN>
__device__ __forceinline__ bool any_nan(const float (&s)[kM][kN][4]) {
  float zero = 0.f;  // stays 0 except for infinities and NaN; the caller excludes infinities
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int n = 0; n < kN; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e) zero = fmaf(s[m][n][e], 0.f, zero);
  return __any_sync(kWholeWarp, zero != 0.f);
}

/// Scores with an infinite operand came out as NaN, because the split halves of an infinity cancel. A single TF32 MMA
/// with the unsplit operands gives the correct infinity or NaN. Other scores are unchanged.
template <int D, int kM, int kN>
__device__ __forceinline__ void multiply_rows_once(float (&s)[kM][kN][4], uint32_t a_tile, int a_row, uint32_t b_tile) {
  constexpr int kBytes = TileRow<float, D>::kBytes;
  const int lane = opaque(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
  const auto number = [&](uint32_t tile, int row, int column) {
    return tf32(load_shared(tile + row * kBytes + (((column / 4) ^ (row & 7)) << 4) + column % 4 * 4));
  };
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int n = 0; n < kN; ++n) {
      float once[4] = {};
#pragma unroll 1
      for (int k = 0; k < D; k += 8) {
        const int row = a_row + 16 * m + g, column = k + t;
        const uint32_t a[4] = {number(a_tile, row, column), number(a_tile, row + 8, column),
                               number(a_tile, row, column + 4), number(a_tile, row + 8, column + 4)};
        multiply_tf32(once, a, number(b_tile, 8 * n + g, column), number(b_tile, 8 * n + g, column + 4));
      }
#pragma unroll
      for (int e = 0; e < 4; ++e) s[m][n][e] = isnan(s[m][n][e]) ? once[e] : s[m][n][e];
    }
}

/// kM: tiles of 16 rows per warp; two halve the shared memory reads of an MMA where O (kM * D / 2 registers) permits.
/// kKeys: keys of a tile. All configurations fit in the 99 KiB of smaller GPUs.
template <class Element, int kPaddedD, int kRowTiles, int kWarpCount, int kKeyCount, int kNeighbours = 4,
          int kMinBlocks = 1, bool kWithSplitKv = false>
struct PortableForwardTiles {
  using T = Element;
  static constexpr bool kWide = sizeof(T) == 4;
  static constexpr int kD = kPaddedD, kM = kRowTiles, kWarps = kWarpCount, kThreads = 32 * kWarps,
                       kRows = 16 * kM * kWarps;
  static constexpr int kKeys = kKeyCount, kVector = kNeighbours,
                       kBlocks = kMinBlocks;  // kVector: see float_tiles.cuh
  static constexpr int kRowBytes = TileRow<T, kD>::kBytes, kShared = (kRows + 2 * kKeys) * kRowBytes;
  static constexpr bool kSplitKv =
      kWithSplitKv;  // split-KV (forward_splits.hpp): a block writes partials to the workspace
  static_assert(kShared <= 99 * 1024 && (!kSplitKv || split_kv_tile(kWide, kD) == SplitKvTile{kRows, kKeys}));
};

/// Running maximum and sum of the rows of a warp, and their update with a tile of scores. 16-bit: s unscaled, c the
/// scale times log2(e), one fused operation before each exponential. kWide: s already scaled, c = log2(e), and the
/// maximum is subtracted before the multiplication by c: the difference is exact, and scores in the thousands keep
/// their fp32 accuracy.
template <int kM, int kN, bool kWide>
struct OnlineSoftmax {
  float top[kM][2], sum[kM][2];

  __device__ __forceinline__ void begin() {
#pragma unroll
    for (int m = 0; m < kM; ++m) top[m][0] = top[m][1] = -INFINITY, sum[m][0] = sum[m][1] = 0.f;
  }
  static __device__ __forceinline__ float weight(float s, float base, float c) {
    return kWide ? exp2_fast((s - base) * c) : exp2_fast(fmaf(s, c, -base));
  }
  /// Replaces scores by exp2((s - top) c); correction[m][r] is the factor for previous sums and outputs.
  __device__ __forceinline__ void take(float (&s)[kM][kN][4], float c, float (&correction)[kM][2]) {
#pragma unroll
    for (int m = 0; m < kM; ++m)
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        float most = top[m][r];
#pragma unroll
        for (int n = 0; n < kN; ++n) most = fmaxf(most, fmaxf(s[m][n][2 * r], s[m][n][2 * r + 1]));
        most = fmaxf(most, __shfl_xor_sync(kWholeWarp, most, 1));
        most = fmaxf(most, __shfl_xor_sync(kWholeWarp, most, 2));
        // The products are rounded on purpose: previous sums were taken relative to the rounded one, and only the
        // difference of two rounded products is exact.
        const float unit = kWide ? 1.f : c, base = most == -INFINITY ? 0.f : __fmul_rn(most, unit);
        const float moved = __fadd_rn(__fmul_rn(top[m][r], unit), -base);
        correction[m][r] = exp2_fast(kWide ? moved * c : moved);
        top[m][r] = most;
        float added = 0.f;
#pragma unroll
        for (int n = 0; n < kN; ++n)
#pragma unroll
          for (int e = 2 * r; e < 2 * r + 2; ++e) added += s[m][n][e] = weight(s[m][n][e], base, c);
        sum[m][r] = fmaf(sum[m][r], correction[m][r], added);
      }
  }
};

template <class Tiles>
__global__ void __launch_bounds__(Tiles::kThreads, Tiles::kBlocks)
    portable_forward(const __grid_constant__ Forward call, const __grid_constant__ ForwardSplits splits) {
  using T = typename Tiles::T;
  constexpr int D = Tiles::kD, kM = Tiles::kM, kN = Tiles::kKeys / 8, kC = D / 8, kKeys = Tiles::kKeys,
                kThreads = Tiles::kThreads;
  extern __shared__ __align__(128) uint8_t shared[];
  const uint32_t q_tile = shared_address(shared), k_tile = q_tile + Tiles::kRows * Tiles::kRowBytes,
                 v_tile = k_tile + kKeys * Tiles::kRowBytes;
  const Problem& p = call.problem;
  const int seq_q = static_cast<int>(p.seq_q), seq_k = static_cast<int>(p.seq_k), d = static_cast<int>(p.d),
            shift = seq_k - seq_q;
  const ForwardSplit split = Tiles::kSplitKv ? splits.split(static_cast<int>(blockIdx.x)) : ForwardSplit{};
  const TileCoord coord =
      Tiles::kSplitKv ? split_coord<Tiles::kRows>(p, split) : query_coord<Tiles::kRows>(p, blockIdx.x);
  const T* k_head = head_of<T>(call.k, coord.batch, coord.head_kv);
  const T* v_head = head_of<T>(call.v, coord.batch, coord.head_kv);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int warp_row = coord.first_row + warp * 16 * kM;  // this thread: rows warp_row + 16 m + g and + 8
  const int keys =
      p.causal ? min(seq_k, coord.first_row + Tiles::kRows + shift) : seq_k;  // seen by any row of the block
  const int first = split.first, tiles = Tiles::kSplitKv ? split.end : max(0, keys + kKeys - 1) / kKeys;
  const float c = Tiles::kWide ? kLog2E : p.scale * kLog2E;

  auto copy_keys = [&](uint32_t tile, const T* head, int64_t row_stride, int n) {
    copy_rows<T, D, kKeys, kThreads>(tile, head + n * kKeys * row_stride, row_stride, seq_k - n * kKeys, d);
    commit_copies();
  };
  OnlineSoftmax<kM, kN, Tiles::kWide> softmax;
  softmax.begin();
  float o[kM][kC][4] = {};

  copy_rows<T, D, Tiles::kRows, kThreads>(
      q_tile, head_of<T>(call.q, coord.batch, coord.head) + coord.first_row * call.q.row_stride, call.q.row_stride,
      seq_q - coord.first_row, d);
  if (tiles > first) copy_keys(k_tile, k_head, call.k.row_stride, tiles - 1);
  constexpr bool kSkips = Tiles::kWide && D <= 128;  // otherwise registers would spill
#pragma unroll 1
  for (int n = tiles - 1; n >= first; --n) {
    // Whether this warp sees anything of the tile; if not, it only copies. Recomputed to save a register.
    auto seen = [&] { return !kSkips || !p.causal || n * kKeys < warp_row + 16 * kM + shift; };
    wait_copies<0>();
    __syncthreads();  // K of this tile is loaded; the previous V is no longer read
    copy_keys(v_tile, v_head, call.v.row_stride, n);
    float s[kM][kN][4];
    if (seen()) {
      scores<T, D, false>(s, q_tile, warp * 16 * kM, k_tile);
      if constexpr (Tiles::kWide) {
        if (any_nan(s)) multiply_rows_once<D>(s, q_tile, warp * 16 * kM, k_tile);
#pragma unroll
        for (int m = 0; m < kM; ++m)
#pragma unroll
          for (int j = 0; j < kN; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) s[m][j][e] = __fmul_rn(s[m][j][e], p.scale);
      }
      if ((n + 1) * kKeys > seq_k ||
          (p.causal && (n + 1) * kKeys > warp_row + shift + 1)) {  // the tile is partially masked
#pragma unroll
        for (int m = 0; m < kM; ++m)
#pragma unroll
          for (int j = 0; j < kN; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const int key = n * kKeys + 8 * j + 2 * t + e % 2, row = warp_row + 16 * m + g + 8 * (e / 2);
              if (key >= seq_k || (p.causal && key > row + shift)) s[m][j][e] = -INFINITY;
            }
      }
    }
    wait_copies<0>();
    __syncthreads();  // V is loaded; this K is no longer read
    if (n > first) copy_keys(k_tile, k_head, call.k.row_stride, n - 1);
    if (seen()) {
      float correction[kM][2];
      softmax.take(s, c, correction);
#pragma unroll
      for (int m = 0; m < kM; ++m)
#pragma unroll
        for (int j = 0; j < kC; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) o[m][j][e] *= correction[m][e / 2];
      accumulate<T, D, Tiles::kVector>(o, s, v_tile, 0, seq_k);
    }
  }
  wait_copies<0>();

  const TileCoord again = query_coord<Tiles::kRows>(p, opaque(blockIdx.x));  // recomputed instead of kept in registers
  T* o_head = head_of<T>(call.o, again.batch, again.head);
  float* lse = call.lse + (again.batch * p.heads_q + again.head) * p.seq_q;
  float* const partial_rows =
      static_cast<float*>(call.workspace) + static_cast<int64_t>(blockIdx.x) * (Tiles::kRows * D);
  float* const sums =
      static_cast<float*>(call.workspace) + static_cast<int64_t>(gridDim.x) * (Tiles::kRows * D);  // as in ForwardSpace
  float2* const partial_sums = reinterpret_cast<float2*>(sums) + static_cast<int64_t>(blockIdx.x) * Tiles::kRows;
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float sum = softmax.sum[m][r];
      sum += __shfl_xor_sync(kWholeWarp, sum, 1);
      sum += __shfl_xor_sync(kWholeWarp, sum, 2);
      const float inverse = sum == 0.f ? 0.f : 1.f / sum;
      const int row = warp_row + 16 * m + g + 8 * r;
      if (row >= seq_q) continue;
      if constexpr (Tiles::kSplitKv) {
        if (t == 0) partial_sums[row - coord.first_row] = make_float2(softmax.top[m][r], sum);
        store_columns<T, Tiles::kVector>(partial_rows + (row - coord.first_row) * D, o[m], r, 1.f, D);
      } else {
        if (t == 0) lse[row] = log_sum_exp<Tiles::kWide>(softmax.top[m][r], sum, c);
        store_columns<T, Tiles::kVector>(o_head + row * call.o.row_stride, o[m], r, inverse, d);
      }
    }
}

template <class Tiles>
std::string launch_portable_forward(const Forward& call, Stream stream) {
  const LaunchShape shape{query_blocks(call.problem, Tiles::kRows), Tiles::kThreads, Tiles::kShared, stream};
  return failure("portable_forward", queue(portable_forward<Tiles>, shape, call, ForwardSplits{}));
}

/// Split-KV as in forward_splits.hpp, followed by the reduction of the partials. Floats only.
template <class Tiles>
std::string launch_split_portable(const Forward& call, Stream stream) {
  int multiprocessors = 0;
  if (const cudaError_t error = count_multiprocessors(multiprocessors); error != cudaSuccess)
    return failure("portable_forward", error);
  const ForwardSplits splits = forward_splits(call, Tiles::kRows, Tiles::kKeys, multiprocessors);
  const LaunchShape shape{splits.count(), Tiles::kThreads, Tiles::kShared, stream};
  const std::string message = failure("portable_forward", queue(portable_forward<Tiles>, shape, call, splits));
  return message.empty() ? launch_combine<typename Tiles::T, Tiles::kD>(call, splits, stream) : message;
}

}  // namespace kymo::flash
