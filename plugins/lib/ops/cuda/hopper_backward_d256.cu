// SPDX-License-Identifier: Apache-2.0
// The Hopper backward for head sizes up to 256. Template parameters: d, stages of dO.
#include "hopper_backward_kernel.cuh"

namespace kymo::flash {

std::string hopper_backward_d256(const Backward& call, Stream stream) {
  return launch_hopper_backward_d256<256, 1>(call, stream);
}
std::string hopper_backward_d256_splitq(const Backward& call, Stream stream) {
  return launch_hopper_backward_d256<256, 1, true>(call, stream);
}

}  // namespace kymo::flash
