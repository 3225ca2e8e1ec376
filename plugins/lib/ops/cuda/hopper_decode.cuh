// SPDX-License-Identifier: Apache-2.0
// The Hopper forward for decoding: at most 16 query rows per head and no mask. Such a call is limited by memory
// bandwidth, so the kernel keeps many bytes in flight and waits for nothing else until the end:
//
//   warp      owns key tiles at equal distances, and a ring of tiles in shared memory, which its first lane fills
//             with TMA:  wait for K -> S = Q K^T -> load -> online softmax -> wait for V -> O^T += V^T P^T -> load ->
//             ...
//   block     at the end, the partials of the warps are reduced through shared memory
//   cluster   the splits of one head (forward_decode.hpp): each block sends every other one an equal part of its
//             partials, through distributed shared memory, and reduces the part that it received
//
// MMAs are mma.sync of 16 x 8 x 16 (ptx.cuh): unlike wgmma with its 64 rows, they waste little on rows that do not
// exist. S has query rows as rows; O is transposed, so that its MMAs have 8 query rows as columns and P^T is their
// right operand without any movement between lanes. With 8 query rows, the free lower half of the left operand of S
// holds every second step of Q: the S of these steps is the lower half of a second accumulator.
#pragma once
#include "forward_combine.cuh"
#include "hopper_decode_warp.cuh"
#include "launch.cuh"
#include "tensor_map.hpp"

namespace kymo::flash {

/// Four outputs of a row, relative to exp2(top * scale_log2), with top, the row's maximum, and its sum of exponentials.
struct DecodePartial {
  float4 o;
  float2 sums;
};
/// Reduces the `count` partials that read(i) returns, like forward_combine.cuh.
template <int kMost, class Read>
__device__ __forceinline__ DecodePartial reduce(int count, float c, const Read& read) {
  DecodePartial parts[kMost], all{make_float4(0.f, 0.f, 0.f, 0.f), make_float2(-INFINITY, 0.f)};
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    parts[i] = {make_float4(0.f, 0.f, 0.f, 0.f), make_float2(-INFINITY, 0.f)};
    if (i < count) parts[i] = read(i);
    all.sums.x = fmaxf(all.sums.x, parts[i].sums.x);
  }
#pragma unroll
  for (int i = 0; i < kMost; ++i) {
    const float weight = parts[i].sums.x == -INFINITY ? 0.f : exp2_fast((parts[i].sums.x - all.sums.x) * c);
    all.sums.y = fmaf(weight, parts[i].sums.y, all.sums.y);
    all.o.x = fmaf(weight, parts[i].o.x, all.o.x), all.o.y = fmaf(weight, parts[i].o.y, all.o.y);
    all.o.z = fmaf(weight, parts[i].o.z, all.o.z), all.o.w = fmaf(weight, parts[i].o.w, all.o.w);
  }
  return all;
}

/// Reduces the partials of the warps for the four columns from `column` on.
template <class Shared>
__device__ __forceinline__ DecodePartial reduce_warps(const Shared& shared, float c, int row, int column) {
  return reduce<Shared::kWarps>(Shared::kWarps, c, [&](int warp) {
    return DecodePartial{*reinterpret_cast<const float4*>(&shared.rings[warp].o[row][column]), shared.sums[warp][row]};
  });
}

/// The results of a head with one split, whose block is in no cluster and must not use what only clusters have.
template <class T, int kD, class Shared>
__device__ __forceinline__ void store_unsplit(const Shared& shared, const DecodeCall& call, int head) {
  constexpr int kVectors = kD / 4;
  for (int at = threadIdx.x; at < call.seq_q * kVectors; at += 32 * Shared::kWarps) {
    const int row = at / kVectors, column = at % kVectors * 4;
    const DecodePartial all = reduce_warps(shared, call.scale_log2, row, column);
    store_reduced<T>(call, head, row, column, all.o, all.sums);
  }
}

/// Each block of the cluster receives `share` of the results of every split.
template <int kD, class Shared>
__device__ __forceinline__ void send_partials(Shared& shared, const DecodeCall& call, int split) {
  constexpr int kVectors = kD / 4;
  const int count = call.seq_q * kVectors, share = count >> call.split_bits;
  for (int at = threadIdx.x; at < count; at += 32 * Shared::kWarps) {
    const int row = at / kVectors, column = at % kVectors * 4, block = at / share;
    const DecodePartial part = reduce_warps(shared, call.scale_log2, row, column);
    const int slot = split * share + at - block * share;
    const uint32_t barrier = shared_of_block(shared_address(&shared.received), block);
    send(shared_of_block(shared_address(shared.received_o + slot), block), barrier, part.o);
    send(shared_of_block(shared_address(shared.received_sums + slot), block), barrier, part.sums);
  }
}
/// Bytes that each block receives from all splits.
template <int kD>
__device__ __forceinline__ uint32_t received_bytes(const DecodeCall& call) {
  return call.seq_q * (kD / 4) * (sizeof(float4) + sizeof(float2));
}
template <class T, int kD, class Shared>
__device__ __forceinline__ void store_received(const Shared& shared, const DecodeCall& call, int head, int split) {
  constexpr int kVectors = kD / 4;
  const int share = call.seq_q * kVectors >> call.split_bits;
  for (int slot = threadIdx.x; slot < share; slot += 32 * Shared::kWarps) {
    const int at = split * share + slot;
    const DecodePartial all = reduce<(1 << kDecodeSplitBits)>(1 << call.split_bits, call.scale_log2, [&](int i) {
      return DecodePartial{shared.received_o[i * share + slot], shared.received_sums[i * share + slot]};
    });
    store_reduced<T>(call, head, at / kVectors, at % kVectors * 4, all.o, all.sums);
  }
}

