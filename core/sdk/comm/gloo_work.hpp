// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <condition_variable>
#include <functional>
#include <kymo/communicator.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "call.hpp"

namespace kymo::comm {

/// How far a call on Gloo is: shared by who called, who waits and the thread of Gloo that ends it.
class GlooProgress {
 public:
  /// `name` says which call it is, for errors.
  GlooProgress(Collective report, std::shared_ptr<Health> health, std::string name)
      : report_(std::move(report)), health_(std::move(health)), name_(std::move(name)) {}

  /// Keeps what the call works on until it is done, and says what is left to do then (may be empty).
  void hold(std::vector<at::Tensor> tensors, std::function<void()> last);
  /// Ends the call together with this future.
  void follow(const std::shared_ptr<GlooProgress>& self, const c10::intrusive_ptr<c10::ivalue::Future>& future);
  /// Ends the call.
  void finish();

  /// Throws std::runtime_error if the call failed, or the run is cancelled before it is done.
  void wait(const Context& ctx);
  bool done();
  /// As done(), but does not throw.
  bool ended();
  /// Reports the end now: the host may be gone when Gloo is done. False if the call had ended before.
  bool abandon();

 private:
  void future_ended(c10::ivalue::Future& future);

  Collective report_;
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
  void wait() override { progress_->wait(ctx_); }
  bool done() override { return progress_->done(); }

 private:
  const Context ctx_;
  const std::shared_ptr<GlooProgress> progress_;
};

}  // namespace kymo::comm
