// SPDX-License-Identifier: Apache-2.0
// dQ of 128 queries of a head (see hopper_backward_short.cuh): a consumer warpgroup per 64 queries, in a loop over the
// key tiles. Unlike in a key block, rows are queries, so that dS leaves the accumulators as the left operand of dQ:
//
//     S = Q K^T,  dP = dO V^T        both operands from shared memory
//     dQ += dS K                     left operand from registers
#pragma once
#include "hopper_backward.cuh"
#include "hopper_forward_products.cuh"
#include "hopper_rows.cuh"

namespace kymo::flash {

/// Addresses in a row of O and dO, from a column on, and that of its lse: what can be computed before
/// wait_for_prerequisites(), while the previous kernel ends.
template <class T>
struct RowAddress {
  const T *o, *d_o;
  const float* lse;
  int left;  // rows of the tensor from this one on

  __device__ __forceinline__ void find(const Backward& tensors, int batch, int head, int row, int column) {
    const Problem& p = tensors.problem;
    o = head_of<T>(tensors.o, batch, head) + row * tensors.o.row_stride + column;
    d_o = head_of<T>(tensors.d_o, batch, head) + row * tensors.d_o.row_stride + column;
    lse = tensors.lse + (int64_t{batch} * p.heads_q + head) * p.seq_q + row;
    left = static_cast<int>(p.seq_q) - row;
    asm volatile("" : "+l"(o), "+l"(d_o), "+l"(lse), "+r"(left));
  }
};

constexpr int kQueriesOfBlock = ShortTile::queries;

struct QueryBlock {
  int batch, head, head_kv, first_row, key_tiles;
};
/// With a causal mask, the blocks with the most key tiles come first.
template <class Tiles>
__device__ __forceinline__ QueryBlock query_block(const HopperBackwardCall& call, int seq_q, int number) {
  const int blocks = (seq_q + kQueriesOfBlock - 1) / kQueriesOfBlock, in_head = number % blocks,
            all_head = number / blocks;
  const int first_row = (Tiles::kCausal ? blocks - 1 - in_head : in_head) * kQueriesOfBlock;
  const int keys = Tiles::kCausal ? min(call.seq_k, first_row + kQueriesOfBlock + call.shift) : call.seq_k;
  const int head = all_head % call.heads_q;
  return {all_head / call.heads_q, head, head / call.group, first_row, max(0, keys + Tiles::kKeys - 1) / Tiles::kKeys};
}

/// The place of the tiles in shared memory: those of a key block, and for the second stage of K and V its other
/// buffers. Each key tile releases K and V together.
template <class Tiles>
struct QueryBlockShared {
  static constexpr int kStages = 2, kBytes = kQueriesOfBlock * Tiles::kD * 2;  // of Q, of dO
  uint32_t at, q_full, o_full, k_full, v_full, keys_empty;
  static_assert(kQueriesOfBlock / Tiles::kRows <= Tiles::kOStages);
  // In the buffers of dS, those of dQ too if both do not fit.
  static constexpr bool kBothFit = Tiles::kDsBytes >= Tiles::kKeyBytes;
  static constexpr int kSecondK = Tiles::kDs, kSecondV = kBothFit ? Tiles::kDs + Tiles::kKeyBytes : Tiles::kDq;
  static_assert(kBothFit || (2 * Tiles::kDsBytes >= Tiles::kKeyBytes && 2 * Tiles::kDqBytes >= Tiles::kKeyBytes));