template <int kD, class Shared>
__device__ __forceinline__ void make_barriers(Shared& shared, const DecodeCall& call) {
  for (auto& ring : shared.full)
    for (uint64_t& barrier : ring) barrier_init(shared_address(&barrier), 1);
  barrier_init(shared_address(&shared.received), 1);
  barriers_ready();
  barrier_expect(shared_address(&shared.received), received_bytes<kD>(call));
}

template <class T, int kD, int kRows, int kWarps>
__global__ void __launch_bounds__(32 * kWarps, decode_blocks_of_sm(kD, kRows, kWarps))
    hopper_decode(const __grid_constant__ DecodeCall call) {
  using Shared = DecodeShared<kD, kRows, kWarps>;
  extern __shared__ uint8_t memory[];
  auto& shared = *reinterpret_cast<Shared*>(memory + (-shared_address(memory) & 1023));
  // The shuffle tells the compiler that the value is uniform.
  const int warp = __shfl_sync(kWholeWarp, threadIdx.x / 32, 0), split = blockIdx.x & ((1 << call.split_bits) - 1),
            head = blockIdx.x >> call.split_bits;
  if (threadIdx.x == 0) {
    prefetch_map(&call.k), prefetch_map(&call.v);
    make_barriers<kD>(shared, call);
  }
  __syncthreads();
  if (call.split_bits > 0) cluster_arrive();
  DecodeWarp<T, kD, kRows, kWarps> state(call, shared, warp, head);
  end_block(state.head + state.head_kv, 0);  // ptxas would move the divisions below the wait
  wait_for_prerequisites();
  state.process(split * kWarps + warp, (call.seq_k + Shared::kKeys - 1) / Shared::kKeys);
  // Earlier, back-to-back launches of fewer blocks than fit take up to 1.37 times as long (decode_overlaps()).
  if (call.overlap) launch_dependents();
  state.store_partial(shared, warp);
  __syncthreads();
  if (call.split_bits == 0) return store_unsplit<T, kD>(shared, call, head);
  cluster_wait();  // the other blocks have started, and their mbarriers are ready
  send_partials<kD>(shared, call, split);
  barrier_wait_cluster(shared_address(&shared.received), 0);
  store_received<T, kD>(shared, call, head, split);
}

// ---------------------------------------------------------------- launch
template <class T, int kD, int kRows, int kWarps>
std::string launch_hopper_decode(const Forward& call, const DecodePlan& plan, Stream stream) {
  const Problem& p = call.problem;
  DecodeCall of{};
  const MapSizes sizes{p.batch, p.heads_kv, p.seq_k, p.d};
  std::string message = make_map(of.k, call.k, sizes, p.element, decode_keys(kD));
  if (message.empty()) message = make_map(of.v, call.v, sizes, p.element, decode_keys(kD));
  if (!message.empty()) return message;
  of.q = call.q, of.o = call.o, of.lse = call.lse, of.scale_log2 = p.scale * kLog2E;
  of.heads_q = static_cast<int>(p.heads_q), of.group = static_cast<int>(p.heads_q / p.heads_kv);
  of.seq_q = static_cast<int>(p.seq_q), of.seq_k = static_cast<int>(p.seq_k), of.d = static_cast<int>(p.d);
  of.split_bits = plan.split_bits, of.overlap = plan.overlap;
  constexpr int kShared = sizeof(DecodeShared<kD, kRows, kWarps>) + 1024;                  // to align the tiles
  static_assert(decode_blocks_of_sm(kD, kRows, kWarps) * (kShared + 1024) <= 228 * 1024);  // a block's share of an SM
  LaunchShape shape{p.batch * p.heads_q << plan.split_bits, 32 * kWarps, kShared, stream, true};
  shape.cluster = 1 << plan.split_bits;
  return failure("hopper_decode", queue(hopper_decode<T, kD, kRows, kWarps>, shape, of));
}

/// The instantiation for the plan's number of warps, and the call's element type and number of rows.
template <int kD>
std::string launch_hopper_decode(const Forward& call, const DecodePlan& plan, Stream stream) {
  const auto launch = [&]<class T, int kRows>() {
    return plan.warps == kWideDecode ? launch_hopper_decode<T, kD, kRows, kWideDecode>(call, plan, stream)
                                     : launch_hopper_decode<T, kD, kRows, kNarrowDecode>(call, plan, stream);
  };
  const auto launch_rows = [&]<class T>() {
    return call.problem.seq_q <= 8 ? launch.template operator()<T, 8>() : launch.template operator()<T, 16>();
  };
  return call.problem.element == Element::kFloat16 ? launch_rows.template operator()<__half>()
                                                   : launch_rows.template operator()<__nv_bfloat16>();
}

template <int kD>
std::string launch_hopper_decode(const Forward& call, Stream stream) {
  int multiprocessors = 0;
  if (const cudaError_t error = count_multiprocessors(multiprocessors); error != cudaSuccess)
    return failure("hopper_decode", error);
  return launch_hopper_decode<kD>(call, decode_plan(call.problem, multiprocessors), stream);
}

}  // namespace kymo::flash
