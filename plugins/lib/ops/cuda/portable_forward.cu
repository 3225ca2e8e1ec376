// SPDX-License-Identifier: Apache-2.0
// The portable forward for bf16 and fp16: one function for each padded head size.
#include "kernels.hpp"
#include "portable_forward.cuh"

namespace kymo::flash {
namespace {

template <int D, int kRowTiles, int kKeys>
std::string launch(const Forward& call, Stream stream) {
  return call.problem.element == Element::kFloat16
             ? launch_portable_forward<PortableForwardTiles<__half, D, kRowTiles, 4, kKeys>>(call, stream)
             : launch_portable_forward<PortableForwardTiles<__nv_bfloat16, D, kRowTiles, 4, kKeys>>(call, stream);
}

}  // namespace

std::string portable_forward_d64(const Forward& call, Stream stream) { return launch<64, 2, 64>(call, stream); }
std::string portable_forward_d128(const Forward& call, Stream stream) { return launch<128, 2, 32>(call, stream); }
std::string portable_forward_d256(const Forward& call, Stream stream) { return launch<256, 1, 32>(call, stream); }

}  // namespace kymo::flash
