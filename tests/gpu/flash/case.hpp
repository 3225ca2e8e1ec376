// SPDX-License-Identifier: Apache-2.0
// An attention problem: its tensors on the GPU, with guards against out-of-bounds writes, and their values on the host.
#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ops/cuda/flash.hpp"

namespace kymo::flash::test {

/// Throws std::runtime_error with the name of the call and the error.
void check_cuda(cudaError_t error, const char* what);

/// Memory layout of a tensor (batch, heads, rows, d).
enum class Layout { kHeadsFirst, kRowsFirst, kPadded };

/// Device memory of a tensor inside a larger block. Bytes outside of the tensor must keep their pattern (0xff).
class GuardedTensor {
 public:
  GuardedTensor(int64_t batch, int64_t heads, int64_t rows, int64_t d, Element element, Layout layout);
  GuardedTensor(GuardedTensor&&) = default;

  Input input() const { return {at(), batch_stride_, head_stride_, row_stride_}; }
  Output output() const { return {at(), batch_stride_, head_stride_, row_stride_}; }
  /// Fills with normally distributed numbers times `gain`, rounded to the element type; values() then holds the same
  /// values.
  void fill(uint64_t seed, double gain);
  void poison();       ///< sets all bytes to 0xff: NaN in every element type
  void fetch();        ///< copies the device memory to bytes() and values()
  void fetch_bytes();  ///< copies the device memory to bytes() only
  /// Returns true if all bytes outside of the tensor held the pattern at the last fetch().
  bool untouched_around() const { return untouched_; }
  const std::vector<double>& values() const { return values_; }       ///< (batch, heads, rows, d), contiguous
  const std::vector<unsigned char>& bytes() const { return bytes_; }  ///< the whole block at the last fetch()

 private:
  struct Release {
    void operator()(void* memory) const { cudaFree(memory); }
  };
  void* at() const;
  size_t offset(int64_t batch, int64_t head, int64_t row, int64_t column) const;  // in bytes

  int64_t batch_, heads_, rows_, d_, size_, batch_stride_ = 0, head_stride_ = 0, row_stride_ = 0;
  Element element_;
  std::unique_ptr<void, Release> block_;
  std::vector<unsigned char> bytes_;
  std::vector<double> values_;
  bool untouched_ = true;
};

struct Case {
  Case(const Problem& problem, Layout layout, uint64_t seed, double gain);
  Case(Case&&) = default;

  Forward forward(Path path, int variant = -1) const;
  Backward backward(Path path, bool deterministic, int variant = -1) const;
  std::string text() const;

  Problem problem;
  Layout layout;
  uint64_t seed;
  double gain;
  GuardedTensor q, k, v, o, d_o, dq, dk, dv, lse;
};

/// Device memory of the size that a call requires.
class Workspace {
 public:
  template <class Call>
  explicit Workspace(const Call& call) : Workspace(workspace_bytes(call)) {}
  explicit Workspace(size_t bytes);
  ~Workspace() { cudaFree(memory_); }
  Workspace(const Workspace&) = delete;
  void* at() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

}  // namespace kymo::flash::test
