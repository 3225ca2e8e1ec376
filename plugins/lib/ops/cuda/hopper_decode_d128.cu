// SPDX-License-Identifier: Apache-2.0
// The Hopper forward for decoding with head sizes up to 128.
#include "hopper_decode.cuh"
#include "kernels.hpp"

namespace kymo::flash {

std::string hopper_decode_d128(const Forward& call, Stream stream) { return launch_hopper_decode<128>(call, stream); }

}  // namespace kymo::flash
