// SPDX-License-Identifier: Apache-2.0
// Wrappers for PTX instructions (sm_80 and later) used by all kernels.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace kymo::flash {

constexpr float kLog2E = 1.4426950408889634f, kLn2 = 0.6931471805599453f;
constexpr uint32_t kWholeWarp = 0xffffffffu;

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

/// Hides the origin of a value from the compiler, so that derived values are recomputed here instead of kept in
/// registers.
__device__ __forceinline__ uint32_t opaque(uint32_t x) {
  asm volatile("" : "+r"(x));
  return x;
}
/// Ends a basic block, across which ptxas moves nothing: in long straight-line code, it moves loads up and additions
/// down until registers spill. The code is a backward branch that is never taken as long as `number`, which must be
/// uniform across threads, is 0 or more. `position` distinguishes it from others nearby, which ptxas would merge as the
/// same condition.
__device__ __forceinline__ void end_block(int number, int position) {
  asm volatile(
      "{ .reg .pred again;\n"
      "setp.eq.s32 again, %0, %1;\n"
      "@again trap; }\n" ::"r"(number),
      "r"(-1 - position)
      : "memory");
}

// ---------------------------------------------------------------- arithmetic
__device__ __forceinline__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// bits |= x & mask, where the compiler cannot move it.
__device__ __forceinline__ void or_masked(uint32_t& bits, uint32_t x, uint32_t mask) {
  asm volatile("lop3.b32 %0, %0, %1, %2, 0xf8;" : "+r"(bits) : "r"(x), "r"(mask));
}

/// Natural logarithm of a row's sum of exponentials exp2((score - top) c). kWide: scores already scaled, c = log2(e).
template <bool kWide = false>
__device__ __forceinline__ float log_sum_exp(float top, float sum, float c) {
  if (sum == 0.f) return -INFINITY;
  return kWide ? fmaf(log2f(sum), kLn2, top) : __fadd_rn(__fmul_rn(top, c), log2f(sum)) * kLn2;
}

/// Packs two values into one register of T, the first in the low half.
template <class T>
__device__ __forceinline__ uint32_t pack(float low, float high);
template <>
__device__ __forceinline__ uint32_t pack<__nv_bfloat16>(float low, float high) {
  uint32_t r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
template <>
__device__ __forceinline__ uint32_t pack<__half>(float low, float high) {
  uint32_t r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
template <class T>
__device__ __forceinline__ float2 unpack(uint32_t two);
template <>
__device__ __forceinline__ float2 unpack<__nv_bfloat16>(uint32_t two) {
  return make_float2(__uint_as_float(two << 16), __uint_as_float(two & 0xffff0000u));
}
template <>
__device__ __forceinline__ float2 unpack<__half>(uint32_t two) {
  return __half22float2(*reinterpret_cast<__half2*>(&two));
}

// ---------------------------------------------------------------- programmatic dependent launch (sm_90; no-op before)
/// Allows blocks of the next kernel to start.
__device__ __forceinline__ void launch_dependents() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/// Waits until the previous kernel has ended and its writes are visible.
__device__ __forceinline__ void wait_for_prerequisites() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// ---------------------------------------------------------------- asynchronous copies
/// Copies 16 bytes from global to shared memory, bypassing L1; zero-fills if `inside` is false.
__device__ __forceinline__ void copy16(uint32_t to, const void* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}
/// Copies 8 or 16 bytes from global to shared memory; 16 bytes bypass L1.
template <int kBytes>
__device__ __forceinline__ void copy_bytes(uint32_t to, const void* from) {
  static_assert(kBytes == 8 || kBytes == 16);
  if constexpr (kBytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Waits until at most `kPending` of this thread's copy groups are pending.
template <int kPending>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// ---------------------------------------------------------------- matrices
/// Loads four 8x8 matrices of 16-bit elements. Lane 8i + r provides the address of row r of matrix i. Lane l receives
/// the 32-bit word l % 4 of row l / 4 of each. (A matrix of 8 rows of four floats is loaded the same way, one float per
/// lane.)
__device__ __forceinline__ void load_matrices(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ void load_matrices_transposed(uint32_t (&r)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}
__device__ __forceinline__ float load_shared(uint32_t address) {
  float v;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(address) : "memory");
  return v;
}
__device__ __forceinline__ float2 load_shared2(uint32_t address) {
  float2 v;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(address) : "memory");
  return v;
}

__device__ __forceinline__ uint32_t load_word(uint32_t address) {
  uint32_t word;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(word) : "r"(address) : "memory");
  return word;
}
__device__ __forceinline__ void store_word(uint32_t address, uint32_t word) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(word) : "memory");
}
__device__ __forceinline__ void store_number(uint32_t address, float number) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(number) : "memory");
}
/// Waits for this many threads, in whole warps, at named barrier `id`; 0 is __syncthreads().
__device__ __forceinline__ void named_sync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
/// Adds two adjacent floats, 8-byte aligned, to global memory.
__device__ __forceinline__ void add_two(float* to, float a, float b) {
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(a), "f"(b) : "memory");
#else
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(to), "f"(a) : "memory");
  asm volatile("red.global.add.f32 [%0 + 4], %1;" ::"l"(to), "f"(b) : "memory");
#endif
}
/// Adds four adjacent floats, 16-byte aligned, to global memory.
__device__ __forceinline__ void add_four(float* to, float a, float b, float c, float d) {
#if __CUDA_ARCH__ >= 900
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");
#else
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(to), "f"(a) : "memory");
  asm volatile("red.global.add.f32 [%0 + 4], %1;" ::"l"(to), "f"(b) : "memory");
  asm volatile("red.global.add.f32 [%0 + 8], %1;" ::"l"(to), "f"(c) : "memory");
  asm volatile("red.global.add.f32 [%0 + 12], %1;" ::"l"(to), "f"(d) : "memory");
#endif
}
/// Loads two or four adjacent words from shared memory.
template <int kCount>
__device__ __forceinline__ void load_numbers(uint32_t (&r)[kCount], uint32_t address) {
  static_assert(kCount == 2 || kCount == 4);
  if constexpr (kCount == 2)
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(r[0]), "=r"(r[1]) : "r"(address) : "memory");
  else
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

/// acc (16x8) += a (16 x 32 bytes) b (32 bytes x 8), fp32 accumulation. With g = lane / 4, t = lane % 4:
///  acc  {row g, columns 2t, 2t + 1; row g + 8, the same columns}
///  a    16-bit T: {row g, k 2t; row g + 8, k 2t; row g, k 2t + 8; row g + 8, k 2t + 8}, two adjacent k per register
///  b    {k 2t, 2t + 1, column g}, {k 2t + 8, 2t + 9, column g}
///  TF32 (16 x 8 by 8 x 8): a {row g, k t; row g + 8, k t; row g, k t + 4; row g + 8, k t + 4},
///       b {k t, column g}, {k t + 4, column g}
template <class T>
__device__ __forceinline__ void multiply(float (&acc)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);
template <>
__device__ __forceinline__ void multiply<__nv_bfloat16>(float (&acc)[4], const uint32_t (&a)[4], uint32_t b0,
                                                        uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
template <>
__device__ __forceinline__ void multiply<__half>(float (&acc)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void multiply_tf32(float (&acc)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
/// x rounded to nearest as a TF32 number (11 significant bits).
__device__ __forceinline__ uint32_t tf32(float x) {
  uint32_t r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
  return r;
}

}  // namespace kymo::flash
