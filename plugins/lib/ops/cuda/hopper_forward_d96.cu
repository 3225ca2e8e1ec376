// SPDX-License-Identifier: Apache-2.0
// The Hopper forward for head sizes up to 96. Names give the tile, queries x keys. Template parameters: d, keys,
// consumer warpgroups, pieces before the wait for P V, pipelining across tiles.
#include "hopper_forward_kernel.cuh"
#include "kernels.hpp"

namespace kymo::flash {

std::string hopper_forward_d96_pipelined128x128(const Forward& call, Stream stream) {
  return launch_hopper_forward<96, 128, 2, 1, true>(call, stream);
}

}  // namespace kymo::flash
