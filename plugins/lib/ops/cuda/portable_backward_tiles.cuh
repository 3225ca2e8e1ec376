// SPDX-License-Identifier: Apache-2.0
// Tile sizes of the portable backward (see portable_backward_keys.cuh), and its P.
#pragma once
#include "blocks.hpp"
#include "tiles.cuh"

namespace kymo::flash {

/// kM: tiles of 16 rows per warp. kShare warps share their rows and accumulate D / kShare columns each (all of them
/// compute S and dP): at D = 256, the two accumulators of the dK/dV kernel would not fit otherwise. blocks.hpp lists
/// the kernels that need more than 99 KB of shared memory per block.
template <class Element, int kPaddedD, int kRowTiles, int kShare, int kOwnRows, int kStreamRows, int kBuffers,
          int kNeighbours = 4, int kLeastBlocks = 1, bool kWithShares = false, bool kCutQueries = false,
          bool kWithRoles = false>
struct PortableBackwardTiles {
  using T = Element;
  static constexpr bool kWide = sizeof(T) == 4;
  static constexpr int kD = kPaddedD, kM = kRowTiles, kSplit = kShare, kRowBytes = TileRow<T, kD>::kBytes;
  static constexpr int kOwn = kOwnRows, kStream = kStreamRows,
                       kStages = kBuffers;  // rows held by a block, rows of a streamed tile
  static constexpr bool kRoles = kWithRoles;
  static constexpr int kWarps = kOwn / (16 * kM) * kSplit, kThreads = 32 * kWarps, kColumns = kD / kSplit;
  static constexpr int kVector = kNeighbours, kBlocks = kLeastBlocks;  // kVector: see float_tiles.cuh
  static constexpr bool kShares = kWithShares;  // the dK/dV kernel also adds to dQ: float_shares.cuh
  static constexpr bool kCut = kCutQueries;  // split-Q: a block processes a part of the queries and adds to dK and dV
  static constexpr int kTileBytes = kStream * kRowBytes, kOwnBytes = kOwn * kRowBytes;
  static constexpr int kStageBytes = 2 * kTileBytes + 2 * kStream * 4;  // Q, dO, lse, delta
  static constexpr int kScoreBytes = kRoles ? kStream * kOwn * 4 : 0;   // P and then dS, passed between warps
  static constexpr int kShared = 2 * kOwnBytes + kStages * kStageBytes + kScoreBytes;
  static constexpr int kSharedKb = kShares && kRoles && kStream > 16 ? float_backward_kb(kD) : kLeastSharedKb;
  static_assert(kShared <= kSharedKb * 1024);
  static_assert(!kRoles || (kWide && kSplit == 2));
  static_assert(!kShares || kRoles || kSplit == 1);  // one warp stores dS of its keys
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

}  // namespace kymo::flash
