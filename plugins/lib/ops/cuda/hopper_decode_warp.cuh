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
  bool overlap;      // the next kernel may start before this one ends
  float scale_log2;  // scale times log2(e)
};

template <int kD, int kRows, int kWarps_>
struct DecodeShared {
  static constexpr int kWarps = kWarps_;
  static constexpr int kKeys = decode_keys(kD), kTile = kKeys * kD * 2;  // of a tile of K or V: keys, bytes
  static constexpr int kVectors = kD / 4, kSlots = kRows * kVectors;     // float4 of a row, of all rows
  union Ring {
    uint8_t tiles[kDecodeStages][kTile];  // K, V, K, ... in panels of 64 columns
    float o[kRows][kD + 4];               // in the end, the partial; padded against bank conflicts
  };
  Ring rings[kWarps];
  float4 received_o[kSlots];  // of all splits, one after the other
  float2 received_sums[kSlots];
  float2 sums[kWarps][kRows];
  uint64_t full[kWarps][kDecodeStages], received;  // mbarriers
};

template <class T, int kD, int kRows, int kWarps>
struct DecodeWarp {
  using Shared = DecodeShared<kD, kRows, kWarps>;
  static constexpr int kWarpBits = kWarps == 8 ? 3 : 2;
  static_assert(1 << kWarpBits == kWarps);
  static constexpr int kHalves = kRows / 8, kKeys = Shared::kKeys, kTile = Shared::kTile;
  static constexpr int kGroups = kKeys / 8;  // of 8 keys, the columns of an MMA of S
  const DecodeCall& call;
  int lane, batch, head, head_kv;  // head: of the batch element
  int shift;                       // from a tile of this warp to its next one: 2^shift
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
        shift(of.split_bits + kWarpBits),
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
  /// Loads K (even numbers) or V of this warp's next tiles. Keys past the end and columns past d are 0.
  __device__ __forceinline__ void load(int stage, int number, int first) const {
    if (lane != 0) return;
    const uint32_t barrier = full + 8 * stage, to = tiles + kTile * stage;
    const CUtensorMap* const map = number % 2 == 0 ? &call.k : &call.v;
    const int key = (first + (number / 2 << shift)) * kKeys;
    barrier_expect(barrier, kTile);
#pragma unroll
    for (int panel = 0; panel < kD / 64; ++panel)
      load_box(to + panel * kKeys * 128, map, barrier, {64 * panel, key, head_kv, batch});
  }
  /// Address of this lane's row of the four matrices {keys 0-7, 8-15} x {columns 16 step, 16 step + 8}, the second
  /// dimension first, from key 16 `part` on, in a tile with 128-byte swizzle.
  __device__ __forceinline__ uint32_t matrices(uint32_t tile, int part, int step) const {
    const int key = lane % 8 + lane / 16 * 8 + 16 * part, chunk = step % 4 * 2 + lane / 8 % 2;
    return tile + step / 4 * kKeys * 128 + key * 128 + ((chunk ^ lane % 8) << 4);
  }

  /// s[n][2 h + e]: score of row g + 8 h and key 8 n + 2 t + e, not scaled.
  __device__ __forceinline__ void scores(float (&s)[kGroups][2 * kHalves], uint32_t k_tile, int tile) const {
    float even[kGroups][4] = {}, odd[kGroups][4] = {};
#pragma unroll
    for (int step = 0; step < kD / 16; ++step)
#pragma unroll
      for (int part = 0; part < kGroups / 2; ++part) {
        uint32_t k[4];
        load_matrices(k, matrices(k_tile, part, step));
        auto& sums = step % 2 == 0 ? even : odd;
        const auto& left = q[step / 2][step % 2 == 0 ? 0 : kHalves - 1];
        multiply<T>(sums[2 * part], left, k[0], k[1]), multiply<T>(sums[2 * part + 1], left, k[2], k[3]);
      }
    const int left = call.seq_k - tile * kKeys - lane % 4 * 2;  // keys from this lane's first one
#pragma unroll
    for (int n = 0; n < kGroups; ++n)
#pragma unroll
      for (int x = 0; x < 2 * kHalves; ++x)
        s[n][x] = 8 * n + x % 2 < left ? even[n][x] + odd[n][kRows == 8 ? x + 2 : x] : -INFINITY;
  }
  /// Online softmax; p[h]: the right operand P^T of 8 rows. New maxima are rare after a few tiles.
  __device__ __forceinline__ void softmax(uint32_t (&p)[kHalves][kGroups], const float (&s)[kGroups][2 * kHalves]) {
    float most[kHalves];
    bool higher = false;
#pragma unroll
    for (int h = 0; h < kHalves; ++h) {
      most[h] = fmaxf(s[0][2 * h], s[0][2 * h + 1]);
#pragma unroll
      for (int n = 1; n < kGroups; ++n) most[h] = fmaxf(most[h], fmaxf(s[n][2 * h], s[n][2 * h + 1]));
      higher |= most[h] > top[h];
    }
    if (__any_sync(kWholeWarp, higher)) raise(most);
#pragma unroll
    for (int h = 0; h < kHalves; ++h)
#pragma unroll
      for (int n = 0; n < kGroups; ++n) {
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
  __device__ __forceinline__ void add_values(uint32_t v_tile, const uint32_t (&p)[kHalves][kGroups]) {
#pragma unroll
    for (int part = 0; part < kGroups / 2; ++part)
#pragma unroll
      for (int i = 0; i < kD / 16; ++i) {
        uint32_t v[4];
        load_matrices_transposed(v, matrices(v_tile, part, i));
#pragma unroll
        for (int h = 0; h < kHalves; ++h) multiply<T>(o[i][h], v, p[h][2 * part], p[h][2 * part + 1]);
      }
  }
  /// Tiles first, first + 2^shift, ... before `end`.
  __device__ __forceinline__ void process(int first, int end) {
    const int loads = first < end ? (((end - first - 1) >> shift) + 1) * 2 : 0;
    for (int number = 0; number < kDecodeStages && number < loads; ++number) load(number, number, first);
    load_queries();
    int stage = 0, phase = 0;
    const auto refill = [&](int number) {
      __syncwarp();  // all lanes have read the stage
      if (number + kDecodeStages < loads) load(stage, number + kDecodeStages, first);
      advance(stage, phase, kDecodeStages);
    };
#pragma unroll 1
    for (int number = 0; number < loads; number += 2) {
      float s[kGroups][2 * kHalves];
      uint32_t p[kHalves][kGroups];
      barrier_wait(full + 8 * stage, phase);
      scores(s, tiles + kTile * stage, first + (number / 2 << shift));
      refill(number);
      softmax(p, s);
      barrier_wait(full + 8 * stage, phase);
      add_values(tiles + kTile * stage, p);
      refill(number + 1);
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
