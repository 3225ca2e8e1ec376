// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 backward with mma.sync and cp.async (sm_80 and later), for bf16, fp16 and, with three TF32 MMAs,
// fp32.
//
//   P = exp2(S c - lse),  dP = dO V^T,  dS = P (dP - delta)        delta = rowsum(dO o), computed beforehand
//   dV = P^T dO,          dK = scale dS^T Q,          dQ = scale dS K
//
// Two kernels, each of which owns its outputs: no atomics, no fp32 accumulators in global memory, deterministic. In
// return, S and dP are computed twice (seven MMAs instead of five). For floats, the dK/dV kernel can do all five:
// float_dq_partials.cuh.
//
//   dK/dV kernel  a block holds rows of K and V and loops over the queries of every head of the group: S^T = K Q^T,
//                 dP^T = V dO^T; P^T and dS^T leave the tensor cores in the layout of the left operand of
//                 dV += P^T dO and dK += dS^T Q
//   dQ kernel     a block holds rows of Q and dO and loops over the keys: S = Q K^T, dP = dO V^T, dQ += dS K
//
// Both hold two tiles ("own", by rows) and stream two others through kStages buffers; one function computes both S and
// dP.
//
// If one warp cannot hold dK and dV of its keys (D = 256), two warps share the keys. Either each has half of the
// columns and computes S and dP itself, or (kRoles: floats in the dK/dV kernel from D = 128 on, where 32 keys share
// each load) the warps are specialized, so that nothing is computed twice:
//
//   values | S^T, P^T to shared memory |             dV += P^T dO |
//   keys   | dP^T                      | P^T, dS^T   dK += dS^T Q |
#pragma once
#include "backward_ends.cuh"
#include "float_dq_partials.cuh"
#include "kernels.hpp"
#include "tiles.cuh"

