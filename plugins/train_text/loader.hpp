// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

namespace kymo::text {

/// Shape of a batch: each sequence is a window of `context` bytes, whose targets are the bytes that follow.
struct BatchShape {
  std::int64_t batch = 1;
  std::int64_t context = 1;
};

/// Number of windows that a text is divided into. Throws std::invalid_argument, naming the part of the text, if it is
/// shorter than one window and the byte that follows.
std::int64_t window_count(std::string_view text, std::int64_t context, const char* part);

/// Writes the bytes of the windows, [batch, context], and below them their targets, as int64.
void gather(std::string_view text, const std::vector<std::int64_t>& windows, std::int64_t context, std::int64_t* to);

/// The order in which windows are trained on: every window once per epoch, shuffled anew for each epoch.
class WindowOrder {
 public:
  WindowOrder(std::int64_t windows, std::uint64_t seed);
  std::int64_t next();

 private:
  std::vector<std::int64_t> order_;
  std::size_t position_ = 0;
  std::mt19937_64 random_;
};

/// Provides the batches of a training in an order that depends only on text, shape and seed. With `prefetch`, a thread
/// gathers the next batch into pinned memory while the current one is trained on; otherwise next() does.
class Loader {
 public:
  /// The text must outlive the loader. Throws like window_count().
  Loader(std::string_view text, BatchShape shape, std::uint64_t seed, bool prefetch, const at::Device& device);
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;
  ~Loader();

  /// Copies the next batch into `batch`, [2, batch, context] on the device: tokens and targets. With prefetch, the copy
  /// is queued, and must be complete before the next call.
  void next(const at::Tensor& batch);

 private:
  void gather_into(const at::Tensor& buffer);
  void work();

  std::string_view text_;
  BatchShape shape_;
  WindowOrder order_;
  std::array<at::Tensor, 2> buffers_;  // [2, batch, context] in host memory; the second is used by prefetch only
  std::size_t filled_ = 0;             // buffer of the next batch
  std::mutex mutex_;
  std::condition_variable changed_;
  bool requested_ = false, closing_ = false;
  std::thread thread_;
};

}  // namespace kymo::text
