// SPDX-License-Identifier: Apache-2.0
// A ring of rows in shared memory, which keeps the memory busy while earlier rows are processed. A block is persistent:
// each group of threads with the same threadIdx.y processes the rows that follow its first one at a distance of
// `row_step()`, from the last row of all to the first: the end of a tensor that was just written or read is more likely
// still in L2 than its beginning. A thread reads only the vectors that it copied itself, so the copies need no barrier.
// Addresses in shared memory are kept as integers: otherwise, the compiler derives them again for each access.
#pragma once
#include <algorithm>
#include <tuple>
#include <utility>

#include "layer_vectors.cuh"

namespace kymo::layers {

constexpr int kMaxRowThreads = 512;     ///< of a row that is not wide
constexpr int kMaxBlockThreads = 1024;  ///< also of a wide row
constexpr int kMaxBlockRows = 15;       ///< each has a barrier, and barrier 0 is that of the block
constexpr int kMaxStages = 3;
constexpr int kStaticBytes = 1024;  ///< of shared memory that kernels use beside the ring, at most

extern __shared__ uint4 ring_memory[];

__device__ __forceinline__ int64_t first_row() { return static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y; }
__device__ __forceinline__ int64_t row_step() { return static_cast<int64_t>(gridDim.x) * blockDim.y; }

template <class Word>
__device__ __forceinline__ Word read_shared(uint32_t address) {
  Word to;
  if constexpr (sizeof(Word) == 8)
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(to.x), "=r"(to.y) : "r"(address) : "memory");
  else
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
                 : "r"(address)
                 : "memory");
  return to;
}

/// Copies in flight, in bytes per multiprocessor, that keep the memory busy. More of them take longer: the
/// multiprocessors drift apart, and the rows that are read at a time are scattered over more of the tensors. Measured
/// on an H100 (5120 bits) and, with the wider and faster memory, on an H200.
constexpr int kBytesInFlight = 48 * 1024, kBytesInFlightWide = 64 * 1024;
constexpr int kBusBits = 5120;  ///< of a memory for which kBytesInFlight is sufficient

/// Vectors of one row of each of the tensors with element types Ts: kChunks of each thread and tensor, of kV elements.
/// The vectors of a warp and stage are neighbors: [stage][warp][tensor][chunk][lane].
template <int kV, int kChunks, class... Ts>
class RowRing {
 public:
  static constexpr int kThreadBytes = kChunks * kV * (static_cast<int>(sizeof(Ts)) + ...);  ///< of a stage

  /// Starts the copies of the first rows.
  __device__ __forceinline__ RowRing(int stages, int64_t rows, int64_t width, const Ts*... from)
      : stages_(stages),
        width_(static_cast<int>(width)),
        left_(static_cast<int>((rows - first_row() + row_step() - 1) / row_step())),
        step_(-row_step() * width),
        start_((rows - 1 - first_row()) * width + column(0)),
        next_(start_),
        from_{from...} {
    const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x), lane = thread % kWarp;
    stage_bytes_ = static_cast<int>(blockDim.x * blockDim.y) * kThreadBytes;
    at_ = flash::opaque(flash::shared_address(ring_memory) + (thread - lane) * kThreadBytes + lane * kVectorBytes);
    end_ = at_ + stages * stage_bytes_;
    asm volatile("" : "+l"(step_));  // otherwise, it is computed again for each row
    left_ += stages;
    for (int i = 0; i < stages; ++i) refill();
  }
  /// Whether a row is left for this group.
  __device__ __forceinline__ bool any() const { return left_ > 0; }
  __device__ __forceinline__ int column(int chunk) const {
    return (static_cast<int>(threadIdx.x) + chunk * static_cast<int>(blockDim.x)) * kV;
  }
  __device__ __forceinline__ bool inside(int chunk) const { return column(chunk) < width_; }
  /// Index of the first element of a vector of the current row.
  __device__ __forceinline__ int64_t index(int chunk) const {
    return start_ + chunk * static_cast<int>(blockDim.x) * kV;
  }

  /// Waits for the copies of the current row.
  __device__ __forceinline__ void wait() const {
    static_assert(kMaxStages == 3);
    flash::wait_copies<2>();
    if (stages_ == 2) flash::wait_copies<1>();
    if (stages_ == 1) flash::wait_copies<0>();
  }
  /// Reads a vector of the current row.
  template <int kTensor>
  __device__ __forceinline__ void read(int chunk, float (&to)[kV]) const {
    Packed<Type<kTensor>, kV> packed;
    packed.words[0] = read_shared<typename decltype(packed)::Word>(address<kTensor>(chunk));
    packed.convert(to);
  }
  /// Replaces the current row, which is no longer needed, by the one `stages` steps later.
  __device__ __forceinline__ void refill() {
    if (left_ > stages_) copy(std::index_sequence_for<Ts...>{});
    flash::commit_copies();
    --left_;
    next_ += step_;
    at_ += stage_bytes_;
    if (at_ == end_) at_ -= stages_ * stage_bytes_;
  }
  /// Continues with the next row.
  __device__ __forceinline__ void advance() { start_ += step_; }

 private:
  template <int kTensor>
  using Type = std::tuple_element_t<kTensor, std::tuple<Ts...>>;
  template <int kTensor>
  static constexpr int kBytes = kV * static_cast<int>(sizeof(Type<kTensor>));  // of a vector
  /// Bytes of the tensors before kTensor, of a thread and a stage.
  template <int kTensor>
  __host__ __device__ static constexpr int bytes_before() {
    constexpr int sizes[] = {static_cast<int>(sizeof(Ts))...};
    int bytes = 0;
    for (int i = 0; i < kTensor; ++i) bytes += kChunks * kV * sizes[i];
    return bytes;
  }
  template <int kTensor>
  __device__ __forceinline__ uint32_t address(int chunk) const {
    constexpr int kBefore = bytes_before<kTensor>();
    const uint32_t first = at_ + kWarp * kBefore + chunk * kWarp * kBytes<kTensor>;
    if constexpr (kBytes<kTensor> == kVectorBytes) return first;
    return first - threadIdx.x % kWarp * (kVectorBytes - kBytes<kTensor>);
  }
  template <size_t... kTensor>
  __device__ __forceinline__ void copy(std::index_sequence<kTensor...>) const {
#pragma unroll
    for (int c = 0; c < kChunks; ++c)
      if (inside(c))
        (flash::copy_bytes<kBytes<kTensor>>(address<kTensor>(c), static_cast<const Type<kTensor>*>(from_[kTensor]) +
                                                                     next_ + c * static_cast<int>(blockDim.x) * kV),
         ...);
  }

  int stages_, width_, left_, stage_bytes_;
  uint32_t at_, end_;  // addresses of the current stage, and behind the last one
  int64_t step_, start_, next_;
  const void* from_[sizeof...(Ts)];
};

