// SPDX-License-Identifier: Apache-2.0
// The portable backward for fp32 (three TF32 MMAs): one function for each padded head size and tile size, rows held x
// streamed.
#include "kernels.hpp"
#include "portable_backward_queries.cuh"

namespace kymo::flash {
namespace {

/// Parameters as in PortableBackwardTiles; the minimum number of blocks per SM comes last.
template <int D, int kRowTiles, int kSplit, int kOwn, int kStream, int kStages, int kVector, int kBlocks,
          bool kAtomicDq = false, bool kSplitQ = false>
using Tiles = PortableBackwardTiles<float, D, kRowTiles, kSplit, kOwn, kStream, kStages, kVector, kBlocks, kAtomicDq,
                                    kSplitQ, kSplit == 2>;

}  // namespace

std::string float_backward_d64_atomic(const Backward& call, Stream stream) {
  return launch_backward_atomic<Tiles<64, 1, 1, 64, 32, 2, 4, 3, true>>(call, stream);
}
std::string float_backward_d64_splitq(const Backward& call, Stream stream) {
  return launch_backward_atomic<Tiles<64, 1, 1, 64, 32, 2, 4, 2, true, true>>(call, stream);
}
std::string float_backward_d128_atomic(const Backward& call, Stream stream) {
  return launch_backward_atomic<Tiles<128, 2, 2, 64, 32, 1, 2, 2, true>>(call, stream);
}
std::string float_backward_d128_splitq(const Backward& call, Stream stream) {
  return launch_backward_atomic<Tiles<128, 2, 2, 64, 32, 1, 2, 2, true, true>>(call, stream);
}
std::string float_backward_d256_atomic(const Backward& call, Stream stream) {
  return launch_backward_atomic<Tiles<256, 1, 2, 64, 32, 1, 4, 1, true>>(call, stream);
}
std::string float_backward_d256_splitq(const Backward& call, Stream stream) {
  return launch_backward_atomic<Tiles<256, 1, 2, 64, 32, 1, 4, 1, true, true>>(call, stream);
}

// For GPUs with less shared memory per block.
std::string float_backward_d128_small(const Backward& call, Stream stream) {
  return launch_backward_atomic<Tiles<128, 1, 1, 64, 16, 2, 4, 2, true>>(call, stream);
}
std::string float_backward_d128_splitq_small(const Backward& call, Stream stream) {
  return launch_backward_atomic<Tiles<128, 1, 1, 64, 16, 2, 4, 2, true, true>>(call, stream);
}
std::string float_backward_d256_small(const Backward& call, Stream stream) {
  return launch_backward_atomic<Tiles<256, 1, 2, 32, 16, 1, 2, 2, true>>(call, stream);
}
std::string float_backward_d256_splitq_small(const Backward& call, Stream stream) {
  return launch_backward_atomic<Tiles<256, 1, 2, 32, 16, 1, 2, 2, true, true>>(call, stream);
}

// Deterministic kernels.
std::string float_backward_d64_128x32(const Backward& call, Stream stream) {
  using Both = Tiles<64, 1, 1, 128, 32, 2, 4, 1>;
  return launch_portable_backward<Both, Both>(call, stream);
}
std::string float_backward_d128_64x16(const Backward& call, Stream stream) {
  using Both = Tiles<128, 1, 1, 64, 16, 2, 4, 2>;
  return launch_portable_backward<Both, Both>(call, stream);
}
std::string float_backward_d256_32x16(const Backward& call, Stream stream) {
  using Queries = PortableBackwardTiles<float, 256, 1, 2, 32, 16, 1, 2, 2>;
  return launch_portable_backward<Tiles<256, 1, 2, 32, 16, 1, 2, 2>, Queries>(call, stream);
}

}  // namespace kymo::flash
