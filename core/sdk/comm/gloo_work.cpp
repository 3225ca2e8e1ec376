// SPDX-License-Identifier: Apache-2.0
#include "gloo_work.hpp"

#include <chrono>
#include <stdexcept>
#include <thread>

namespace kymo::comm {

void GlooProgress::hold(std::vector<at::Tensor> tensors, std::function<void()> last) {
  kept_ = std::move(tensors);
  last_ = std::move(last);
}

void GlooProgress::follow(const std::shared_ptr<GlooProgress>& self,
                          const c10::intrusive_ptr<c10::ivalue::Future>& future) {
  future->addCallback([self](c10::ivalue::Future& ended) { self->future_ended(ended); });
}

void GlooProgress::future_ended(c10::ivalue::Future& future) {
  if (future.hasError()) fail(future.tryRetrieveErrorMessage());
  finish();
}

void GlooProgress::follow(const std::shared_ptr<GlooProgress>& self, const c10::intrusive_ptr<c10d::Work>& work) {
  std::thread([self, work] {
    try {
      work->wait();
    } catch (const std::exception& problem) {
      self->fail(problem.what());
    }
    self->finish();
  }).detach();
}

void GlooProgress::fail(const std::string& why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  error_ = name_ + " failed: " + first_line(why);
}

void GlooProgress::await() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return done_; });
}

void GlooProgress::finish() {
  std::string error;
  try {
    if (last_ && error_.empty()) last_();
  } catch (const std::exception& problem) {
    error = name_ + " failed: " + first_line(problem.what());
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  report_.end();
  if (error_.empty()) error_ = std::move(error);
  if (!error_.empty()) health_->fail(error_);
  last_ = nullptr;
  kept_.clear();
  done_ = true;
  changed_.notify_all();
}

void GlooProgress::wait(const Context& ctx) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return done_; })) {
    if (!ctx.cancelled()) continue;
    health_->fail("cancelled while waiting for " + name_);
    health_->check();
  }
  if (!error_.empty()) throw std::runtime_error(error_);
}

bool GlooProgress::done() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (done_ && !error_.empty()) throw std::runtime_error(error_);
  return done_;
}

bool GlooProgress::ended() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return done_;
}

bool GlooProgress::abandon() {
  const std::lock_guard<std::mutex> lock(mutex_);
  report_.end();
  return !done_;
}

}  // namespace kymo::comm
