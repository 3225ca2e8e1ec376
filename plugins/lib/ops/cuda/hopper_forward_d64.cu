// SPDX-License-Identifier: Apache-2.0
// The Hopper forward for head sizes up to 64. Names give the tile, queries x keys. Template parameters: d, keys,
// consumer warpgroups, pieces before the wait for P V, pipelining across tiles, split-KV.
#include "hopper_forward_kernel.cuh"
#include "kernels.hpp"

namespace kymo::flash {

std::string hopper_forward_d64_192x128(const Forward& call, Stream stream) {
  return launch_hopper_forward<64, 128, 3, 1>(call, stream);
}
std::string hopper_forward_d64_pipelined128x128(const Forward& call, Stream stream) {
  return launch_hopper_forward<64, 128, 2, 1, true>(call, stream);
}
std::string hopper_forward_d64_splitkv128x128(const Forward& call, Stream stream) {
  return launch_hopper_forward<64, 128, 2, 1, false, true>(call, stream);
}

}  // namespace kymo::flash
