// SPDX-License-Identifier: Apache-2.0
// The way out of dK and dV in the Hopper backward.
#pragma once
#include "hopper_backward.cuh"

namespace kymo::flash {

/// dK or dV to shared memory (dV over this consumer's own rows of V; dK over K, once the peer's last dQ has read it), then by TMA,
/// which clips rows and columns outside the tensor. Of a block of 64 keys both consumers own all rows.
template <class Tiles>
__device__ __forceinline__ void store_gradient(float (&acc)[Tiles::kD / 2], float factor, const KeyBlock& block, int consumer, uint32_t to,
                                               const CUtensorMap* map) {
  constexpr int kKeys = Tiles::kKeys;
  const int first = kKeys > 64 ? consumer * 64 : 0;
  const int now = thread_now(), in_eight = now & 7, high = now >> 4 & 1;  // read again, so that it costs no register elsewhere
  const int row = first + ((now & 127) >> 5) * 16 + (now >> 3 & 1) * 8 + in_eight;
#pragma unroll
  for (int k = 0; k < Tiles::kD / 16; ++k) {
    uint32_t r[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) r[i] = pack<typename Tiles::T>(acc[8 * k + 2 * i] * factor, acc[8 * k + 2 * i + 1] * factor);
    store_matrices(to + (k >> 2) * (kKeys * 128) + row * 128 + (((2 * (k & 3) + high) ^ in_eight) * 16), r[0], r[1], r[2], r[3]);
  }
  fence_shared();
  consumer ? named_sync(3, 128) : named_sync(2, 128);
  if ((now & 127) == 0) {
    for (int panel = 0; panel < Tiles::kPanels; ++panel)
      store_box(map, to + panel * (kKeys * 128) + first * 128, {panel * 64, block.first_key + first, block.head_kv, block.batch});
    commit_bulk();
  }
}

}  // namespace kymo::flash
