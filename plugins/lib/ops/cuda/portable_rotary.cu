// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: one block per token. The threads of a row share out the vectors of a head, and each reads
// the angles of its vector once for all heads of query and key. In place if the parts lie in the joint tensor, because
// each thread reads what it writes.
#include <algorithm>

#include "layer_vectors.cuh"

namespace kymo::layers {
namespace {

constexpr int kMaxThreads = 256;
constexpr int kLoads = 4;  // vectors that a thread loads before it waits for any of them

template <class T>
__global__ void __launch_bounds__(kMaxThreads) rotary(const Rotary call) {
  constexpr int kV = kVector<T>;
  const int64_t token = blockIdx.x, batch = token / call.sequence, position = token % call.sequence;
  const int heads = static_cast<int>(call.heads), d = static_cast<int>(call.d);
  const int all = (call.value.at ? 3 : 2) * heads;
  const auto source = [&](int head) {
    const int part = head < heads ? 0 : head < 2 * heads ? 1 : 2;
    const Rotary::Part& from = part == 0 ? call.query : part == 1 ? call.key : call.value;
    return static_cast<const T*>(from.at) + batch * from.batch_stride + (head - part * heads) * from.head_stride +
           position * from.row_stride;
  };
  T* const to = static_cast<T*>(call.joint) + token * 3 * heads * d;
  for (int column = static_cast<int>(threadIdx.x) * kV; column < d; column += static_cast<int>(blockDim.x) * kV) {
    float angle[kV];  // cosine and sine of kV / 2 pairs
    load(call.rotation + position * d + column, angle);
#pragma unroll
    for (int pair = 0; pair < kV; pair += 2) angle[pair + 1] = call.inverse ? -angle[pair + 1] : angle[pair + 1];
    for (int first = static_cast<int>(threadIdx.y); first < all; first += kLoads * static_cast<int>(blockDim.y)) {
      Packed<T, kV> packed[kLoads];
      const auto head = [&](int i) { return first + i * static_cast<int>(blockDim.y); };
#pragma unroll
      for (int i = 0; i < kLoads; ++i)
        if (head(i) < all) packed[i].read(source(head(i)) + column);
#pragma unroll
      for (int i = 0; i < kLoads; ++i) {
        if (head(i) >= all) continue;
        if (head(i) < 2 * heads) {
          float x[kV];
          packed[i].convert(x);
#pragma unroll
          for (int pair = 0; pair < kV; pair += 2) {
            const float even = x[pair], odd = x[pair + 1], cosine = angle[pair], sine = angle[pair + 1];
            x[pair] = even * cosine - odd * sine;
            x[pair + 1] = even * sine + odd * cosine;
          }
          packed[i].round(x);
        }
        packed[i].write(to + static_cast<int64_t>(head(i)) * d + column);
      }
    }
  }
}

}  // namespace

std::string launch(const Rotary& call, Stream stream) {
  return with_type(call.element, [&](auto element) {
    using T = decltype(element);
    const int64_t heads = call.heads * (call.value.at ? 3 : 2);
    flash::LaunchShape shape{call.batch * call.sequence, 0, 0, stream};
    shape.threads = static_cast<int>(std::min<int64_t>(call.d / kVector<T>, kMaxThreads));
    shape.block_rows = static_cast<int>(std::clamp<int64_t>(kMaxThreads / shape.threads, 1, divided_up(heads, kLoads)));
    return flash::failure("rotary", flash::queue(rotary<T>, shape, call));
  });
}

}  // namespace kymo::layers
