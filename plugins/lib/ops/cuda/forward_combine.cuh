// SPDX-License-Identifier: Apache-2.0
// Reduces the partials of a split-KV forward (forward_splits.hpp) like the online softmax: split i of a row has the
// maximum score m_i, the sum of exponentials l_i and the outputs O_i, each relative to exp(score - m_i). With m the
// maximum of all m_i:
//
//   o = sum of exp(m_i - m) O_i / l,   l = sum of exp(m_i - m) l_i,   lse = m + log l     (scores scaled)
//
// A thread owns four neighboring columns of a row. It loads four partials at a time to hide the latency of global
// memory.
#pragma once
#include "forward_splits.hpp"
#include "launch.cuh"
#include "ptx.cuh"

namespace kymo::flash {

struct CombineCall {
  ForwardSplits splits;
  const float* outputs;  // of the splits
  const float2* sums;    // their m and l
  Output o;
  float* lse;
  int heads_q, seq_q, d;
  float scale_log2;  // scale of the maxima times log2(e): 16-bit scores are not scaled, those of floats are
};

constexpr int kCombineThreads = 128;

/// Stores four reduced outputs of a row of a head, of all batch elements, and beside the first ones the row's
/// log-sum-exp. sums: m and l of the row. Columns past d are not stored.
template <class T, class Call>
__device__ __forceinline__ void store_reduced(const Call& call, int head, int row, int column, const float4& o,
                                              const float2& sums) {
  const float inverse = sums.y == 0.f ? 0.f : 1.f / sums.y;
  const int batch = head / call.heads_q;
  if (column == 0)
    call.lse[static_cast<int64_t>(head) * call.seq_q + row] =
        log_sum_exp < sizeof(T) == 4 > (sums.x, sums.y, call.scale_log2);
  if (column >= call.d) return;
  T* to = static_cast<T*>(call.o.at) + batch * call.o.batch_stride +
          (head - batch * call.heads_q) * call.o.head_stride + row * call.o.row_stride + column;
  if constexpr (sizeof(T) == 4)
    *reinterpret_cast<float4*>(to) = make_float4(o.x * inverse, o.y * inverse, o.z * inverse, o.w * inverse);
  else
    *reinterpret_cast<uint2*>(to) =
        make_uint2(pack<T>(o.x * inverse, o.y * inverse), pack<T>(o.z * inverse, o.w * inverse));
}

template <class T, int kD>
__global__ void __launch_bounds__(kCombineThreads) forward_combine(const __grid_constant__ CombineCall call) {
  constexpr int kThreadsOfRow = kD / 4, kAtOnce = 4;
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kCombineThreads + threadIdx.x,
                row_of_all = thread / kThreadsOfRow;
  const int column = static_cast<int>(thread % kThreadsOfRow) * 4, head = static_cast<int>(row_of_all / call.seq_q);
  const int row = static_cast<int>(row_of_all - static_cast<int64_t>(head) * call.seq_q),
            row_tile = row >> call.splits.row_shift;
  if (head >= call.splits.heads) return;
  wait_for_prerequisites();
  float top = -INFINITY, sum = 0.f, o[4] = {};
  int before = 0;  // splits of the previous chunks
#pragma unroll 1
  for (int c = 0; c < call.splits.chunks && call.splits.first_row_tile(c) <= row_tile; c += kAtOnce) {
    float2 sums[kAtOnce];
    float4 values[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      sums[i] = make_float2(-INFINITY, 0.f);
      if (c + i >= call.splits.chunks || call.splits.first_row_tile(c + i) > row_tile) continue;
      const int64_t at =
          static_cast<int64_t>(before + call.splits.number_in_chunk(c + i, head, row_tile)) * call.splits.rows() +
          (row - row_tile * call.splits.rows());
      before += call.splits.of_chunk(c + i);
      sums[i] = call.sums[at];
      values[i] = *reinterpret_cast<const float4*>(call.outputs + at * kD + column);
    }
    float highest = top;
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) highest = fmaxf(highest, sums[i].x);
    if (highest == -INFINITY) continue;
    const float correction = exp2_fast((top - highest) * call.scale_log2);
    sum *= correction;
#pragma unroll
    for (float& number : o) number *= correction;
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      if (sums[i].y == 0.f) continue;  // no visible key, nothing stored
      const float weight = exp2_fast((sums[i].x - highest) * call.scale_log2);
      sum = fmaf(weight, sums[i].y, sum);
      o[0] = fmaf(weight, values[i].x, o[0]), o[1] = fmaf(weight, values[i].y, o[1]);
      o[2] = fmaf(weight, values[i].z, o[2]), o[3] = fmaf(weight, values[i].w, o[3]);
    }
    top = highest;
  }
  store_reduced<T>(call, head, row, column, make_float4(o[0], o[1], o[2], o[3]), make_float2(top, sum));
}

template <class T, int kD>
std::string launch_combine(const Forward& call, const ForwardSplits& splits, Stream stream) {
  const Problem& p = call.problem;
  const auto* const outputs = static_cast<const float*>(call.workspace);
  const auto* const sums = reinterpret_cast<const float2*>(outputs + forward_space(splits, kD).outputs);
  const CombineCall of{splits,
                       outputs,
                       sums,
                       call.o,
                       call.lse,
                       static_cast<int>(p.heads_q),
                       static_cast<int>(p.seq_q),
                       static_cast<int>(p.d),
                       sizeof(T) == 4 ? kLog2E : p.scale * kLog2E};
  const int64_t threads = p.batch * p.heads_q * p.seq_q * (kD / 4);
  const LaunchShape shape{(threads + kCombineThreads - 1) / kCombineThreads, kCombineThreads, 0, stream, true};
  return failure("forward_combine", queue(forward_combine<T, kD>, shape, of));
}

}  // namespace kymo::flash
