// SPDX-License-Identifier: Apache-2.0
// The Hopper backward for short sequences and head sizes up to 128.
#include "hopper_backward_short.cuh"

namespace kymo::flash {
namespace {

template <int kD, int kRows, bool kPaired = false>
std::string launch(const Backward& call, Stream stream) {
  return by_element_and_mask(call.problem, [&]<class T, bool kCausal>() {
    using Tiles = HopperBackwardTiles<T, kD, kRows, kCausal, false, false, true>;
    return launch_hopper_backward_short<Tiles, kPaired>(call, stream);
  });
}

}  // namespace

std::string hopper_backward_d64_short(const Backward& call, Stream stream) { return launch<64, 128>(call, stream); }
std::string hopper_backward_d64_pairs(const Backward& call, Stream stream) {
  return launch<64, 128, true>(call, stream);
}
std::string hopper_backward_d128_short(const Backward& call, Stream stream) { return launch<128, 64>(call, stream); }

}  // namespace kymo::flash
