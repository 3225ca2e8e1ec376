// SPDX-License-Identifier: Apache-2.0
// A warp of the Hopper decoding kernel (hopper_decode.cuh). Lanes are g = lane / 4, t = lane % 4, as in ptx.cuh.
#pragma once
#include "forward_decode.hpp"
#include "hopper.cuh"

namespace kymo::flash {

struct DecodeCall {
  CUtensorMap k, v;
  Input q;
  Output o;
  float* lse;
  int heads_q, group, seq_q, seq_k, d;
  int split_bits;    // 2^split_bits splits per head
  float scale_log2;  // scale times log2(e)
};

template <int kD, int kRows>
struct DecodeShared {
  static constexpr int kTile = kDecodeKeys * kD * 2, kStages = 12 * 1024 / kTile;  // bytes; stages of a ring
  static constexpr int kVectors = kD / 4, kSlots = kRows * kVectors;               // float4 of a row, of all rows
  union Ring {
    uint8_t tiles[kStages][2][kTile];  // K and V, in panels of 64 columns
    float o[kRows][kD + 4];            // in the end, the partial; padded against bank conflicts
  };
  Ring rings[kDecodeWarps];
  float4 received_o[kSlots];  // of all splits, one after the other
  float2 received_sums[kSlots];
  float2 sums[kDecodeWarps][kRows];
  uint64_t full[kDecodeWarps][kStages], received;  // mbarriers
};

template <class T, int kD, int kRows>
struct DecodeWarp {
  using Shared = DecodeShared<kD, kRows>;
  static constexpr int kHalves = kRows / 8, kStages = Shared::kStages, kTile = Shared::kTile;
  const DecodeCall& call;
  int lane, batch, head, head_kv;  // head: of the batch element
  uint32_t tiles, full;            // ring and mbarriers in shared memory
  uint32_t q[kD / 32][kHalves][4];
  float o[kD / 16][kHalves][4];                      // columns 16 i + g and + 8, rows 8 h + 2 t and + 1
  float top[kHalves], minus[kHalves], sum[kHalves];  // of row g; minus = -top c; sum: of this lane's keys
  float c;

  __device__ __forceinline__ DecodeWarp(const DecodeCall& of, Shared& shared, int warp, int head_of_all)
      : call(of),
        lane(threadIdx.x % 32),
        batch(head_of_all / of.heads_q),
        head(head_of_all - batch * of.heads_q),
        head_kv(head / of.group),
        tiles(shared_address(&shared.rings[warp])),
        full(shared_address(&shared.full[warp])),
        c(of.scale_log2) {
#pragma unroll
    for (auto& columns : o)
#pragma unroll
      for (auto& half : columns) half[0] = half[1] = half[2] = half[3] = 0.f;
#pragma unroll
    for (int h = 0; h < kHalves; ++h) top[h] = -INFINITY, minus[h] = sum[h] = 0.f;
  }

  /// Rows past the last one and columns past d are 0.
  __device__ __forceinline__ void load_queries() {
    const int g = lane / 4, t = lane % 4;
    const T* const from = static_cast<const T*>(call.q.at) + batch * call.q.batch_stride + head * call.q.head_stride +
                          g * call.q.row_stride + 2 * t;
    const auto word = [&](int row, int column) -> uint32_t {
      if (g + row >= call.seq_q || column >= call.d) return 0;
      return *reinterpret_cast<const uint32_t*>(from + row * call.q.row_stride + column);
    };
#pragma unroll
    for (int i = 0; i < kD / 32; ++i)
#pragma unroll
      for (int step = 0; step < kHalves; ++step) {
        const int column = 32 * i + 16 * step;
        const int lower_row = kRows == 8 ? 0 : 8, lower_column = kRows == 8 ? column + 16 : column;
        q[i][step][0] = word(0, column), q[i][step][1] = word(lower_row, lower_column);
        q[i][step][2] = word(0, column + 8), q[i][step][3] = word(lower_row, lower_column + 8);
      }
  }
  /// Keys past the end and columns past d are 0.
  __device__ __forceinline__ void load_tile(int stage, int tile) const {
    if (lane != 0) return;
    const uint32_t barrier = full + 8 * stage, to = tiles + 2 * kTile * stage;
    barrier_expect(barrier, 2 * kTile);
#pragma unroll
    for (int panel = 0; panel < kD / 64; ++panel) {
      const Corner corner{64 * panel, tile * kDecodeKeys, head_kv, batch};
      load_box(to + panel * kDecodeKeys * 128, &call.k, barrier, corner);
      load_box(to + kTile + panel * kDecodeKeys * 128, &call.v, barrier, corner);
    }
  }
  /// Address of this lane's row of the four matrices {keys 0-7, 8-15} x {columns 16 step, 16 step + 8}, the second
  /// dimension first, in a tile with 128-byte swizzle.
  __device__ __forceinline__ uint32_t matrices(uint32_t tile, int step) const {
    const int key = lane % 8 + lane / 16 * 8, chunk = step % 4 * 2 + lane / 8 % 2;
    return tile + step / 4 * kDecodeKeys * 128 + key * 128 + ((chunk ^ lane % 8) << 4);
  }

