// SPDX-License-Identifier: Apache-2.0
// Tensor maps: what TMA must know of a tensor in global memory.
#pragma once
#include <cuda.h>

#include <string>

#include "flash.hpp"

namespace kymo::flash {

struct MapSizes {
  int64_t batch, heads, rows, d;
};

/// A map of boxes of box_rows rows and 64 columns in 128-byte swizzle, for bf16 and fp16; what lies outside the tensor
/// reads as zero. The driver's function is found through the runtime, so that nothing links libcuda. Returns what went
/// wrong, or an empty text.
std::string make_map(CUtensorMap& map, const Tensor<const void*>& tensor, const MapSizes& sizes, Element element,
                     int box_rows);
std::string make_map(CUtensorMap& map, const Tensor<void*>& tensor, const MapSizes& sizes, Element element,
                     int box_rows);

}  // namespace kymo::flash