  __device__ __forceinline__ explicit QueryBlockShared(uint32_t shared)
      : at(shared),
        q_full(shared + Tiles::kBarriers),
        o_full(q_full + 8),
        k_full(o_full + 8),
        v_full(k_full + 8 * kStages),
        keys_empty(v_full + 8 * kStages) {}
  __device__ __forceinline__ void init() const {
    barrier_init(q_full, 1), barrier_init(o_full, 1);
    for (int i = 0; i < kStages; ++i)
      barrier_init(k_full + 8 * i, 1), barrier_init(v_full + 8 * i, 1), barrier_init(keys_empty + 8 * i, 8);
    barriers_ready();
  }
  static __device__ __forceinline__ int stage(int number) { return number % kStages; }
  static __device__ __forceinline__ int phase(int number) { return number / kStages & 1; }
  // Key tiles are numbered in the order in which they are processed.
  static __device__ __forceinline__ int key_tile(int number) { return number; }
  __device__ __forceinline__ uint32_t q() const { return at + Tiles::kQ; }
  __device__ __forceinline__ uint32_t d_o() const { return at + Tiles::kO; }
  __device__ __forceinline__ uint32_t k(int number) const { return at + (stage(number) ? kSecondK : 0); }
  __device__ __forceinline__ uint32_t v(int number) const { return at + (stage(number) ? kSecondV : Tiles::kKeyBytes); }
  __device__ __forceinline__ void wait_q() const { barrier_wait(q_full, 0); }
  __device__ __forceinline__ void wait_d_o() const { barrier_wait(o_full, 0); }
  __device__ __forceinline__ void wait_k(int number) const { barrier_wait(k_full + 8 * stage(number), phase(number)); }
  __device__ __forceinline__ void wait_v(int number) const { barrier_wait(v_full + 8 * stage(number), phase(number)); }
  /// Called by one thread of a warp.
  __device__ __forceinline__ void release(int number) const { barrier_arrive(keys_empty + 8 * stage(number)); }
};

/// The TMA thread.
template <class Tiles>
__device__ __forceinline__ void load_query_block(const HopperBackwardCall& call, const QueryBlock& block,
                                                 const QueryBlockShared<Tiles>& shared) {
  auto load_queries = [&](const CUtensorMap* map, uint32_t to, uint32_t full) {
    barrier_expect(full, shared.kBytes);
#pragma unroll
    for (int part = 0; part < kQueriesOfBlock / Tiles::kRows; ++part)
#pragma unroll
      for (int panel = 0; panel < Tiles::kPanels; ++panel)
        load_box(to + part * Tiles::kQBytes + panel * Tiles::kRows * 128, map, full,
                 {panel * 64, block.first_row + part * Tiles::kRows, block.head, block.batch});
  };
  auto load_keys = [&](const CUtensorMap* map, uint32_t to, uint32_t full, int tile) {
    barrier_expect(full, Tiles::kKeyBytes);
#pragma unroll
    for (int panel = 0; panel < Tiles::kPanels; ++panel)
      load_box(to + panel * Tiles::kKeys * 128, map, full,
               {panel * 64, tile * Tiles::kKeys, block.head_kv, block.batch});
  };
#pragma unroll 1
  for (int tile = 0; tile < block.key_tiles; ++tile) {
    const int stage = shared.stage(tile);
    barrier_wait(shared.keys_empty + 8 * stage, shared.phase(tile) ^ 1);
    if (tile == 0) load_queries(&call.q, shared.q(), shared.q_full);
    load_keys(&call.k, shared.k(tile), shared.k_full + 8 * stage, tile);
    if (tile == 0) load_queries(&call.d_o, shared.d_o(), shared.o_full);
    load_keys(&call.v, shared.v(tile), shared.v_full + 8 * stage, tile);
  }
}

/// lse (times log2(e)) and delta of a thread's two rows, eight apart. Each lane of a quad adds a part of the columns.
template <class Tiles>
struct QueryRows {
  using T = typename Tiles::T;
  static constexpr int kLoads = Tiles::kD / 32;
  RowSum sums[2];

  __device__ __forceinline__ QueryRows(const Backward& tensors, const RowAddress<T>& rows) {
    const int quad = static_cast<int>(threadIdx.x) % 4, columns = static_cast<int>(tensors.problem.d);
    uint4 o[2][kLoads] = {}, d_o[2][kLoads] = {};
    float lse[2] = {-INFINITY, -INFINITY};
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (8 * r >= rows.left) continue;
      lse[r] = rows.lse[8 * r];
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        if (i * 32 + quad * 8 >= columns) continue;
        o[r][i] = *reinterpret_cast<const uint4*>(rows.o + 8 * r * tensors.o.row_stride + i * 32);
        d_o[r][i] = *reinterpret_cast<const uint4*>(rows.d_o + 8 * r * tensors.d_o.row_stride + i * 32);
      }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float sum = 0;
#pragma unroll
      for (int i = 0; i < kLoads; ++i) sum = add_products<T>(o[r][i], d_o[r][i], sum);
      sums[r] = row_sum<T>(lse[r], sum_over_lanes<4>(sum));
    }
  }
};

/// First of the two rows of a thread of a consumer, in the block.
__device__ __forceinline__ int row_of_block(int consumer) {
  const int thread = static_cast<int>(threadIdx.x) & 127;
  return consumer * 64 + thread / 32 * 16 + thread % 32 / 4;
}