/// Sums of the warps of a row, in shared memory: of two values, in two alternate buffers, so that one barrier per row
/// is sufficient. kWide: a block has one row of more than kMaxRowThreads threads.
template <bool kWide>
class RowSums {
 public:
  static constexpr int kMaxWarps = 64;  ///< of a block, in groups of 4, 8 or 16, or 32 of a wide row
  static constexpr int kFloats = 4 * kMaxWarps;

  /// `memory` is aligned to its size.
  __device__ __forceinline__ explicit RowSums(float (&memory)[kFloats]) {
    const int warps = static_cast<int>(blockDim.x) / kWarp, thread = static_cast<int>(threadIdx.x);
    padded_ = kWide ? kWarp : warps <= 4 ? 4 : warps <= 8 ? 8 : 16;
    const int first = static_cast<int>(threadIdx.y) * padded_;
    if (warps + thread < padded_)  // visible after the first barrier
      for (int i = 0; i < 4; ++i) memory[i * kMaxWarps + first + warps + thread] = 0;
    from_ = flash::opaque(flash::shared_address(memory) + first * 4);
  }
  /// Sums over the threads of a row. Half of each warp adds each of the values.
  __device__ __forceinline__ float2 sum(float2 values) {
    const int thread = static_cast<int>(threadIdx.x);
    const bool second = thread % kWarp >= kWarp / 2;
    const float other = __shfl_xor_sync(0xffffffffu, second ? values.x : values.y, kWarp / 2);
    float value = (second ? values.y : values.x) + other;
#pragma unroll
    for (int i = kWarp / 4; i > 0; i /= 2) value += __shfl_xor_sync(0xffffffffu, value, i);
    if (thread % (kWarp / 2) == 0) write(from_ + thread / kWarp * 4 + (second ? kMaxWarps * 4 : 0), value);
    exchange();
    if constexpr (kWide) {
      const float own = add_wide(), others = __shfl_xor_sync(0xffffffffu, own, kWideLanes);
      values = thread & kWideLanes ? float2{others, own} : float2{own, others};
    } else {
      values = {add(0), add(1)};
    }
    from_ ^= 2 * kMaxWarps * 4;
    return values;
  }

