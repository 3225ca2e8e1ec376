// SPDX-License-Identifier: Apache-2.0
// Issue of the Hopper MMAs with tiles in shared memory, by rows and by columns. Tiles consist of panels of 64 columns.
// Callers issue fences and commits.
#pragma once
#include "hopper.cuh"

namespace kymo::flash {

/// acc = A B^T over kD columns. a, b: operands of 64 rows of a tile with kLeftRows rows, and of a tile with kRightRows
/// rows.
template <class T, int kD, int kLeftRows, int kRightRows>
__device__ __forceinline__ void issue_by_rows(float (&acc)[kRightRows / 2], uint32_t a, uint32_t b) {
#pragma unroll
  for (int step = 0; step < kD / 16; ++step) {
    const uint32_t panel = step / 4, in_panel = step % 4 * 32;
    const uint64_t left = descriptor(a, panel * kLeftRows * 128 + in_panel),
                   right = descriptor(b, panel * kRightRows * 128 + in_panel);
    if (step == 0)
      Wgmma<T, kRightRows>::template shared_first<false>(acc, left, right);
    else
      Wgmma<T, kRightRows>::template shared<false>(acc, left, right);
  }
}
/// acc += left B. left: 64 x kRows in registers; b: operand of a tile of kRows rows and kD columns.
template <class T, int kD, int kRows>
__device__ __forceinline__ void issue_by_columns(float (&acc)[kD / 2], const uint32_t (&left)[kRows / 4], uint32_t b) {
#pragma unroll
  for (int step = 0; step < kRows / 16; ++step)
    Wgmma<T, kD>::registers(acc, left + 4 * step, descriptor(b, step * 2048));
}

}  // namespace kymo::flash
