// SPDX-License-Identifier: Apache-2.0
// TMA tensor maps.
#pragma once
#include <cuda.h>

#include <string>

#include "flash.hpp"

namespace kymo::flash {

struct MapSizes {
  int64_t batch, heads, rows, d;
};

/// Creates a tensor map with boxes of box_rows rows and 64 columns in 128-byte swizzle, for bf16 and fp16; elements
/// outside the tensor read as zero. The driver function is looked up through the runtime, so that nothing links
/// libcuda. Returns an error message, empty on success.
std::string make_map(CUtensorMap& map, const Tensor<const void*>& tensor, const MapSizes& sizes, Element element,
                     int box_rows);
std::string make_map(CUtensorMap& map, const Tensor<void*>& tensor, const MapSizes& sizes, Element element,
                     int box_rows);

}  // namespace kymo::flash
