// SPDX-License-Identifier: Apache-2.0
// What hopper_softmax.cuh uses of CUDA, for 32 threads of the processor that emulate the lanes of a warp. Takes the
// place of hopper.cuh (CMakeLists.txt).
#pragma once
#include <algorithm>
#include <array>
#include <barrier>
#include <bit>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

#define __device__
#define __forceinline__ inline

namespace kymo::flash {

using std::max;
constexpr int kLanes = 32;
constexpr unsigned kWholeWarp = ~0u;

struct EmulatedWarp {
  std::barrier<> barrier{kLanes};
  std::array<uint32_t, kLanes> values{};
};
inline thread_local EmulatedWarp* warp = nullptr;
inline thread_local int lane = 0;

/// Calls body(lane) in all lanes of a warp.
template <class Body>
void run_warp(const Body& body) {
  EmulatedWarp shared;
  std::vector<std::thread> threads;
  for (int i = 0; i < kLanes; ++i)
    threads.emplace_back([&, i] {
      warp = &shared, lane = i;
      body(i);
    });
  for (std::thread& thread : threads) thread.join();
}

/// The values of all lanes.
inline std::array<uint32_t, kLanes> exchange(uint32_t value) {
  warp->values[static_cast<size_t>(lane)] = value;
  warp->barrier.arrive_and_wait();
  const std::array<uint32_t, kLanes> all = warp->values;
  warp->barrier.arrive_and_wait();
  return all;
}
template <class Value>
Value shuffle_xor(unsigned, Value value, int mask) {
  return std::bit_cast<Value>(exchange(std::bit_cast<uint32_t>(value))[static_cast<size_t>(lane ^ mask)]);
}
inline bool any(unsigned, bool condition) {
  const auto all = exchange(condition);
  return std::any_of(all.begin(), all.end(), [](uint32_t x) { return x != 0; });
}
inline int greatest_of(int a, int b, int c) { return std::max({a, b, c}); }
inline int as_int(float x) { return std::bit_cast<int>(x); }
inline float as_float(int x) { return std::bit_cast<float>(x); }
inline uint32_t as_uint(float x) { return std::bit_cast<uint32_t>(x); }
inline float uint_as_float(uint32_t x) { return std::bit_cast<float>(x); }
struct int2 {
  int x, y;
};

#define __shfl_xor_sync shuffle_xor
#define __any_sync any
#define __vimax3_s32 greatest_of
#define __float_as_int as_int
#define __int_as_float as_float
#define __float_as_uint as_uint
#define __uint_as_float uint_as_float
#define __log2f std::log2
#define fminf std::fmin
#define fmaxf std::fmax
#define fmaf std::fma

inline float exp2_fast(float x) { return std::exp2(x); }
inline void or_masked(uint32_t& bits, uint32_t x, uint32_t mask) { bits |= x & mask; }
template <class Register>
void pin(const Register&) {}
/// Rounds to the nearest bf16, ties to even.
inline float rounded(float x) {
  const uint32_t bits = as_uint(x);
  return uint_as_float((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
}
template <class T>
uint32_t pack(float low, float high) {
  return as_uint(rounded(low)) >> 16 | as_uint(rounded(high));
}

}  // namespace kymo::flash
