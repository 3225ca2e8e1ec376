// SPDX-License-Identifier: Apache-2.0
// The highest rates that a device reaches: bandwidth of memory and cache, and matrix products of each data type.
#include <ATen/Parallel.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/_scaled_mm.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <chrono>
#include <kymo/torch.hpp>
#include <kymo/workload.hpp>
#include <memory>
#include <stdexcept>

#include "device_read.hpp"
#include "processor.hpp"

namespace {

using kymo::Context;
using kymo::Verification;
namespace peaks = kymo::peaks;

constexpr const char* kPhase = "operation";
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = 1 << 30;

/// The measured operation. One call of run() is one step.
class Operation {
 public:
  virtual ~Operation() = default;
  virtual void run() = 0;
  virtual void check(Verification& result) = 0;

  double flops = 0, bytes = 0;  ///< of one step
};

std::int64_t word_count(std::int64_t bytes) { return std::max<std::int64_t>(bytes / 64, 1) * 16; }

at::Tensor numbered_words(std::int64_t count, const at::Device& device) {
  return at::arange(count, at::TensorOptions().dtype(at::kInt).device(device));
}

/// Reads one half of a buffer and writes the other.
class Copy final : public Operation {
 public:
  Copy(std::int64_t buffer_bytes, const at::Device& device, int threads)
      : threads_(threads),
        source_(numbered_words(word_count(buffer_bytes / 2), device)),
        target_(at::zeros_like(source_)) {
    bytes = 2.0 * static_cast<double>(source_.nbytes());
  }

  void run() override {
    if (source_.is_cpu())
      peaks::copy_with_threads(target_.mutable_data_ptr(), source_.const_data_ptr(), source_.nbytes(), threads_);
    else
      target_.copy_(source_, /*non_blocking=*/true);
  }

  void check(Verification& result) override {
    run();
    result.that(at::equal(source_, target_), "copy", "the source");
  }

 private:
  int threads_;
  at::Tensor source_, target_;
};

/// Reads a buffer several times and adds its words, so that no read can be left out.
class Read final : public Operation {
 public:
  Read(std::int64_t buffer_bytes, int repeats, const at::Device& device, int threads)
      : threads_(threads),
        repeats_(repeats),
        words_(numbered_words(word_count(buffer_bytes), device)),
        sum_(at::zeros({1}, words_.options())) {
    bytes = static_cast<double>(repeats) * static_cast<double>(words_.nbytes());
  }

  void run() override {
    const auto* words = reinterpret_cast<const std::uint32_t*>(words_.const_data_ptr<int>());
    auto* sum = reinterpret_cast<std::uint32_t*>(sum_.mutable_data_ptr<int>());
    if (words_.is_cpu()) {
      *sum += peaks::read_with_threads(words, static_cast<std::size_t>(words_.numel()), repeats_, threads_);
      return;
    }
#ifdef KYMO_PEAKS_DEVICE_READ
    const int error = peaks::read_on_device(words, words_.numel(), repeats_, sum,
                                            at::cuda::getCurrentDeviceProperties()->multiProcessorCount,
                                            at::cuda::getCurrentCUDAStream().stream());
    if (error != 0) throw std::runtime_error(cudaGetErrorString(static_cast<cudaError_t>(error)));
#endif
  }

  void check(Verification& result) override {
    sum_.zero_();
    run();
    const auto actual = static_cast<std::uint32_t>(sum_.item<int>());
    const auto expected =
        static_cast<std::uint32_t>(words_.sum(at::kLong).item<std::int64_t>()) * static_cast<std::uint32_t>(repeats_);
    result.that(actual == expected, "sum of the words read", "LibTorch's sum",
                std::to_string(actual) + ", expected " + std::to_string(expected));
  }

 private:
  int threads_, repeats_;
  at::Tensor words_, sum_;
};

/// Product of two square matrices of random numbers.
class MatrixProduct final : public Operation {
 public:
  MatrixProduct(const Context& ctx, const std::string& dtype, std::int64_t n, const at::Device& device)
      : tolerance_(tolerance_of(dtype)), is_fp8_(dtype == "fp8") {
    // Affects fp32 products on a GPU only.
    at::globalContext().setFloat32MatmulPrecision(dtype == "tf32" ? "high" : "highest");
    const at::ScalarType type = is_fp8_           ? at::kFloat8_e4m3fn
                                : dtype == "tf32" ? at::kFloat
                                                  : kymo::libtorch::dtype(dtype);
    at::Generator generator = kymo::libtorch::make_generator(device, ctx.seed());
    const at::TensorOptions single = at::TensorOptions().dtype(at::kFloat).device(device);
    a_ = at::empty({n, n}, single).normal_(0, 1, generator).to(type);
    b_ = at::empty({n, n}, single).normal_(0, 1, generator).to(type);
    if (is_fp8_) b_ = b_.t();  // the only order that cuBLAS accepts
    scale_ = at::ones({}, single);
    out_ = at::empty({n, n}, single.dtype(is_fp8_ ? at::kBFloat16 : type));
    const auto size = static_cast<double>(n);
    flops = 2 * size * size * size;
    bytes = static_cast<double>(a_.nbytes() + b_.nbytes() + out_.nbytes());
  }

