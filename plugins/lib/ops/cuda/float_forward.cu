// SPDX-License-Identifier: Apache-2.0
// The portable forward for fp32 (three TF32 products): one function for each padded head size.
#include "kernels.hpp"
#include "portable_forward.cuh"

namespace kymo::flash {

std::string float_forward_d64(const Forward& call, Stream stream) { return launch_portable_forward<float, 64>(call, stream); }
std::string float_forward_d128(const Forward& call, Stream stream) { return launch_portable_forward<float, 128>(call, stream); }
std::string float_forward_d256(const Forward& call, Stream stream) { return launch_portable_forward<float, 256>(call, stream); }

}  // namespace kymo::flash
