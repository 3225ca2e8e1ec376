// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <kymo/communicator.hpp>
#include <map>
#include <mutex>
#include <string>
#include <utility>

/// Shared by both backends: tensor validation, reporting of calls, and the error state of a communicator.
namespace kymo::comm {

/// Names as in databases: all_reduce, reduce_scatter and so on.
const char* to_string(Operation operation);

/// These checks throw std::invalid_argument with a one-line message.
void check_all_reduce(const at::Tensor& output, const at::Tensor& input, Reduction reduction, const at::Device& device);
void check_reduce_scatter(const at::Tensor& output, const at::Tensor& input, Reduction reduction,
                          const at::Device& device, int rank, int size);
void check_all_gather(const at::Tensor& output, const at::Tensor& input, const at::Device& device, int rank, int size);
void check_broadcast(const at::Tensor& tensor, int root, const at::Device& device, int size);
void check_reduce(const at::Tensor& tensor, Reduction reduction, int root, const at::Device& device, int size);
/// For gather and scatter: `whole`, which only `root` uses, consists of `size` chunks like `part`.
void check_rooted(Operation operation, const at::Tensor& whole, const at::Tensor& part, int root,
                  const at::Device& device, int rank, int size);
void check_all_to_all(const at::Tensor& output, const at::Tensor& input, const at::Device& device, int size);
void check_message(Operation operation, const at::Tensor& tensor, int peer, const at::Device& device, int rank,
                   int size);

/// Counts and reports the calls of a communicator.
class Reporter {
 public:
  Reporter(const Context& ctx, std::string name) : ctx_(ctx), name_(std::move(name)) {}

  /// `bytes` is the size of the larger of input and output on this rank; `stream` as in kymo_collective.
  Collective begin(Operation operation, std::uint64_t bytes, void* stream);

  /// A message between this rank and another one, which is numbered among those from its sender to its receiver.
  Collective begin_message(Operation operation, std::uint64_t bytes, void* stream, int peer);

  const Context& context() const { return ctx_; }
  const std::string& name() const { return name_; }
  /// Describes the most recent call, for example "all_reduce 12 of communicator 'world' on rank 1".
  std::string last_call() const;

 private:
  Context ctx_;
  std::string name_;
  std::uint64_t sequence_ = 0;
  std::map<std::string, std::uint64_t> messages_;  // number by communicator of sender and receiver
  struct Call {
    Operation operation = Operation::Barrier;
    std::uint64_t number = 0;
    int peer = -1;  // of a message
  };
  Call last_;
};

/// Error state of a communicator. Any thread.
class Health {
 public:
  /// Records the first failure; later ones are ignored.
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

/// Returns the first line of a library's error message, which may be followed by a stack trace.
std::string first_line(const std::string& text);
/// Returns the environment variables that start with `prefix` as "A=1 B=2", sorted by name; may be empty.
std::string environment_of(const std::string& prefix);

}  // namespace kymo::comm