namespace kymo::flash {

/// kM: tiles of 16 rows per warp. kShare warps share their rows and accumulate D / kShare columns each (all of them
/// compute S and dP): at D = 256, the two accumulators of the dK/dV kernel would not fit otherwise. kernels.hpp lists
/// the kernels that need more than 99 KB of shared memory per block.
template <class Element, int kPaddedD, int kRowTiles, int kShare, int kOwnRows, int kStreamRows, int kBuffers,
          int kNeighbours = 4, int kMinBlocks = 1, bool kWithAtomicDq = false, bool kWithSplitQ = false,
          bool kWithRoles = false>
struct PortableBackwardTiles {
  using T = Element;
  static constexpr bool kWide = sizeof(T) == 4;
  static constexpr int kD = kPaddedD, kM = kRowTiles, kSplit = kShare, kRowBytes = TileRow<T, kD>::kBytes;
  static constexpr int kOwn = kOwnRows, kStream = kStreamRows,
                       kStages = kBuffers;  // rows held by a block, rows of a streamed tile
  static constexpr bool kRoles = kWithRoles;
  static constexpr int kWarps = kOwn / (16 * kM) * kSplit, kThreads = 32 * kWarps, kColumns = kD / kSplit;
  static constexpr int kVector = kNeighbours, kBlocks = kMinBlocks;  // kVector: see float_tiles.cuh
  static constexpr bool kAtomicDq = kWithAtomicDq;  // the dK/dV kernel also adds to dQ: float_dq_partials.cuh
  static constexpr bool kSplitQ =
      kWithSplitQ;  // split-Q: a block processes a part of the queries and adds to dK and dV
  static constexpr int kTileBytes = kStream * kRowBytes, kOwnBytes = kOwn * kRowBytes;
  static constexpr int kStageBytes = 2 * kTileBytes + 2 * kStream * 4;  // Q, dO, lse, delta
  static constexpr int kScoreBytes = kRoles ? kStream * kOwn * 4 : 0;   // P and then dS, passed between warps
  static constexpr int kShared = 2 * kOwnBytes + kStages * kStageBytes + kScoreBytes;
  static constexpr int kSharedKb = kAtomicDq && kRoles && kStream > 16 ? float_backward_kb(kD) : kMinSharedKb;
  static_assert(kShared <= kSharedKb * 1024);
  static_assert(!kRoles || (kWide && kSplit == 2));
  static_assert(!kAtomicDq || kRoles || kSplit == 1);  // one warp stores dS of its keys
};

/// P from an unscaled score and the row's lse as written by begin; `c` is the scale times log2(e). Floats repeat the
/// operations of the forward kernel, so that the rounding errors of large scores cancel.
template <class T>
__device__ __forceinline__ float weight(float s, float scale, float c, float lse) {
  if constexpr (sizeof(T) == 4)
    return exp2_fast((__fmul_rn(s, scale) - lse) * kLog2E);
  else
    return exp2_fast(fmaf(s, c, -lse));
}

template <class Tiles>
__global__ void __launch_bounds__(Tiles::kThreads, Tiles::kBlocks)
    portable_backward_keys(const __grid_constant__ Backward call, const RowSums sums, const int split_tiles) {
  using T = typename Tiles::T;
  constexpr int D = Tiles::kD, kM = Tiles::kM, kN = Tiles::kStream / 8, kC = Tiles::kColumns / 8,
                kStream = Tiles::kStream, kThreads = Tiles::kThreads;
  extern __shared__ __align__(128) uint8_t shared[];
  const uint32_t k_tile = shared_address(shared), v_tile = k_tile + Tiles::kOwnBytes,
                 stages = v_tile + Tiles::kOwnBytes;
  constexpr int kStageBytes = Tiles::kStageBytes;
  constexpr bool kSeparateDsTile =
      Tiles::kRoles && Tiles::kAtomicDq;  // dS has its own buffer: once it is stored, Q and dO are no longer needed
  const Problem& p = call.problem;
  const int seq_q = static_cast<int>(p.seq_q), seq_k = static_cast<int>(p.seq_k), d = static_cast<int>(p.d),
            shift = seq_k - seq_q;
  const TileCoord coord = key_coord<Tiles::kOwn>(p, blockIdx.x);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int own_row = warp / Tiles::kSplit * 16 * kM,
            column = Tiles::kRoles ? 0 : warp % Tiles::kSplit * Tiles::kColumns;
  const int key = coord.first_row + own_row + g;
  // This thread has keys first_key() + 16 m and + 8. With kSeparateDsTile, recomputed at each use to save registers.
  const auto first_key = [&] {
    return kSeparateDsTile ? coord.first_row + own_row + static_cast<int>(opaque(threadIdx.x) % 32 / 4) : key;
  };
  // Split-Q: the block's query tiles, recomputed at each use to save a register. If none of them sees a key here, dK
  // and dV keep the zeros written by begin.
  const int seen_first = p.causal ? max(0, coord.first_row - shift) / kStream : 0,
            all_tiles = (seq_q + kStream - 1) / kStream;
  const auto first_tile = [&] {
    return Tiles::kSplitQ ? max(seen_first, static_cast<int>(opaque(blockIdx.y)) * split_tiles) : seen_first;
  };
  const auto end_tile = [&] {
    return Tiles::kSplitQ ? min(all_tiles, static_cast<int>(opaque(blockIdx.y) + 1) * split_tiles) : all_tiles;
  };
  if (Tiles::kSplitQ && first_tile() >= end_tile()) return;
  const int group = static_cast<int>(p.heads_q / p.heads_kv);
  const float c = p.scale * kLog2E;

  const uint32_t batch = static_cast<uint32_t>(coord.batch),
                 first_head = static_cast<uint32_t>(coord.head_kv) * group;  // query head
  auto copy_queries = [&](int stage, int in_group, int tile) {
    const int64_t head = first_head + in_group;
    const uint32_t to = stages + stage * kStageBytes;
    const int row = tile * kStream;
    copy_rows<T, D, kStream, kThreads>(to, head_of<T>(call.q, batch, head) + row * call.q.row_stride, call.q.row_stride,
                                       seq_q - row, d);
    copy_rows<T, D, kStream, kThreads>(to + Tiles::kTileBytes,
                                       head_of<T>(call.d_o, batch, head) + row * call.d_o.row_stride,
                                       call.d_o.row_stride, seq_q - row, d);
    if (threadIdx.x < kStream / 2) {  // 16 bytes each: lse of the tile, then delta
      const int64_t at = (batch * p.heads_q + head) * sums.padded + row + threadIdx.x % (kStream / 4) * 4;
      copy16(to + 2 * Tiles::kTileBytes + threadIdx.x * 16, (threadIdx.x < kStream / 4 ? sums.lse : sums.delta) + at,
             true);
    }
    commit_copies();
  };
  copy_rows<T, D, Tiles::kOwn, kThreads>(
      k_tile, head_of<T>(call.k, coord.batch, coord.head_kv) + coord.first_row * call.k.row_stride, call.k.row_stride,
      seq_k - coord.first_row, d);
  copy_rows<T, D, Tiles::kOwn, kThreads>(
      v_tile, head_of<T>(call.v, coord.batch, coord.head_kv) + coord.first_row * call.v.row_stride, call.v.row_stride,
      seq_k - coord.first_row, d);
  copy_queries(0, 0, first_tile());
  float dk[kM][kC][4] = {}, dv[kM][kC][4] = {};  // kRoles: the two halves of the columns of one of them
  int stage = 0;
#pragma unroll 1
  for (int in_group = 0; in_group < group; ++in_group)
#pragma unroll 1
    for (int tile = first_tile(); tile < end_tile(); ++tile) {
      const bool last_tile = tile + 1 == end_tile();
      const int next_head = last_tile ? in_group + 1 : in_group, next_tile = last_tile ? first_tile() : tile + 1;
      if (Tiles::kStages == 2 && next_head < group) {
        copy_queries(stage ^ 1, next_head, next_tile);
        wait_copies<1>();
      } else {
        wait_copies<0>();
      }
      __syncthreads();
      const uint32_t q_tile = stages + stage * kStageBytes, do_tile = q_tile + Tiles::kTileBytes,
                     lse = do_tile + Tiles::kTileBytes;
      const int row0 = tile * kStream;
      // Whether any query of the tile sees a key of this warp; if not, its dS is zero.
      const bool seen = !Tiles::kWide || !p.causal || coord.first_row + own_row < row0 + kStream + shift;
      float s[kM][kN][4];
      auto mask = [&] {
        const int from = first_key();
        if ((p.causal && row0 + shift < coord.first_row + Tiles::kOwn) || coord.first_row + Tiles::kOwn > seq_k) {
#pragma unroll
          for (int m = 0; m < kM; ++m)
#pragma unroll
            for (int j = 0; j < kN; ++j)
#pragma unroll
              for (int e = 0; e < 4; ++e) {
                const int row = row0 + 8 * j + 2 * t + e % 2, at = from + 16 * m + 8 * (e / 2);
                if (at >= seq_k || (p.causal && at > row + shift)) s[m][j][e] = -INFINITY;
              }
        }
      };
      auto weights = [&] {
#pragma unroll
        for (int j = 0; j < kN; ++j) {
          const float2 l = load_shared2(lse + (8 * j + 2 * t) * 4);
#pragma unroll
          for (int m = 0; m < kM; ++m)
#pragma unroll
            for (int e = 0; e < 4; ++e) s[m][j][e] = weight<T>(s[m][j][e], p.scale, c, e % 2 ? l.y : l.x);
        }
      };
      // dS = P (dP - delta), for any storage of the two.
      auto gradients = [&](auto&& p_at, auto&& dp_at) {
#pragma unroll
        for (int j = 0; j < kN; ++j) {
          const float2 delta = load_shared2(lse + kStream * 4 + (8 * j + 2 * t) * 4);
#pragma unroll
          for (int m = 0; m < kM; ++m)
#pragma unroll
            for (int e = 0; e < 4; ++e) s[m][j][e] = p_at(m, j, e) * (dp_at(m, j, e) - (e % 2 ? delta.y : delta.x));
        }
      };
      uint32_t ds_tile = do_tile;
      if constexpr (Tiles::kRoles) {
        ds_tile = stages + Tiles::kStages * kStageBytes;
        const bool has_keys = opaque(threadIdx.x) / 32 % 2;  // the role
        if (seen) scores<T, D, true>(s, has_keys ? v_tile : k_tile, own_row, has_keys ? do_tile : q_tile);
        if (!has_keys && seen) mask(), weights(), store_transposed<Tiles::kOwn>(ds_tile, s, own_row, true);
        named_sync(1 + opaque(threadIdx.x) / 64, 64);  // P is stored
        if (has_keys) {
          const TransposedAddresses<Tiles::kOwn> addresses(ds_tile, own_row);
          if (seen)
            gradients([&](int m, int j, int e) { return load_shared(addresses.at(m, j, e)); },
                      [&](int m, int j, int e) { return s[m][j][e]; });
          if (Tiles::kAtomicDq) store_transposed<Tiles::kOwn>(ds_tile, s, own_row, seen);
        }
        if (seen) {
          const uint32_t rows = opaque(has_keys ? q_tile : do_tile);
          accumulate<T, D, Tiles::kVector>(dk, s, rows, 0, seq_k);
          // A different number makes the block ends distinct for ptxas from those above; narrow tiles spill less
          // without this.
          accumulate<T, D, Tiles::kVector>(dv, s, rows, Tiles::kColumns, kN > 2 ? seq_q : seq_k);
        }
      } else {
        if (seen) {
          float dp[kM][kN][4];
          scores<T, D, true>(s, k_tile, own_row, q_tile);
          mask(), weights();
          accumulate<T, D, Tiles::kVector>(dv, s, do_tile, column, seq_k);
          scores<T, D, true>(dp, v_tile, own_row, do_tile);
          gradients([&](int m, int j, int e) { return s[m][j][e]; }, [&](int m, int j, int e) { return dp[m][j][e]; });
        }
        if constexpr (Tiles::kAtomicDq) {
          __syncthreads();  // this dO is no longer read
          store_transposed<Tiles::kOwn>(do_tile, s, own_row, seen);
        }
        if (seen) accumulate<T, D, Tiles::kVector>(dk, s, q_tile, column, seq_k);
      }
      if constexpr (Tiles::kAtomicDq) {
        __syncthreads();  // all of dS is stored
        if (kSeparateDsTile && Tiles::kStages == 1 && next_head < group) copy_queries(0, next_head, next_tile);
        T* dq_rows = head_of<T>(call.dq, opaque(batch), opaque(first_head + in_group)) + row0 * call.dq.row_stride;
        add_dq_partial<Tiles>(dq_rows, call.dq.row_stride, seq_q - row0, d, p.scale, ds_tile, k_tile, seq_k);
      }
      if constexpr (!kSeparateDsTile) __syncthreads();
      if (Tiles::kStages == 2)
        stage ^= 1;
      else if (!kSeparateDsTile && next_head < group)
        copy_queries(0, next_head, next_tile);
    }
  wait_copies<0>();

  const TileCoord again = key_coord<Tiles::kOwn>(p, opaque(blockIdx.x));  // recomputed instead of kept in registers
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = first_key() + 16 * m + 8 * r;
      if (row >= seq_k) continue;
      T* dk_row = head_of<T>(call.dk, again.batch, again.head_kv) + row * call.dk.row_stride;
      T* dv_row = head_of<T>(call.dv, again.batch, again.head_kv) + row * call.dv.row_stride;
      if constexpr (Tiles::kRoles) {
        const bool has_keys = opaque(threadIdx.x) / 32 % 2;
        T* const own = has_keys ? dk_row : dv_row;
        store_columns<T, Tiles::kVector, Tiles::kSplitQ>(own, dk[m], r, has_keys ? p.scale : 1.f, d);
        store_columns<T, Tiles::kVector, Tiles::kSplitQ>(own + Tiles::kColumns, dv[m], r, has_keys ? p.scale : 1.f,
                                                         d - Tiles::kColumns);
        continue;
      }
      store_columns<T, Tiles::kVector, Tiles::kSplitQ>(dk_row + column, dk[m], r, p.scale, d - column);
      store_columns<T, Tiles::kVector, Tiles::kSplitQ>(dv_row + column, dv[m], r, 1.f, d - column);
    }
}

}  // namespace kymo::flash
