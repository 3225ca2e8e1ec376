// SPDX-License-Identifier: Apache-2.0
// The Hopper forward for head sizes up to 128. Names give the tile, queries x keys. Template parameters: d, keys,
// consumer warpgroups, pieces before the wait for P V, pipelining across tiles, split-KV.
#include "hopper_forward_kernel.cuh"
#include "kernels.hpp"

namespace kymo::flash {

std::string hopper_forward_d128_pipelined128x128(const Forward& call, Stream stream) {
  return launch_hopper_forward<128, 128, 2, 2, true>(call, stream);
}
std::string hopper_forward_d128_splitkv128x128(const Forward& call, Stream stream) {
  return launch_hopper_forward<128, 128, 2, 2, false, true>(call, stream);
}

}  // namespace kymo::flash
