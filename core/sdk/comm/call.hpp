// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <kymo/communicator.hpp>
#include <mutex>
#include <string>
#include <utility>

/// What both backends need for a call: whether its tensors fit, how it is reported, and whether the communicator is
/// still whole.
namespace kymo::comm {

/// all_reduce, reduce_scatter, all_gather, broadcast, barrier.
const char* to_string(Operation operation);

/// The checks throw std::invalid_argument, in one line.
void check_all_reduce(const at::Tensor& output, const at::Tensor& input, Reduction reduction, const at::Device& device);
void check_reduce_scatter(const at::Tensor& output, const at::Tensor& input, Reduction reduction,
                          const at::Device& device, int rank, int size);
void check_all_gather(const at::Tensor& output, const at::Tensor& input, const at::Device& device, int rank, int size);
void check_broadcast(const at::Tensor& tensor, int root, const at::Device& device, int size);

/// Counts the calls of a communicator and reports them.
class Reporter {
 public:
  Reporter(const Context& ctx, std::string name) : ctx_(ctx), name_(std::move(name)) {}

  /// `bytes` is what this rank holds of the payload, the larger of input and output; `stream` as in kymo_collective.
  Collective begin(Operation operation, std::uint64_t bytes, void* stream);

  const Context& context() const { return ctx_; }
  const std::string& name() const { return name_; }
  /// "all_reduce 12 of communicator 'world' on rank 1", for the call that was begun last.
  std::string last_call() const;

 private:
  Context ctx_;
  std::string name_;
  std::uint64_t sequence_ = 0;
  Operation last_ = Operation::Barrier;
};

/// Whether a communicator may still be used, and else why not. Any thread.
class Health {
 public:
  /// Only the first failure is kept.
  void fail(const std::string& why);
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  /// Throws std::runtime_error after a failure.
  void check() const {
    if (failed()) throw_failure();
  }

 private:
  [[noreturn]] void throw_failure() const;

  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  std::string why_;
};

/// The first line of a message of a library, which may go on with a stack.
std::string first_line(const std::string& text);
/// "A=1 B=2" of the environment variables that begin with the prefix, in the order of their names; may be empty.
std::string environment_of(const std::string& prefix);

}  // namespace kymo::comm