 private:
  static __device__ __forceinline__ void write(uint32_t address, float value) {
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
  }
  static __device__ __forceinline__ void exchange() {
    asm volatile("bar.sync %0, %1;" ::"r"(kWide ? 1 : threadIdx.y + 1), "r"(blockDim.x) : "memory");
  }
  /// Adds the sums of the warps in order.
  template <int kVectors>
  __device__ __forceinline__ float add_vectors(int value) const {
    uint4 four[kVectors];
    float total = 0;
#pragma unroll
    for (int i = 0; i < kVectors; ++i) four[i] = read_shared<uint4>(from_ + (value * kMaxWarps + i * 4) * 4);
#pragma unroll
    for (int i = 0; i < kVectors; ++i) {
      total += __uint_as_float(four[i].x), total += __uint_as_float(four[i].y);
      total += __uint_as_float(four[i].z), total += __uint_as_float(four[i].w);
    }
    return total;
  }
  __device__ __forceinline__ float add(int value) const {
    if (padded_ == 4) return add_vectors<1>(value);
    return padded_ == 8 ? add_vectors<2>(value) : add_vectors<4>(value);
  }

  static constexpr int kWideLanes = kWarp / 4;  // that read the sums of a wide row, 4 each
  /// Adds the sums of up to 32 warps: kWideLanes neighboring lanes add one value. Every thread reading and adding all
  /// of them would take long, and no other group of the block would work meanwhile.
  __device__ __forceinline__ float add_wide() const {
    const uint32_t lane = threadIdx.x % kWarp;
    const uint32_t value = lane / kWideLanes % 2;
    const uint4 four = read_shared<uint4>(from_ + value * kMaxWarps * 4 + lane % kWideLanes * 16);
    float total = __uint_as_float(four.x) + __uint_as_float(four.y);
    total += __uint_as_float(four.z) + __uint_as_float(four.w);
#pragma unroll
    for (int i = kWideLanes / 2; i > 0; i /= 2) total += __shfl_xor_sync(0xffffffffu, total, i);
    return total;
  }

  int padded_;
  uint32_t from_;
};

/// Threads of a row, vectors of a thread and tensor, rows of a block, blocks, and stages of the ring.
struct RowShape {
  int threads, chunks;
  int rows = 1;
  int64_t blocks = 1;
  int stages = 0, shared_bytes = 0;
};

/// Threads of a row, and vectors of a thread and tensor: up to most_chunks, 1, 2 or 4. The row is wide if it would have
/// more of them with kMaxRowThreads threads.
inline RowShape row_shape(int64_t width, int vector_elements, int most_chunks) {
  const int64_t vectors = width / vector_elements;
  RowShape shape{};
  shape.chunks = std::min(most_chunks, vectors <= kMaxRowThreads ? 1 : vectors <= 2 * kMaxRowThreads ? 2 : 4);
  shape.threads = static_cast<int>(divided_up(divided_up(vectors, shape.chunks), kWarp) * kWarp);
  return shape;
}

/// Sets the rows of a multiprocessor that are processed at a time, and the stages of each, at least two, to those that
/// have the most bytes in flight up to `most`; with equal bytes, to more rows.
inline void fill_ring(RowShape& shape, int row_bytes, int max_rows, int most) {
  shape.rows = 1, shape.stages = 2;
  for (int stages = 2; stages <= kMaxStages; ++stages) {
    const int rows = std::min(max_rows, most / (stages * row_bytes));
    if (rows * stages > shape.rows * shape.stages) shape.rows = rows, shape.stages = stages;
  }
}

/// Completes a shape with a ring of the given bytes per thread and stage. The blocks of a multiprocessor have at most
/// kMaxBlockThreads threads together. All blocks run at once: each takes as many rows as the others.
inline cudaError_t add_ring(RowShape& shape, int64_t rows, int thread_bytes) {
  int multiprocessors = 0, max_bytes = 0, bus_bits = 0;
  cudaError_t error = flash::count_multiprocessors(multiprocessors);
  if (error == cudaSuccess) error = flash::shared_memory_of_block(max_bytes);
  if (error == cudaSuccess) error = flash::device_attribute(cudaDevAttrGlobalMemoryBusWidth, bus_bits);
  if (error != cudaSuccess) return error;
  const int row_bytes = shape.threads * thread_bytes;
  fill_ring(shape, row_bytes, kMaxBlockThreads / shape.threads,
            bus_bits > kBusBits ? kBytesInFlightWide : kBytesInFlight);
  const int64_t blocks = divided_up(shape.rows, kMaxBlockRows);  // of a multiprocessor
  const int64_t even = divided_up(rows, multiprocessors * blocks);
  shape.rows = static_cast<int>(std::min(divided_up(shape.rows, blocks), even));
  shape.blocks = std::min(divided_up(rows, shape.rows), multiprocessors * blocks);
  const bool one_round = rows <= shape.blocks * shape.rows;
  const int stage_bytes = shape.rows * row_bytes;
  shape.stages = one_round ? 1 : std::clamp((max_bytes - kStaticBytes) / stage_bytes, 1, shape.stages);
  shape.shared_bytes = shape.stages * stage_bytes;
  return cudaSuccess;
}

}  // namespace kymo::layers