/// `rows`: of this thread's two rows. `shared`: where the tiles are, and when; a QueryBlockShared or a PairShared.
template <class Tiles, class Shared>
__device__ __forceinline__ void consume_keys(const HopperBackwardCall& call, const Backward& tensors,
                                             const QueryBlock& block, int consumer, const RowSum (&rows)[2],
                                             const Shared& shared) {
  using T = typename Tiles::T;
  constexpr int kD = Tiles::kD, kTile = Tiles::kKeys;
  constexpr int kKeys = kD == 64 ? kTile : kTile / 2;  // at a time: at d 128, more would take too many registers
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int row0 = block.first_row + consumer * 64, row = block.first_row + row_of_block(consumer);
  // This consumer's rows: of a tile, or a tile of its own.
  const int own = Tiles::kRows == 64 ? consumer * Tiles::kQBytes : consumer * 64 * 128;
  float s[kKeys / 2], dp[kKeys / 2], dq[kD / 2];
  uint32_t ds[kKeys / 4];
  clear(dq);
  if (block.key_tiles > 0) shared.wait_q();
#pragma unroll 1
  for (int tile = 0; tile < block.key_tiles; ++tile) {
    shared.wait_k(tile);
#pragma unroll
    for (int part = 0; part < kTile / kKeys; ++part) {
      const int first_key = shared.key_tile(tile) * kTile + part * kKeys, in_tile = part * kKeys * 128;
      pin(s), pin(dp), pin(dq), pin(ds);
      product_fence();
      issue_by_rows<T, kD, Tiles::kRows, kKeys, kTile>(s, operand(shared.q() + own), operand(shared.k(tile) + in_tile));
      product_commit();
      if (tile == 0 && part == 0) shared.wait_d_o();
      if (part == 0) shared.wait_v(tile);
      product_fence();
      issue_by_rows<T, kD, Tiles::kRows, kKeys, kTile>(dp, operand(shared.d_o() + own),
                                                       operand(shared.v(tile) + in_tile));
      product_commit();
      product_wait<1>();  // S, and dQ of the part before
      pin(s), pin(ds);
      if (part == 0 && tile > 0 && lane == 0) shared.release(tile - 1);
      const int limit = call.seq_k - first_key, diagonal = row + call.shift + 1 - first_key;
      if (limit < kKeys || (Tiles::kCausal && row0 + call.shift + 1 - first_key < kKeys)) {
#pragma unroll
        for (int r = 0; r < 2; ++r) mask_from(s, r, Tiles::kCausal ? min(limit, diagonal + 8 * r) : limit);
      }
#pragma unroll
      for (int i = 0; i < kKeys / 2; ++i) s[i] = exp2_fast(fmaf(s[i], call.scale_log2, -rows[i / 2 % 2].lse));
      product_wait<0>();
      pin(dp);
#pragma unroll
      for (int i = 0; i < kKeys / 4; ++i) {
        const float delta = rows[i % 2].delta;
        ds[i] = pack<T>(s[2 * i] * (dp[2 * i] - delta), s[2 * i + 1] * (dp[2 * i + 1] - delta));
      }
      pin(ds), pin(dq);
      product_fence();
      issue_by_columns<T, kD, kKeys>(dq, ds, operand(shared.k(tile) + in_tile, kTile * 128));
      product_commit();
    }
  }
  product_wait<0>();
  pin(dq);
  T* const to = head_of<T>(tensors.dq, block.batch, block.head) + row * tensors.dq.row_stride;
  store_rows<T, kD>(dq, {call.scale, call.scale}, to, tensors.dq.row_stride,
                    static_cast<int>(tensors.problem.seq_q) - row, static_cast<int>(tensors.problem.d));
}

template <class Tiles>
__device__ __forceinline__ void process_query_block(const HopperBackwardCall& call, const Backward& tensors, int number,
                                                    int warpgroup, uint32_t at) {
  const QueryBlockShared<Tiles> shared(at);
  const QueryBlock block = query_block<Tiles>(call, static_cast<int>(tensors.problem.seq_q), number);
  if (threadIdx.x == 0) shared.init();
  __syncthreads();
  launch_dependents();
  if (warpgroup == 0) {
    release_registers<24>();
    wait_for_prerequisites();
    if (threadIdx.x == 0) load_query_block<Tiles>(call, block, shared);
  } else {
    acquire_registers<240>();
    RowAddress<typename Tiles::T> addresses;
    addresses.find(tensors, block.batch, block.head, block.first_row + row_of_block(warpgroup - 1),
                   threadIdx.x % 4 * 8);
    wait_for_prerequisites();
    const QueryRows<Tiles> rows(tensors, addresses);
    consume_keys<Tiles>(call, tensors, block, warpgroup - 1, rows.sums, shared);
  }
}

}  // namespace kymo::flash
