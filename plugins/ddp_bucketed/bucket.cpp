// SPDX-License-Identifier: Apache-2.0
#include "bucket.hpp"

#include <optional>
#include <utility>

#include "training/flat_gradients.hpp"
#include "training/gradient_hooks.hpp"

namespace {

using kymo::comm::Communicator;
using kymo::comm::Reduction;
using kymo::comm::Work;

class Buffered final : public Bucket {
 public:
  Buffered(Communicator& communicator, std::vector<at::Tensor> parameters)
      : communicator_(communicator), size_(parameters.size()), gradients_(std::move(parameters)) {}

  std::size_t size() const override { return size_; }
  void begin_step() override { gradients_.zero(); }
  void start() override { call_ = communicator_.all_reduce(gradients_.buffer(), Reduction::kAverage); }
  void wait() override { call_->wait(); }

 private:
  Communicator& communicator_;
  std::size_t size_;
  kymo::training::FlatGradients gradients_;
  std::unique_ptr<Work> call_;
};

class Grouped final : public Bucket {
 public:
  Grouped(Communicator& communicator, std::vector<at::Tensor> parameters)
      : communicator_(communicator), parameters_(std::move(parameters)), calls_(parameters_.size()) {}

  std::size_t size() const override { return parameters_.size(); }
  void begin_step() override { kymo::training::drop_gradients(parameters_); }
  void start() override {
    std::optional<Communicator::Group> as_one;
    if (parameters_.size() > 1) as_one.emplace(communicator_);  // a group of one takes longer than a single call
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      calls_[i] = communicator_.all_reduce(kymo::training::gradient_or_zeros(parameters_[i]), Reduction::kAverage);
  }
  void wait() override {
    for (auto& call : calls_) {
      call->wait();
      call.reset();  // releases the gradient, so that the next step can drop it
    }
  }

 private:
  Communicator& communicator_;
  std::vector<at::Tensor> parameters_;
  std::vector<std::unique_ptr<Work>> calls_;
};

}  // namespace

std::unique_ptr<Bucket> make_bucket(Communicator& communicator, std::vector<at::Tensor> parameters, bool in_buffer) {
  if (in_buffer) return std::make_unique<Buffered>(communicator, std::move(parameters));
  return std::make_unique<Grouped>(communicator, std::move(parameters));
}