  /// s[n][2 h + e]: score of row g + 8 h and key 8 n + 2 t + e, not scaled.
  __device__ __forceinline__ void scores(float (&s)[2][2 * kHalves], uint32_t k_tile, int tile) const {
    float even[2][4] = {}, odd[2][4] = {};
#pragma unroll
    for (int i = 0; i < kD / 32; ++i) {
      uint32_t k[4];
      load_matrices(k, matrices(k_tile, 2 * i));
      multiply<T>(even[0], q[i][0], k[0], k[1]), multiply<T>(even[1], q[i][0], k[2], k[3]);
      load_matrices(k, matrices(k_tile, 2 * i + 1));
      multiply<T>(odd[0], q[i][kHalves - 1], k[0], k[1]), multiply<T>(odd[1], q[i][kHalves - 1], k[2], k[3]);
    }
    const int left = call.seq_k - tile * kDecodeKeys - lane % 4 * 2;  // keys from this lane's first one
#pragma unroll
    for (int n = 0; n < 2; ++n)
#pragma unroll
      for (int x = 0; x < 2 * kHalves; ++x)
        s[n][x] = 8 * n + x % 2 < left ? even[n][x] + odd[n][kRows == 8 ? x + 2 : x] : -INFINITY;
  }
  /// Online softmax; p[h]: the right operand P^T of 8 rows. New maxima are rare after a few tiles.
  __device__ __forceinline__ void softmax(uint32_t (&p)[kHalves][2], const float (&s)[2][2 * kHalves]) {
    float most[kHalves];
    bool higher = false;
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
      most[h] = fmaxf(fmaxf(s[0][2 * h], s[0][2 * h + 1]), fmaxf(s[1][2 * h], s[1][2 * h + 1]));
      higher |= most[h] > top[h];
    }
    if (__any_sync(kWholeWarp, higher)) raise(most);
#pragma unroll
    for (int h = 0; h < kHalves; ++h)
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const float low = exp2_fast(fmaf(s[n][2 * h], c, minus[h])),
                    high = exp2_fast(fmaf(s[n][2 * h + 1], c, minus[h]));
        sum[h] += low + high;
        p[h][n] = pack<T>(low, high);
      }
  }
  /// Row g's new maximum, and the corrections of what refers to the old one.
  __device__ __forceinline__ void raise(const float (&most)[kHalves]) {
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
      float highest = fmaxf(most[h], __shfl_xor_sync(kWholeWarp, most[h], 1));
      highest = fmaxf(top[h], fmaxf(highest, __shfl_xor_sync(kWholeWarp, highest, 2)));
      minus[h] = highest == -INFINITY ? 0.f : -highest * c;
      const float correction = exp2_fast(fmaf(top[h], c, minus[h]));
      top[h] = highest, sum[h] *= correction;
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const float of_row = __shfl_sync(kWholeWarp, correction, 4 * (lane % 4 * 2 + e));
#pragma unroll
        for (auto& columns : o) columns[h][e] *= of_row, columns[h][2 + e] *= of_row;
      }
    }
  }
  __device__ __forceinline__ void add_values(uint32_t v_tile, const uint32_t (&p)[kHalves][2]) {
#pragma unroll
    for (int i = 0; i < kD / 16; ++i) {
      uint32_t v[4];
      load_matrices_transposed(v, matrices(v_tile, i));
#pragma unroll
      for (int h = 0; h < kHalves; ++h) multiply<T>(o[i][h], v, p[h][0], p[h][1]);
    }
  }
  /// Tiles first, first + kDecodeWarps, ... before `end`.
  __device__ __forceinline__ void process(int first, int end) {
    for (int stage = 0; stage < kStages; ++stage)
      if (const int tile = first + stage * kDecodeWarps; tile < end) load_tile(stage, tile);
    load_queries();
    int stage = 0, phase = 0;
#pragma unroll 1
    for (int tile = first; tile < end; tile += kDecodeWarps, advance(stage, phase, kStages)) {
      const uint32_t k_tile = tiles + 2 * kTile * stage;
      float s[2][2 * kHalves];
      uint32_t p[kHalves][2];
      barrier_wait(full + 8 * stage, phase);
      scores(s, k_tile, tile);
      softmax(p, s);
      add_values(k_tile + kTile, p);
      __syncwarp();  // all lanes have read the stage
      if (const int next = tile + kStages * kDecodeWarps; next < end) load_tile(stage, next);
    }
  }
  /// Every load of this warp has completed, so that its ring is free.
  __device__ __forceinline__ void store_partial(Shared& shared, int warp) const {
    const int g = lane / 4, t = lane % 4;
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
      float all = sum[h] + __shfl_xor_sync(kWholeWarp, sum[h], 1);
      all += __shfl_xor_sync(kWholeWarp, all, 2);
      if (t == 0) shared.sums[warp][8 * h + g] = make_float2(top[h], all);
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        float* const to = shared.rings[warp].o[8 * h + 2 * t + e] + g;
#pragma unroll
        for (int i = 0; i < kD / 16; ++i) to[16 * i] = o[i][h][e], to[16 * i + 8] = o[i][h][2 + e];
      }
    }
  }
};

}  // namespace kymo::flash
