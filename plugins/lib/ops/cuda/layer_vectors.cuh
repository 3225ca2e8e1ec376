// SPDX-License-Identifier: Apache-2.0
// Loads and stores of several neighboring elements, converted to fp32, and what the kernels of the layers share.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "launch.cuh"
#include "layers.hpp"
#include "ptx.cuh"

namespace kymo::layers {

constexpr int kWarp = 32;

__device__ __forceinline__ float to_float(float x) { return x; }
__device__ __forceinline__ float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ __forceinline__ float to_float(__half x) { return __half2float(x); }

template <class T>
__device__ __forceinline__ T rounded(float x) {
  if constexpr (std::is_same_v<T, __nv_bfloat16>) return __float2bfloat16_rn(x);
  if constexpr (std::is_same_v<T, __half>) return __float2half_rn(x);
  if constexpr (std::is_same_v<T, float>) return x;
}

/// kCount elements of 8 bytes or a multiple of 16 bytes.
template <class T, int kCount>
struct Packed {
  static constexpr int kBytes = kCount * static_cast<int>(sizeof(T));
  using Word = std::conditional_t<kBytes == 8, uint2, uint4>;
  static constexpr int kWords = kBytes / static_cast<int>(sizeof(Word));
  static_assert(kBytes == 8 || kBytes % 16 == 0);
  union {
    Word words[kWords];
    T elements[kCount];
  };
  __device__ Packed() {}
  __device__ __forceinline__ void read(const T* from) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) words[i] = reinterpret_cast<const Word*>(from)[i];
  }
  __device__ __forceinline__ void write(T* to) const {
#pragma unroll
    for (int i = 0; i < kWords; ++i) reinterpret_cast<Word*>(to)[i] = words[i];
  }
  __device__ __forceinline__ void convert(float (&to)[kCount]) const {
    if constexpr (sizeof(T) == 2) {
#pragma unroll
      for (int i = 0; i < kCount; i += 2) {
        const float2 two = flash::unpack<T>(reinterpret_cast<const uint32_t*>(words)[i / 2]);
        to[i] = two.x, to[i + 1] = two.y;
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) to[i] = to_float(elements[i]);
    }
  }
  __device__ __forceinline__ void round(const float (&from)[kCount]) {
    if constexpr (sizeof(T) == 2) {
#pragma unroll
      for (int i = 0; i < kCount; i += 2)
        reinterpret_cast<uint32_t*>(words)[i / 2] = flash::pack<T>(from[i], from[i + 1]);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) elements[i] = from[i];
    }
  }
};

template <class T, int kCount>
__device__ __forceinline__ void load(const T* from, float (&to)[kCount]) {
  Packed<T, kCount> packed;
  packed.read(from);
  packed.convert(to);
}

template <class T, int kCount>
__device__ __forceinline__ void store(T* to, const float (&from)[kCount]) {
  Packed<T, kCount> packed;
  packed.round(from);
  packed.write(to);
}

template <class T>
constexpr int kVector = kVectorBytes / static_cast<int>(sizeof(T));

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
  for (int i = kWarp / 2; i > 0; i /= 2) x += __shfl_xor_sync(0xffffffffu, x, i);
  return x;
}

/// Calls function(T{}) with the C++ type of an element.
template <class Function>
std::string with_type(Element element, const Function& function) {
  if (element == Element::kFloat32) return function(float{});
  if (element == Element::kBfloat16) return function(__nv_bfloat16{});
  return function(__half{});
}

inline int64_t divided_up(int64_t x, int64_t by) { return (x + by - 1) / by; }

/// Threads per block, a multiple of 32 up to `most`, for `items` that a block distributes evenly.
inline int threads_for(int64_t items, int most) {
  const int64_t rounds = divided_up(items, most);
  return static_cast<int>(divided_up(divided_up(items, rounds), kWarp) * kWarp);
}

}  // namespace kymo::layers
