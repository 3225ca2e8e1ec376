// SPDX-License-Identifier: Apache-2.0
// The Hopper backward for head sizes up to 64.
#include "hopper_backward_kernel.cuh"

namespace kymo::flash {

std::string hopper_backward_d64(const Backward& call, Stream stream) {
  return launch_hopper_backward<64, 128>(call, stream);
}
std::string hopper_backward_d64_splitq(const Backward& call, Stream stream) {
  return launch_hopper_backward<64, 128, false, true>(call, stream);
}

}  // namespace kymo::flash