  void run() override {
    if (is_fp8_)
      at::_scaled_mm_out(out_, a_, b_, scale_, scale_, {}, {}, at::kBFloat16, /*use_fast_accum=*/true);
    else
      at::mm_out(out_, a_, b_);
  }

  void check(Verification& result) override {
    run();
    const std::int64_t stride = std::max<std::int64_t>(a_.size(0) / 16, 1);
    const auto rows = [&](const at::Tensor& matrix) { return matrix.slice(0, 0, matrix.size(0), stride); };
    const at::Tensor exact = rows(a_).to(at::kDouble).mm(b_.to(at::kDouble));
    const double error = (rows(out_).to(at::kDouble) - exact).abs().max().item<double>();
    result.within("every 16th part of the rows", "float64", {error, error / exact.abs().max().item<double>()},
                  tolerance_);
  }

 private:
  /// Relative to the largest element: a few times the rounding of inputs (tf32), sums and results.
  static double tolerance_of(const std::string& dtype) {
    if (dtype == "fp32") return 1e-5;
    return dtype == "bf16" ? 1e-2 : dtype == "fp8" ? 3e-2 : 3e-3;
  }

  double tolerance_;
  bool is_fp8_;
  at::Tensor a_, b_, scale_, out_;
};

class Peaks final : public kymo::Workload {
 public:
  static kymo::Descriptor describe() {
    using kymo::Choice, kymo::Int, kymo::Shown;
    return kymo::Descriptor{"peaks",
                            "measure the highest rates of a device: bandwidth of memory and cache, matrix products"}
        .title("")
        .family("peak")
        .param(
            "kind", Choice{"copy", {"copy", "read", "cache", "matmul"}}.title("{}", Shown::Always),
            "what is measured: copying within memory (bytes read and written), reading memory, reading the L2 cache, "
            "or a matrix product")
        .param("dtype", Choice{"fp32", {"fp32", "tf32", "bf16", "fp16", "fp8"}}.title(" {}"),
               "data type of the matrices; fp8 is e4m3 with bf16 results. Bandwidth does not depend on it")
        .param("bytes", Int{0}.at_least(0).unit("B"),
               "size of all buffers of copy, read and cache; 0: selected for the caches of the device")
        .param("n", Int{0}.at_least(0),
               "rows and columns of the matrices; 0: 8192 on a GPU; on a CPU 2048, or fewer if the product would take "
               "longer than half a second")
        .param("warm_up_ms", Int{500}.at_least(0).unit("ms"),
               "time before the first step in which the operation is repeated, so that clocks settle")
        .phases({kPhase})
        .uses(kymo::Framework::LibTorch)
        .ranks(1)
        .asynchronous();
  }

  void prepare(Context& ctx) override {
    const std::string kind = ctx.text("kind");
    const std::string dtype = ctx.text("dtype");
    const at::Device device = kymo::libtorch::select_device(ctx);
    if (const std::string reason = unsupported_reason(ctx, kind, dtype); !reason.empty()) ctx.skip(reason);
    threads_ = ctx.is_cuda() ? 1 : at::get_num_threads();
    if (!ctx.is_cuda()) ctx.metric("threads", threads_);
    operation_ = kind == "matmul" ? make_product(ctx, dtype, device) : make_transfer(ctx, kind, device);
    ctx.work(kPhase, operation_->flops, operation_->bytes);
  }

  void before_step(Context& ctx) override {
    if (warm_) return;
    warm_ = true;
    const c10::NoGradGuard no_gradients;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ctx.integer("warm_up_ms"));
    do {
      operation_->run();
      if (ctx.is_cuda()) at::cuda::getCurrentCUDAStream().synchronize();
    } while (std::chrono::steady_clock::now() < end && !ctx.cancelled());
    // The clock of a GPU is sampled by kymo.
    if (!ctx.is_cuda()) ctx.metric("clock", peaks::core_clock() / 1e6, "MHz");
  }

  void step(Context& ctx) override {
    const c10::NoGradGuard no_gradients;
    auto phase = kymo::libtorch::phase(ctx, kPhase);
    operation_->run();
  }

  Verification verify(Context&) override {
    const c10::NoGradGuard no_gradients;
    Verification result;
    operation_->check(result);
    return result;
  }

