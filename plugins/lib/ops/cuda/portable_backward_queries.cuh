// SPDX-License-Identifier: Apache-2.0
// The dQ kernel of the portable backward (see portable_backward_keys.cuh), and the launch of all its kernels.
#pragma once
#include "backward_splits.hpp"
#include "portable_backward_keys.cuh"

namespace kymo::flash {

template <class Tiles>
__global__ void __launch_bounds__(Tiles::kThreads, Tiles::kBlocks)
    portable_backward_queries(const __grid_constant__ Backward call, const RowSums sums) {
  using T = typename Tiles::T;
  constexpr int D = Tiles::kD, kM = Tiles::kM, kN = Tiles::kStream / 8, kC = Tiles::kColumns / 8,
                kStream = Tiles::kStream, kThreads = Tiles::kThreads;
  extern __shared__ __align__(128) uint8_t shared[];
  const uint32_t q_tile = shared_address(shared), do_tile = q_tile + Tiles::kOwnBytes,
                 stages = do_tile + Tiles::kOwnBytes;
  constexpr int kStageBytes = 2 * Tiles::kTileBytes;  // K, V
  const Problem& p = call.problem;
  const int seq_q = static_cast<int>(p.seq_q), seq_k = static_cast<int>(p.seq_k), d = static_cast<int>(p.d),
            shift = seq_k - seq_q;
  const TileCoord coord = query_coord<Tiles::kOwn>(p, blockIdx.x);
  const T* k_head = head_of<T>(call.k, coord.batch, coord.head_kv);
  const T* v_head = head_of<T>(call.v, coord.batch, coord.head_kv);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int own_row = warp / Tiles::kSplit * 16 * kM, column = warp % Tiles::kSplit * Tiles::kColumns;
  const int row = coord.first_row + own_row + g;  // this thread: queries row + 16 m and + 8
  const int keys = p.causal ? min(seq_k, coord.first_row + Tiles::kOwn + shift) : seq_k,
            tiles = max(0, keys + kStream - 1) / kStream;
  const int clear = min(seq_k, p.causal ? max(0, coord.first_row + own_row + shift + 1) : seq_k) / kStream;
  const float c = p.scale * kLog2E;
  float lse[kM][2], delta[kM][2];
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int64_t at = (coord.batch * p.heads_q + coord.head) * sums.padded + row + 16 * m + 8 * r;
      lse[m][r] = sums.lse[at], delta[m][r] = sums.delta[at];
    }
  auto copy_keys = [&](int stage, int n) {
    const uint32_t to = stages + stage * kStageBytes;
    const int at = n * kStream;
    copy_rows<T, D, kStream, kThreads>(to, k_head + at * call.k.row_stride, call.k.row_stride, seq_k - at, d);
    copy_rows<T, D, kStream, kThreads>(to + Tiles::kTileBytes, v_head + at * call.v.row_stride, call.v.row_stride,
                                       seq_k - at, d);
    commit_copies();
  };
  copy_rows<T, D, Tiles::kOwn, kThreads>(
      q_tile, head_of<T>(call.q, coord.batch, coord.head) + coord.first_row * call.q.row_stride, call.q.row_stride,
      seq_q - coord.first_row, d);
  copy_rows<T, D, Tiles::kOwn, kThreads>(
      do_tile, head_of<T>(call.d_o, coord.batch, coord.head) + coord.first_row * call.d_o.row_stride,
      call.d_o.row_stride, seq_q - coord.first_row, d);
  if (tiles > 0) copy_keys(0, 0);
  float dq[kM][kC][4] = {};
  int stage = 0;
#pragma unroll 1
  for (int n = 0; n < tiles; ++n) {
    if (Tiles::kStages == 2 && n + 1 < tiles) {
      copy_keys(stage ^ 1, n + 1);
      wait_copies<1>();
    } else {
      wait_copies<0>();
    }
    __syncthreads();
    const uint32_t k_tile = stages + stage * kStageBytes, v_tile = k_tile + Tiles::kTileBytes;
    if (!Tiles::kWide || !p.causal ||
        n * kStream < coord.first_row + own_row + 16 * kM + shift) {  // any row of this warp sees the tile
      float s[kM][kN][4], dp[kM][kN][4];
      scores<T, D, false>(s, q_tile, own_row, k_tile);
      if (n >= clear) {
#pragma unroll
        for (int m = 0; m < kM; ++m)
#pragma unroll
          for (int j = 0; j < kN; ++j)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const int key = n * kStream + 8 * j + 2 * t + e % 2;
              if (key >= seq_k || (p.causal && key > row + 16 * m + 8 * (e / 2) + shift)) s[m][j][e] = -INFINITY;
            }
      }
      scores<T, D, false>(dp, do_tile, own_row, v_tile);
#pragma unroll
      for (int m = 0; m < kM; ++m)
#pragma unroll
        for (int j = 0; j < kN; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e)
            s[m][j][e] = weight<T>(s[m][j][e], p.scale, c, lse[m][e / 2]) * (dp[m][j][e] - delta[m][e / 2]);
      accumulate<T, D, Tiles::kVector>(dq, s, k_tile, column, seq_k);
    }
    __syncthreads();
    if (Tiles::kStages == 2)
      stage ^= 1;
    else if (n + 1 < tiles)
      copy_keys(0, n + 1);
  }
  wait_copies<0>();
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int at = row + 16 * m + 8 * r;
      if (at >= seq_q) continue;
      T* to = head_of<T>(call.dq, coord.batch, coord.head) + at * call.dq.row_stride + column;
      store_columns<T, Tiles::kVector>(to, dq[m], r, p.scale, d - column);
    }
}

