// SPDX-License-Identifier: Apache-2.0
// A ring of rows in shared memory, which keeps the memory busy while earlier rows are processed. A block is persistent:
// each group of threads with the same threadIdx.y processes the rows that follow its first one at a distance of
// `row_step()`. A thread reads only the vectors that it copied itself, so the copies need no barrier. Addresses in
// shared memory are kept as integers: otherwise, the compiler derives them again for each access.
#pragma once
#include <algorithm>
#include <tuple>
#include <utility>

#include "layer_vectors.cuh"

namespace kymo::layers {

constexpr int kMaxRowThreads = 512;
constexpr int kMaxBlockThreads = 1024;
constexpr int kMaxBlockRows = 15;  ///< each has a barrier, and barrier 0 is that of the block
constexpr int kMaxStages = 4;
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
        step_(row_step() * width),
        start_(first_row() * width + column(0)),
        next_(start_),
        from_{from...} {
    const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x), lane = thread % kWarp;
    stage_bytes_ = static_cast<int>(blockDim.x * blockDim.y) * kThreadBytes;
    at_ = flash::opaque(flash::shared_address(ring_memory) + (thread - lane) * kThreadBytes + lane * kVectorBytes);
    end_ = at_ + stages * stage_bytes_;
    asm volatile("" : "+l"(step_), "+r"(stage_bytes_));  // otherwise, they are computed again for each row
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
    static_assert(kMaxStages == 4);
    asm volatile(
        "{ .reg .pred less;\n"
        "cp.async.wait_group 3;\n"
        "setp.lt.s32 less, %0, 4;\n"
        "@less cp.async.wait_group 2;\n"
        "setp.lt.s32 less, %0, 3;\n"
        "@less cp.async.wait_group 1;\n"
        "setp.lt.s32 less, %0, 2;\n"
        "@less cp.async.wait_group 0; }\n" ::"r"(stages_)
        : "memory");
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

  int stages_, width_, stage_bytes_, left_;
  uint32_t at_, end_;
  int64_t step_, start_, next_;
  const void* from_[sizeof...(Ts)];
};

/// Sums of the warps of a row, in shared memory: of kCount values, in two alternate buffers, so that one barrier per
/// row is sufficient.
template <int kCount>
class RowSums {
 public:
  static constexpr int kMaxWarps = 64;  ///< of a block, in groups of 4, 8 or 16
  static constexpr int kFloats = 2 * kCount * kMaxWarps;

  /// `memory` is aligned to its size.
  __device__ __forceinline__ explicit RowSums(float (&memory)[kFloats]) {
    const int warps = static_cast<int>(blockDim.x) / kWarp, thread = static_cast<int>(threadIdx.x);
    padded_ = warps <= 4 ? 4 : warps <= 8 ? 8 : 16;
    const int first = static_cast<int>(threadIdx.y) * padded_;
    if (warps + thread < padded_)  // visible after the first barrier
      for (int i = 0; i < 2 * kCount; ++i) memory[i * kMaxWarps + first + warps + thread] = 0;
    from_ = flash::opaque(flash::shared_address(memory) + first * 4);
  }
  /// Sums over the threads of a row.
  __device__ __forceinline__ float sum(float value) {
    static_assert(kCount == 1);
    const int thread = static_cast<int>(threadIdx.x);
    value = warp_sum(value);
    if (thread % kWarp == 0) write(from_ + thread / kWarp * 4, value);
    exchange();
    value = add(0);
    from_ ^= kCount * kMaxWarps * 4;
    return value;
  }
  /// Half of each warp adds each of the values.
  __device__ __forceinline__ float2 sum(float2 values) {
    static_assert(kCount == 2);
    const int thread = static_cast<int>(threadIdx.x);
    const bool second = thread % kWarp >= kWarp / 2;
    const float other = __shfl_xor_sync(0xffffffffu, second ? values.x : values.y, kWarp / 2);
    float value = (second ? values.y : values.x) + other;
#pragma unroll
    for (int i = kWarp / 4; i > 0; i /= 2) value += __shfl_xor_sync(0xffffffffu, value, i);
    if (thread % (kWarp / 2) == 0) write(from_ + thread / kWarp * 4 + (second ? kMaxWarps * 4 : 0), value);
    exchange();
    values = {add(0), add(1)};
    from_ ^= kCount * kMaxWarps * 4;
    return values;
  }

 private:
  static __device__ __forceinline__ void write(uint32_t address, float value) {
    asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
  }
  static __device__ __forceinline__ void exchange() {
    asm volatile("bar.sync %0, %1;" ::"r"(threadIdx.y + 1), "r"(blockDim.x) : "memory");
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

  int padded_;
  uint32_t from_;
};

/// How many threads and bytes of shared memory the kernels use.
struct RingSetting {
  int block_threads;           ///< at most
  int multiprocessor_threads;  ///< of all blocks that a multiprocessor runs at once
  int bytes_ahead;             ///< of the rows after the current ones, of all blocks of a multiprocessor
  int max_stages = kMaxStages;
};

/// Threads of a row, rows of a block, vectors of a thread, and stages of the ring.
struct RingShape {
  int threads, rows, chunks;
  int64_t blocks;
  int stages, shared_bytes;
};

/// Threads and vectors of a row.
inline RingShape row_shape(int64_t width, int vector_elements) {
  const int64_t vectors = width / vector_elements;
  RingShape shape{};
  shape.chunks = vectors <= kMaxRowThreads ? 1 : vectors <= 2 * kMaxRowThreads ? 2 : 4;
  shape.threads = static_cast<int>(divided_up(divided_up(vectors, shape.chunks), kWarp) * kWarp);
  return shape;
}

/// The shape for rings with the given bytes per thread and stage. All blocks run at once: each takes as many rows as
/// the others.
inline cudaError_t complete(RingShape& shape, const RingSetting& setting, int64_t rows, int thread_bytes) {
  int multiprocessors = 0, max_bytes = 0;
  cudaError_t error = flash::count_multiprocessors(multiprocessors);
  if (error == cudaSuccess) error = flash::shared_memory_of_block(max_bytes);
  if (error != cudaSuccess) return error;
  const int max_rows = std::clamp(setting.block_threads / shape.threads, 1, kMaxBlockRows);
  shape.rows = static_cast<int>(std::min<int64_t>(divided_up(rows, multiprocessors), max_rows));
  const int threads = shape.threads * shape.rows;
  const int stage_bytes = threads * thread_bytes;
  // The driver reserves 1 KiB per block; the limit of a block is the memory of a multiprocessor less one reservation.
  constexpr int kReserved = 1024, kOther = kReserved + kStaticBytes;
  const int memory = max_bytes + kReserved;
  const int blocks =  // of a multiprocessor
      std::max(1, std::min(setting.multiprocessor_threads / threads, memory / (stage_bytes + kOther)));
  shape.blocks = std::min(divided_up(rows, shape.rows), int64_t{multiprocessors} * blocks);
  const int room = (memory / blocks - kOther) / stage_bytes;
  const int64_t rounds = divided_up(rows, shape.blocks * shape.rows);
  const int wanted = 1 + static_cast<int>(divided_up(setting.bytes_ahead, int64_t{stage_bytes} * blocks));
  shape.stages = static_cast<int>(std::min<int64_t>(rounds, std::min({wanted, room, setting.max_stages})));
  shape.stages = std::max(shape.stages, 1);
  shape.shared_bytes = shape.stages * stage_bytes;
  return cudaSuccess;
}

}  // namespace kymo::layers
