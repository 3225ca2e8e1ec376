// SPDX-License-Identifier: Apache-2.0
// The portable backward for bf16 and fp16: one function for each padded head size.
#include "kernels.hpp"
#include "portable_backward_queries.cuh"

namespace kymo::flash {
namespace {

template <int D>
std::string launch(const Backward& call, Stream stream) {
  return call.problem.element == Element::kFloat16 ? launch_portable_backward<__half, D>(call, stream)
                                                   : launch_portable_backward<__nv_bfloat16, D>(call, stream);
}

}  // namespace

std::string portable_backward_d64(const Backward& call, Stream stream) { return launch<64>(call, stream); }
std::string portable_backward_d128(const Backward& call, Stream stream) { return launch<128>(call, stream); }
std::string portable_backward_d256(const Backward& call, Stream stream) { return launch<256>(call, stream); }

}  // namespace kymo::flash
