// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: one block per token, whose threads share out the vectors of query, key and value. In place
// if the parts lie in the joint tensor, because each thread reads what it writes.
#include "layer_vectors.cuh"

namespace kymo::layers {
namespace {

constexpr int kMaxThreads = 256;

template <class T>
__global__ void __launch_bounds__(kMaxThreads) rotary(const Rotary call) {
  constexpr int kV = kVector<T>;
  const unsigned vectors = static_cast<unsigned>(call.d) / kV, of_part = static_cast<unsigned>(call.heads) * vectors;
  const int64_t token = blockIdx.x, batch = token / call.sequence, position = token % call.sequence;
  const unsigned count = of_part * (call.value.at ? 3u : 2u);
  T* const to = static_cast<T*>(call.joint) + token * 3 * call.heads * call.d;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    const unsigned part = i / of_part, in_part = i % of_part, head = in_part / vectors;
    const int column = static_cast<int>(in_part % vectors) * kV;
    const Rotary::Part& from = part == 0 ? call.query : part == 1 ? call.key : call.value;
    float x[kV];
    load(static_cast<const T*>(from.at) + batch * from.batch_stride + head * from.head_stride +
             position * from.row_stride + column,
         x);
    if (part < 2) {
      float angle[kV];  // cosine and sine of kV / 2 pairs
      load(call.rotation + position * call.d + column, angle);
#pragma unroll
      for (int pair = 0; pair < kV; pair += 2) {
        const float even = x[pair], odd = x[pair + 1], cosine = angle[pair];
        const float sine = call.inverse ? -angle[pair + 1] : angle[pair + 1];
        x[pair] = even * cosine - odd * sine;
        x[pair + 1] = even * sine + odd * cosine;
      }
    }
    store(to + static_cast<int64_t>(i) * kV, x);
  }
}

}  // namespace

std::string launch(const Rotary& call, Stream stream) {
  return with_type(call.element, [&](auto element) {
    using T = decltype(element);
    const int64_t vectors = call.heads * call.d / kVector<T> * (call.value.at ? 3 : 2);
    const flash::LaunchShape shape{call.batch * call.sequence, threads_for(vectors, kMaxThreads), 0, stream};
    return flash::failure("rotary", flash::queue(rotary<T>, shape, call));
  });
}

}  // namespace kymo::layers
