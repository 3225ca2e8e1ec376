// SPDX-License-Identifier: Apache-2.0
// AdamW of all tensors: their addresses are kernel parameters, up to kMaxTensors at a time, and each block updates one
// chunk of one tensor. Gradients of fp32 parameters may be narrow (bf16 or fp16), and the updated parameters may also
// be written in that narrow type. A second, small kernel increments the step counts afterwards, when no block reads
// them any more.
#include <algorithm>

#include "layer_vectors.cuh"

namespace kymo::layers {
namespace {

constexpr int kMaxTensors = 448;
constexpr int kThreads = 256, kRounds = 8;

struct Table {
  AdamWTensor tensors[kMaxTensors];
  int first_chunk[kMaxTensors + 1];  // of each tensor, and their total
  int count;
};

struct Settings {
  double beta1, beta2, learning_rate, weight_decay;
  float epsilon, max_norm;
  const float* gradient_norm;
  bool zero_gradients;
};
// Kernels have 32,764 bytes of parameters since CUDA 12.1.
static_assert(sizeof(Table) + sizeof(Settings) < 32000);

/// Constants of a tensor. Differences from 1 are computed in fp64, because in fp32, 1 - 0.999 has an error of 1e-5.
struct Factors {
  float beta1, beta1_rest, beta2, beta2_rest, epsilon, decay, step_size, inverse_root, clip;
};

__device__ Factors factors_of(const Settings& settings, float steps_before) {
  const double step = static_cast<double>(steps_before) + 1;
  Factors factors;
  factors.beta1 = static_cast<float>(settings.beta1);
  factors.beta1_rest = static_cast<float>(1 - settings.beta1);
  factors.beta2 = static_cast<float>(settings.beta2);
  factors.beta2_rest = static_cast<float>(1 - settings.beta2);
  factors.epsilon = settings.epsilon;
  factors.decay = static_cast<float>(1 - settings.learning_rate * settings.weight_decay);
  factors.step_size = static_cast<float>(settings.learning_rate / (1 - pow(settings.beta1, step)));
  factors.inverse_root = static_cast<float>(rsqrt(1 - pow(settings.beta2, step)));
  factors.clip = settings.gradient_norm ? fminf(1.f, settings.max_norm / (*settings.gradient_norm + 1e-6f)) : 1.f;
  return factors;
}

/// With explicit fused multiply-adds: otherwise the compiler chooses which product to fuse, and the result could depend
/// on the types of gradient and copy.
__device__ __forceinline__ void update(float& parameter, float gradient, float& mean, float& square_mean,
                                       const Factors& by) {
  gradient *= by.clip;
  mean = fmaf(by.beta1, mean, by.beta1_rest * gradient);
  square_mean = fmaf(by.beta2, square_mean, by.beta2_rest * gradient * gradient);
  const float denominator = fmaf(sqrtf(square_mean), by.inverse_root, by.epsilon);
  parameter = fmaf(parameter, by.decay, -(by.step_size * mean / denominator));
}

template <class P>
constexpr int kElementsOfChunk = kThreads * kRounds * kVector<P>;

/// Updates one chunk of a parameter of type P, with a gradient of type G and moments of type S, and writes its copy of
/// type N, if it has one.
template <class P, class G, class S, class N>
__device__ __forceinline__ void update_chunk(const AdamWTensor& tensor, int64_t start, const Factors& by,
                                             bool zero_gradients) {
  constexpr int kV = kVector<P>;
  constexpr bool kHasCopies = !std::is_same_v<P, N>;
  P* const parameters = static_cast<P*>(tensor.parameter);
  G* const gradients = static_cast<G*>(tensor.gradient);
  S* const means = static_cast<S*>(tensor.mean);
  S* const squares = static_cast<S*>(tensor.square_mean);
  N* const copies = static_cast<N*>(tensor.copy);
  const auto address = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  const bool aligned =
      (address(parameters) | address(gradients) | address(means) | address(squares) | address(copies)) % kVectorBytes ==
      0;  // a null pointer is aligned
#pragma unroll 1
  for (int round = 0; round < kRounds; ++round) {
    const int64_t at = start + (static_cast<int64_t>(round) * kThreads + threadIdx.x) * kV;
    if (at >= tensor.elements) return;
    if (aligned && at + kV <= tensor.elements) {
      float parameter[kV], gradient[kV], mean[kV], square[kV];
      load(parameters + at, parameter);
      load(gradients + at, gradient);
      load(means + at, mean);
      load(squares + at, square);
#pragma unroll
      for (int i = 0; i < kV; ++i) update(parameter[i], gradient[i], mean[i], square[i], by);
      store(parameters + at, parameter);
      store(means + at, mean);
      store(squares + at, square);
      if constexpr (kHasCopies) {
        if (copies) store(copies + at, parameter);
      }
      if (zero_gradients) {
        const float zero[kV] = {};
        store(gradients + at, zero);
      }
      continue;
    }
    const int64_t end = at + kV < tensor.elements ? at + kV : tensor.elements;
    for (int64_t i = at; i < end; ++i) {
      float parameter = to_float(parameters[i]), mean = to_float(means[i]), square = to_float(squares[i]);
      update(parameter, to_float(gradients[i]), mean, square, by);
      parameters[i] = rounded<P>(parameter);
      means[i] = rounded<S>(mean);
      squares[i] = rounded<S>(square);
      if constexpr (kHasCopies) {
        if (copies) copies[i] = rounded<N>(parameter);
      }
      if (zero_gradients) gradients[i] = rounded<G>(0.f);
    }
  }
}

template <class P, class S, class N>
__global__ void __launch_bounds__(kThreads) adamw(const __grid_constant__ Table table, const Settings settings) {
  __shared__ Factors shared;
  const int chunk = static_cast<int>(blockIdx.x);
  int low = 0, high = table.count - 1;  // the last tensor whose first chunk is not after this one
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (table.first_chunk[middle] <= chunk)
      low = middle;
    else
      high = middle - 1;
  }
  const AdamWTensor tensor = table.tensors[low];
  if (threadIdx.x == 0) shared = factors_of(settings, *tensor.step);
  __syncthreads();
  const Factors by = shared;
  const int64_t start = static_cast<int64_t>(chunk - table.first_chunk[low]) * kElementsOfChunk<P>;
  if constexpr (!std::is_same_v<P, N>) {
    if (tensor.narrow_gradient) {
      update_chunk<P, N, S, N>(tensor, start, by, settings.zero_gradients);
      return;
    }
  }
  update_chunk<P, P, S, N>(tensor, start, by, settings.zero_gradients);
}

__global__ void __launch_bounds__(kMaxTensors) adamw_count(const __grid_constant__ Table table) {
  if (static_cast<int>(threadIdx.x) < table.count) *table.tensors[threadIdx.x].step += 1.f;
}

template <class P, class S, class N>
std::string queue_table(const Table& table, const Settings& settings, Stream stream) {
  const flash::LaunchShape shape{table.first_chunk[table.count], kThreads, 0, stream};
  if (shape.blocks > 0) {
    const std::string error = flash::failure("adamw", flash::queue(adamw<P, S, N>, shape, table, settings));
    if (!error.empty()) return error;
  }
  return flash::failure("adamw_count", flash::queue(adamw_count, {1, kMaxTensors, 0, stream}, table));
}

template <class P, class S, class N>
std::string queue_all(const AdamW& call, const Settings& settings, Stream stream) {
  Table table;
  for (int64_t first = 0; first < call.count; first += table.count) {
    table.count = static_cast<int>(std::min<int64_t>(kMaxTensors, call.count - first));
    table.first_chunk[0] = 0;
    for (int i = 0; i < table.count; ++i) {
      table.tensors[i] = call.tensors[first + i];
      const int64_t chunks = divided_up(table.tensors[i].elements, kElementsOfChunk<P>);
      table.first_chunk[i + 1] = table.first_chunk[i] + static_cast<int>(chunks);
    }
    const std::string error = queue_table<P, S, N>(table, settings, stream);
    if (!error.empty()) return error;
  }
  return "";
}

}  // namespace

std::string launch(const AdamW& call, Stream stream) {
  const Settings settings{.beta1 = call.beta1,
                          .beta2 = call.beta2,
                          .learning_rate = call.learning_rate,
                          .weight_decay = call.weight_decay,
                          .epsilon = static_cast<float>(call.epsilon),
                          .max_norm = static_cast<float>(call.max_norm),
                          .gradient_norm = call.gradient_norm,
                          .zero_gradients = call.zero_gradients};
  if (call.parameter == Element::kFloat32)
    return with_type(call.narrow,
                     [&](auto narrow) { return queue_all<float, float, decltype(narrow)>(call, settings, stream); });
  return with_type(call.parameter, [&](auto element) {
    using P = decltype(element);
    return call.state == Element::kFloat32 ? queue_all<P, float, P>(call, settings, stream)
                                           : queue_all<P, P, P>(call, settings, stream);
  });
}

}  // namespace kymo::layers
