// SPDX-License-Identifier: Apache-2.0
// The Hopper forward for head sizes up to 128: queries x keys of a tile, in the order of the template: d, keys, consumer
// warpgroups, pieces before the wait for P V, token.
#include "hopper_forward_kernel.cuh"
#include "kernels.hpp"

namespace kymo::flash {

std::string hopper_forward_d128_128x176(const Forward& call, Stream stream) {
  return launch_hopper_forward<128, 176, 2, 4, true>(call, stream);
}
std::string hopper_forward_d128_128x192(const Forward& call, Stream stream) {
  return launch_hopper_forward<128, 192, 2, 3, true>(call, stream);
}
std::string hopper_forward_d128_128x128(const Forward& call, Stream stream) {
  return launch_hopper_forward<128, 128, 2, 2, true>(call, stream);
}
std::string hopper_forward_d128_64x80(const Forward& call, Stream stream) {
  return launch_hopper_forward<128, 80, 1, 2, false>(call, stream);
}

}  // namespace kymo::flash
