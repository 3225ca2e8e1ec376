// SPDX-License-Identifier: Apache-2.0
// The portable backward for fp32 (three TF32 products): one function for each padded head size.
#include "kernels.hpp"
#include "portable_backward_queries.cuh"

namespace kymo::flash {

std::string float_backward_d64(const Backward& call, Stream stream) { return launch_portable_backward<float, 64>(call, stream); }
std::string float_backward_d128(const Backward& call, Stream stream) { return launch_portable_backward<float, 128>(call, stream); }
std::string float_backward_d256(const Backward& call, Stream stream) { return launch_portable_backward<float, 256>(call, stream); }

}  // namespace kymo::flash
