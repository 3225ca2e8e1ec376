// SPDX-License-Identifier: Apache-2.0
// The Hopper backward for head sizes up to 192. Template parameters: d, stages of dO.
#include "hopper_backward_kernel.cuh"

namespace kymo::flash {

std::string hopper_backward_d192(const Backward& call, Stream stream) {
  return launch_hopper_backward_d256<192, 2>(call, stream);
}
std::string hopper_backward_d192_splitq(const Backward& call, Stream stream) {
  return launch_hopper_backward_d256<192, 2, true>(call, stream);
}

}  // namespace kymo::flash
