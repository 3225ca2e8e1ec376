// SPDX-License-Identifier: Apache-2.0
#include "tensor_map.hpp"

#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

namespace kymo::flash {
namespace {

PFN_cuTensorMapEncodeTiled_v12000 find_encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &result) !=
      cudaSuccess)
    return nullptr;
  return result == cudaDriverEntryPointSuccess ? reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function)
                                               : nullptr;
}

/// Makes the context of the current device that of this thread, as the runtime does at the first call that needs it.
/// In a thread of autograd whose tensors come from the allocator's cache, there was none before.
bool bind_context() {
  int device = 0;
  return cudaGetDevice(&device) == cudaSuccess && cudaSetDevice(device) == cudaSuccess;
}

}  // namespace

std::string make_map(CUtensorMap& map, const Tensor<const void*>& tensor, const MapSizes& sizes, Element element,
                     int box_rows) {
  static const PFN_cuTensorMapEncodeTiled_v12000 encode = find_encoder();
  if (!encode) return "the driver does not provide cuTensorMapEncodeTiled; install a driver for CUDA 12.0 or later";
  const auto bytes = [&](int64_t stride,
                         int64_t size) {  // TMA requires multiples of 16; the stride of a size of 1 is arbitrary
    return static_cast<cuuint64_t>(size == 1 ? sizes.d * 2 : stride * 2);
  };
  const cuuint64_t extent[4] = {static_cast<cuuint64_t>(sizes.d), static_cast<cuuint64_t>(sizes.rows),
                                static_cast<cuuint64_t>(sizes.heads), static_cast<cuuint64_t>(sizes.batch)};
  const cuuint64_t strides[3] = {bytes(tensor.row_stride, sizes.rows), bytes(tensor.head_stride, sizes.heads),
                                 bytes(tensor.batch_stride, sizes.batch)};
  const cuuint32_t box[4] = {64, static_cast<cuuint32_t>(box_rows), 1, 1}, step[4] = {1, 1, 1, 1};
  const CUtensorMapDataType type =
      element == Element::kFloat16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  const auto make = [&] {
    return encode(&map, type, 4, const_cast<void*>(tensor.at), extent, strides, box, step,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  CUresult result = make();
  if (result == CUDA_ERROR_INVALID_CONTEXT && bind_context()) result = make();
  if (result == CUDA_SUCCESS) return {};
  return "cuTensorMapEncodeTiled rejected a tensor of " + std::to_string(sizes.batch) + " x " +
         std::to_string(sizes.heads) + " x " + std::to_string(sizes.rows) + " x " + std::to_string(sizes.d) +
         " with row stride " + std::to_string(tensor.row_stride) + " (CUDA driver error " + std::to_string(result) +
         ")";
}

std::string make_map(CUtensorMap& map, const Tensor<void*>& tensor, const MapSizes& sizes, Element element,
                     int box_rows) {
  return make_map(map, Tensor<const void*>{tensor.at, tensor.batch_stride, tensor.head_stride, tensor.row_stride},
                  sizes, element, box_rows);
}

}  // namespace kymo::flash
