// SPDX-License-Identifier: Apache-2.0
// The Hopper forward for head sizes up to 256. Names give the tile, queries x keys. Template parameters: d, keys,
// consumer warpgroups, pieces before the wait for P V, pipelining across tiles, split-KV.
#include "hopper_forward_kernel.cuh"
#include "kernels.hpp"

namespace kymo::flash {

std::string hopper_forward_d256_128x80(const Forward& call, Stream stream) {
  return launch_hopper_forward<256, 80, 2, 2>(call, stream);
}
std::string hopper_forward_d256_splitkv128x80(const Forward& call, Stream stream) {
  return launch_hopper_forward<256, 80, 2, 2, false, true>(call, stream);
}

}  // namespace kymo::flash
