// SPDX-License-Identifier: Apache-2.0
// The Hopper forward for head sizes up to 192. Names give the tile, queries x keys. Template parameters: d, keys,
// consumer warpgroups, pieces before the wait for P V, pipelining across tiles, split-KV.
#include "hopper_forward_kernel.cuh"
#include "kernels.hpp"

namespace kymo::flash {

std::string hopper_forward_d192_128x112(const Forward& call, Stream stream) {
  return launch_hopper_forward<192, 112, 2, 2>(call, stream);
}
std::string hopper_forward_d192_pipelined128x80(const Forward& call, Stream stream) {
  return launch_hopper_forward<192, 80, 2, 1, true>(call, stream);
}
std::string hopper_forward_d192_splitkv128x112(const Forward& call, Stream stream) {
  return launch_hopper_forward<192, 112, 2, 2, false, true>(call, stream);
}

}  // namespace kymo::flash