 private:
  /// Why the case cannot be measured; empty if it can.
  static std::string unsupported_reason(const Context& ctx, const std::string& kind, const std::string& dtype) {
    if (kind != "matmul") {
      if (dtype != "fp32") return "bandwidth does not depend on the data type: it is measured with dtype=fp32";
#ifndef KYMO_PEAKS_DEVICE_READ
      if (ctx.is_cuda() && kind != "copy") return "kymo was built without CUDA kernels (KYMO_CUDA_KERNELS=OFF)";
#endif
      return "";
    }
    if (!ctx.is_cuda())
      return dtype == "tf32" || dtype == "fp8" ? "LibTorch has no " + dtype + " matrix product for CPUs" : "";
    const cudaDeviceProp& gpu = *at::cuda::getCurrentDeviceProperties();
    const int capability = 10 * gpu.major + gpu.minor;
    const int needed = dtype == "fp8" ? 89 : dtype == "tf32" || dtype == "bf16" ? 80 : 0;
    if (capability >= needed) return "";
    return dtype + " needs compute capability " + (needed == 89 ? "8.9" : "8.0") + ", but " + gpu.name + " has " +
           std::to_string(gpu.major) + "." + std::to_string(gpu.minor);
  }

  /// Rows of matrices whose product takes at most about half a second on this CPU, up to 2048. Types without
  /// instructions of their own, such as fp16 on many processors, are a hundred times slower than others, and slower
  /// still for large matrices.
  static std::int64_t rows_on_cpu(const Context& ctx, const std::string& dtype, const at::Device& device) {
    constexpr std::int64_t kProbe = 256;
    constexpr double kMaxSeconds = 0.5;
    MatrixProduct probe(ctx, dtype, kProbe, device);
    probe.run();  // selects its kernel
    double seconds = kMaxSeconds;
    for (int i = 0; i < 3; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      probe.run();
      seconds = std::min(seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::int64_t n = 2048;
    for (; n > kProbe; n /= 2) {
      const auto times = static_cast<double>(n / kProbe);
      if (seconds * times * times * times <= kMaxSeconds) break;
    }
    return n;
  }

  static std::unique_ptr<Operation> make_product(const Context& ctx, const std::string& dtype,
                                                 const at::Device& device) {
    std::int64_t n = ctx.integer("n");
    if (n == 0) n = ctx.is_cuda() ? 8192 : rows_on_cpu(ctx, dtype, device);
    if (dtype == "fp8" && n % 16 != 0) throw std::invalid_argument("n must be a multiple of 16 for fp8");
    ctx.metric("n", static_cast<double>(n));
    return std::make_unique<MatrixProduct>(ctx, dtype, n, device);
  }

  /// Throws std::invalid_argument for sizes that could measure another level of the memory hierarchy.
  std::unique_ptr<Operation> make_transfer(const Context& ctx, const std::string& kind,
                                           const at::Device& device) const {
    const peaks::CacheSizes caches = ctx.is_cuda() ? device_caches() : peaks::cache_sizes();
    if (caches.second == 0) ctx.skip("the system does not report the size of the L2 cache");
    const bool in_cache = kind == "cache";
    const std::int64_t low = in_cache ? 2 * threads_ * caches.first : 2 * caches.last;
    const std::int64_t high = in_cache ? threads_ * caches.second : std::numeric_limits<std::int64_t>::max();
    std::int64_t size = ctx.integer("bytes");
    if (size == 0) {
      size = in_cache ? (ctx.is_cuda() ? caches.second / 4 : threads_ * caches.second / 2) : memory_buffer(ctx, caches);
      if (size < low) ctx.skip("a buffer of a quarter of the memory is not larger than twice the last-level cache");
    } else if (size < low || size > high) {
      throw std::invalid_argument("bytes=" + std::to_string(size) + " does not measure " +
                                  (in_cache ? "the L2 cache: use " : "memory: use ") + std::to_string(low) +
                                  (in_cache ? " to " + std::to_string(high) : " or more"));
    }
    ctx.metric("buffer_bytes", static_cast<double>(size), "B");
    if (kind == "copy") return std::make_unique<Copy>(size, device, threads_);
    // Enough to make the start of threads or of a kernel negligible.
    const std::int64_t bytes = in_cache ? (ctx.is_cuda() ? 8 * kGiB : 512 * kMiB * threads_) : 1;
    const auto repeats = static_cast<int>((bytes + size - 1) / size);
    return std::make_unique<Read>(size, repeats, device, threads_);
  }

  /// The first level is bypassed by the kernel.
  static peaks::CacheSizes device_caches() {
    const std::int64_t l2 = at::cuda::getCurrentDeviceProperties()->l2CacheSize;
    return {0, l2, l2};
  }

  static std::int64_t memory_buffer(const Context& ctx, const peaks::CacheSizes& caches) {
    const std::int64_t memory = ctx.is_cuda()
                                    ? static_cast<std::int64_t>(at::cuda::getCurrentDeviceProperties()->totalGlobalMem)
                                    : peaks::physical_memory();
    const std::int64_t size =
        ctx.is_cuda() ? std::max(64 * caches.last, 2 * kGiB) : std::max(4 * caches.last, 256 * kMiB);
    return std::min(size, memory / 4);
  }

  int threads_ = 1;
  bool warm_ = false;
  std::unique_ptr<Operation> operation_;
};

}  // namespace

KYMO_EXPORT_WORKLOADS(Peaks)
