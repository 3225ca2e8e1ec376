// SPDX-License-Identifier: Apache-2.0
// The Hopper forward for head sizes up to 96: queries x keys of a tile, in the order of the template: d, keys, consumer
// warpgroups, pieces before the wait for P V, token, chained.
#include "hopper_forward_kernel.cuh"
#include "kernels.hpp"

namespace kymo::flash {

std::string hopper_forward_d96_128x176(const Forward& call, Stream stream) {
  return launch_hopper_forward<96, 176, 2, 4, true>(call, stream);
}
std::string hopper_forward_d96_128x128(const Forward& call, Stream stream) {
  return launch_hopper_forward<96, 128, 2, 2, true>(call, stream);
}
std::string hopper_forward_d96_chained128x128(const Forward& call, Stream stream) {
  return launch_hopper_forward<96, 128, 2, 1, true, true>(call, stream);
}

}  // namespace kymo::flash
