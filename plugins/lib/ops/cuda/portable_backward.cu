// SPDX-License-Identifier: Apache-2.0
// The portable backward for bf16 and fp16: one function for each padded head size.
#include "kernels.hpp"
#include "portable_backward_queries.cuh"

namespace kymo::flash {
namespace {

template <class T, int D, int kSplit, int kOwn, int kStream, int kStages>
std::string launch(const Backward& call, Stream stream) {
  using Keys = PortableBackwardTiles<T, D, 1, kSplit, kOwn, kStream, kStages>;
  using Queries = PortableBackwardTiles<T, D, 1, kSplit, kOwn, kStream, kStages, 4, D == 64 ? 2 : 1>;
  return launch_portable_backward<Keys, Queries>(call, stream);
}
template <int D, int kSplit, int kOwn, int kStream, int kStages>
std::string launch(const Backward& call, Stream stream) {
  return call.problem.element == Element::kFloat16
             ? launch<__half, D, kSplit, kOwn, kStream, kStages>(call, stream)
             : launch<__nv_bfloat16, D, kSplit, kOwn, kStream, kStages>(call, stream);
}

}  // namespace

std::string portable_backward_d64(const Backward& call, Stream stream) {
  return launch<64, 1, 128, 64, 2>(call, stream);
}
std::string portable_backward_d128(const Backward& call, Stream stream) {
  return launch<128, 1, 128, 32, 2>(call, stream);
}
std::string portable_backward_d256(const Backward& call, Stream stream) {
  return launch<256, 2, 64, 32, 1>(call, stream);
}

}  // namespace kymo::flash
