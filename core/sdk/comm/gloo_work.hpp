// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <condition_variable>
#include <functional>
#include <kymo/communicator.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

#include "call.hpp"

namespace kymo::comm {

/// State of a Gloo call, shared by the calling thread, waiting threads and the Gloo thread that completes it.
class GlooProgress {
 public:
  /// `name` identifies the call in error messages.
  GlooProgress(Collective report, std::shared_ptr<Health> health, std::string name)
      : report_(std::move(report)), health_(std::move(health)), name_(std::move(name)) {}

  /// Keeps the call's tensors alive until it is done. `last` runs on completion and may be empty.
  void hold(std::vector<at::Tensor> tensors, std::function<void()> last);
  /// Completes the call when `future` completes.
  void follow(const std::shared_ptr<GlooProgress>& self, const c10::intrusive_ptr<c10::ivalue::Future>& future);
  /// Completes the call when `work`, a message, ends; its future is not available.
  static void follow(const std::shared_ptr<GlooProgress>& self, const c10::intrusive_ptr<c10d::Work>& work);
  /// Completes the call.
  void finish();
  /// Blocks until the call is done.
  void await();

  /// Blocks until the call is done. Throws std::runtime_error if the call failed or the run is cancelled.
  void wait(const Context& ctx);
  bool done();
  /// Same as done(), but does not throw.
  bool ended();
  /// Reports the end of the call immediately, because the host may be gone when Gloo completes it. Returns false if the
  /// call was already done.
  bool abandon();
  const CollectiveUse& use() const { return use_; }

 private:
  void future_ended(c10::ivalue::Future& future);
  void fail(const std::string& why);

  Collective report_;
  const CollectiveUse use_ = report_.use();
  const std::shared_ptr<Health> health_;
  const std::string name_;
  std::vector<at::Tensor> kept_;
  std::function<void()> last_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::string error_;
};

class GlooWork final : public Work {
 public:
  GlooWork(const Context& ctx, std::shared_ptr<GlooProgress> progress) : ctx_(ctx), progress_(std::move(progress)) {}
  void wait() override {
    needed(nullptr);
    progress_->wait(ctx_);
  }
  void needed(const char* by) const override { progress_->use().needed(by); }
  bool done() override { return progress_->done(); }

 private:
  const Context ctx_;
  const std::shared_ptr<GlooProgress> progress_;
};

}  // namespace kymo::comm
