// SPDX-License-Identifier: Apache-2.0
// The portable forward for fp32 (three TF32 MMAs): one function for each padded head size and tile, queries x keys.
#include "kernels.hpp"
#include "portable_forward.cuh"

namespace kymo::flash {
namespace {

/// kVector: neighboring columns that a thread reads at once; kBlocks: target blocks per SM; kSplitKv: split-KV.
template <int D, int kRowTiles, int kKeys, int kVector, int kBlocks, bool kSplitKv = false>
std::string launch(const Forward& call, Stream stream) {
  using Tiles = PortableForwardTiles<float, D, kRowTiles, 4, kKeys, kVector, kBlocks, kSplitKv>;
  if constexpr (kSplitKv)
    return launch_split_portable<Tiles>(call, stream);
  else
    return launch_portable_forward<Tiles>(call, stream);
}

}  // namespace

std::string float_forward_d64_128x48(const Forward& call, Stream stream) {
  return launch<64, 2, 48, 2, 2>(call, stream);
}
std::string float_forward_d128_64x64(const Forward& call, Stream stream) {
  return launch<128, 1, 64, 4, 2>(call, stream);
}
std::string float_forward_d256_64x16(const Forward& call, Stream stream) {
  return launch<256, 1, 16, 2, 2>(call, stream);
}
std::string float_forward_d64_splitkv128x48(const Forward& call, Stream stream) {
  return launch<64, 2, 48, 2, 2, true>(call, stream);
}
std::string float_forward_d128_splitkv64x64(const Forward& call, Stream stream) {
  return launch<128, 1, 64, 4, 2, true>(call, stream);
}
std::string float_forward_d256_splitkv64x16(const Forward& call, Stream stream) {
  return launch<256, 1, 16, 2, 2, true>(call, stream);
}

}  // namespace kymo::flash
