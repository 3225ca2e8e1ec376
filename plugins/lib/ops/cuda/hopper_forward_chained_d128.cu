// SPDX-License-Identifier: Apache-2.0
// The Hopper forward with chained tiles for head sizes up to 128: queries x keys of a tile, in the order of the template: d, keys, consumer
// warpgroups, pieces before the wait for P V, token, chained, cut diagonal.
#include "hopper_forward_kernel.cuh"
#include "kernels.hpp"

namespace kymo::flash {

std::string hopper_forward_d128_chained128x128(const Forward& call, Stream stream) {
  return launch_hopper_forward<128, 128, 2, 2, true, true>(call, stream, Counter::kNever);
}
std::string hopper_forward_d128_counted128x128(const Forward& call, Stream stream) {
  return launch_hopper_forward<128, 128, 2, 2, true, true>(call, stream, Counter::kAlways);
}
std::string hopper_forward_d128_chained128x160(const Forward& call, Stream stream) {
  return launch_hopper_forward<128, 160, 2, 3, true, true>(call, stream, Counter::kNever);
}
std::string hopper_forward_d128_counted128x160(const Forward& call, Stream stream) {
  return launch_hopper_forward<128, 160, 2, 3, true, true>(call, stream, Counter::kAlways);
}
std::string hopper_forward_d128_cut128x128(const Forward& call, Stream stream) {
  return launch_hopper_forward<128, 128, 2, 2, true, true, true>(call, stream, Counter::kNever);
}

}  // namespace kymo::flash
