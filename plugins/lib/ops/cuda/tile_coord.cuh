// SPDX-License-Identifier: Apache-2.0
// The head and the rows that a block processes.
#pragma once
#include <cuda_runtime.h>

#include <type_traits>

#include "forward_splits.hpp"
#include "kernels.hpp"

namespace kymo::flash {

struct TileCoord {
  int64_t batch, head, head_kv;
  int first_row;
};

template <class T, class Pointer>
__device__ __forceinline__ auto head_of(const Tensor<Pointer>& tensor, int64_t batch, int64_t head) {
  using Element = std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>, const T, T>;
  return static_cast<Element*>(tensor.at) + batch * tensor.batch_stride + head * tensor.head_stride;
}

/// Blocks of one head are consecutive, so that its keys and values stay in L2. With a causal mask, the longest come
/// first.
template <int kRows>
__device__ __forceinline__ TileCoord query_coord(const Problem& p, unsigned block) {
  const unsigned blocks = (static_cast<unsigned>(p.seq_q) + kRows - 1) / kRows,
                 heads = static_cast<unsigned>(p.heads_q);
  const unsigned in_head = block % blocks, head = block / blocks % heads;
  const unsigned row_block = p.causal ? blocks - 1 - in_head : in_head;
  return {block / blocks / heads, head, head / static_cast<unsigned>(p.heads_q / p.heads_kv),
          static_cast<int>(row_block * kRows)};
}
/// Position of a split (split-KV).
template <int kRows>
__device__ __forceinline__ TileCoord split_coord(const Problem& p, const ForwardSplit& split) {
  const int heads = static_cast<int>(p.heads_q), batch = split.head / heads, head = split.head - batch * heads;
  return {batch, head, head / static_cast<int>(p.heads_q / p.heads_kv), split.row_tile * kRows};
}
/// The same for the keys of a key/value head, where the first rows are the longest.
template <int kRows>
__device__ __forceinline__ TileCoord key_coord(const Problem& p, unsigned block) {
  const unsigned blocks = (static_cast<unsigned>(p.seq_k) + kRows - 1) / kRows,
                 heads = static_cast<unsigned>(p.heads_kv);
  const unsigned head = block / blocks % heads;
  return {block / blocks / heads, 0, head, static_cast<int>(block % blocks * kRows)};
}

}  // namespace kymo::flash