/// The dK/dV kernel alone, which also adds its contributions to dQ (float_dq_partials.cuh) and, with split-Q, to dK and
/// dV.
template <class Tiles>
std::string launch_backward_atomic(const Backward& call, Stream stream) {
  const Problem& p = call.problem;
  const RowSums sums = row_sums(call, backward_space(call, 0));
  DqSpace dq{};
  dq.output = true, dq.keys = Tiles::kSplitQ;
  cudaError_t error = begin_backward<typename Tiles::T, Tiles::kD>(call, backward_space(call, 0), sums, dq, stream);
  if (error != cudaSuccess) return failure("backward_begin", error);
  LaunchShape keys{key_blocks(p, Tiles::kOwn), Tiles::kThreads, Tiles::kShared, stream};
  int split_tiles = 0;
  if constexpr (Tiles::kSplitQ) {
    int multiprocessors = 0;
    if (error = count_multiprocessors(multiprocessors); error != cudaSuccess)
      return failure("portable_backward_keys", error);
    constexpr SplitQTile tile = split_q_tile(true, Tiles::kD, Tiles::kSharedKb);
    static_assert(tile.keys == Tiles::kOwn && tile.rows == Tiles::kStream && tile.blocks == Tiles::kBlocks);
    const QuerySplits splits = query_splits(p, tile, multiprocessors);
    split_tiles = splits.split_tiles, keys.layers = splits.count();
  }
  return failure("portable_backward_keys", queue(portable_backward_keys<Tiles>, keys, call, sums, split_tiles));
}

/// KeyTiles and QueryTiles have the same element type and padded head size.
template <class KeyTiles, class QueryTiles>
std::string launch_portable_backward(const Backward& call, Stream stream) {
  const BackwardSpace space = backward_space(call, 0);
  const RowSums sums = row_sums(call, space);
  cudaError_t error = begin_backward<typename KeyTiles::T, KeyTiles::kD>(call, space, sums, DqSpace{}, stream);
  if (error != cudaSuccess) return failure("backward_begin", error);
  const LaunchShape keys{key_blocks(call.problem, KeyTiles::kOwn), KeyTiles::kThreads, KeyTiles::kShared, stream};
  error = queue(portable_backward_keys<KeyTiles>, keys, call, sums, 0);
  if (error != cudaSuccess) return failure("portable_backward_keys", error);
  const LaunchShape queries{query_blocks(call.problem, QueryTiles::kOwn), QueryTiles::kThreads, QueryTiles::kShared,
                            stream};
  return failure("portable_backward_queries", queue(portable_backward_queries<QueryTiles>, queries, call, sums));
}

}  // namespace kymo::flash
