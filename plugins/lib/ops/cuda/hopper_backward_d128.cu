// SPDX-License-Identifier: Apache-2.0
// The Hopper backward for head sizes up to 128.
#include "hopper_backward_kernel.cuh"

namespace kymo::flash {

std::string hopper_backward_d128(const Backward& call, Stream stream) {
  return launch_hopper_backward<128, 64>(call, stream);
}
std::string hopper_backward_d128_early(const Backward& call, Stream stream) {
  return launch_hopper_backward<128, 64, true>(call, stream);
}
std::string hopper_backward_d128_splitq(const Backward& call, Stream stream) {
  return launch_hopper_backward<128, 64, false, true>(call, stream);
}
std::string hopper_backward_d128_lockstep(const Backward& call, Stream stream) {
  return launch_hopper_backward<128, kLockstepRows>(call, stream);
}
std::string hopper_backward_d128_lockstep_early(const Backward& call, Stream stream) {
  return launch_hopper_backward<128, kLockstepRows, true>(call, stream);
}
std::string hopper_backward_d128_lockstep_splitq(const Backward& call, Stream stream) {
  return launch_hopper_backward<128, kLockstepRows, false, true>(call, stream);
}

}  // namespace kymo::flash
