// SPDX-License-Identifier: Apache-2.0
// Data parallelism with buckets: gradients are sent in groups, few enough for high bandwidth and early enough to be
// hidden by the backward pass.
#include <cstddef>
#include <kymo/communicator.hpp>
#include <kymo/workload.hpp>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "training/data_parallel.hpp"
#include "training/flat_layout.hpp"
#include "training/gradient_hooks.hpp"

namespace {

namespace training = kymo::training;
using kymo::comm::Communicator;
using kymo::comm::Reduction;
using kymo::comm::Work;
using training::Replica;

/// Parameters whose gradients are averaged together.
class Bucket {
 public:
  virtual ~Bucket() = default;
  /// Number of parameters.
  virtual std::size_t size() const = 0;
  /// Zeroes or drops the gradients.
  virtual void begin_step() = 0;
  /// Starts averaging them. A missing gradient counts as zero.
  virtual void start() = 0;
  /// Afterwards the gradients are the means, in the order of the current stream.
  virtual void wait() = 0;
};

class Buffered final : public Bucket {
 public:
  Buffered(Communicator& communicator, std::vector<at::Tensor> parameters)
      : communicator_(communicator), layout_(std::move(parameters)) {
    layout_.zero_gradients();  // allocates the buffer
  }

  std::size_t size() const override { return layout_.tensors().size(); }
  void begin_step() override { layout_.zero_gradients(); }
  void start() override { call_ = communicator_.all_reduce(layout_.gradients(), Reduction::kAverage); }
  void wait() override { call_->wait(); }

 private:
  Communicator& communicator_;
  training::FlatLayout layout_;
  std::unique_ptr<Work> call_;
};

class Grouped final : public Bucket {
 public:
  Grouped(Communicator& communicator, std::vector<at::Tensor> parameters)
      : communicator_(communicator), parameters_(std::move(parameters)), calls_(parameters_.size()) {}

  std::size_t size() const override { return parameters_.size(); }
  void begin_step() override { training::drop_gradients(parameters_); }
  void start() override {
    std::optional<Communicator::Group> as_one;
    if (parameters_.size() > 1) as_one.emplace(communicator_);  // a group of one takes longer than a single call
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      calls_[i] = communicator_.all_reduce(training::gradient_or_zeros(parameters_[i]), Reduction::kAverage);
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

/// With `in_buffer`, the gradients are views of one buffer and there is one call; otherwise each has its own tensor and
/// the calls are issued as one group.
std::unique_ptr<Bucket> make_bucket(Communicator& communicator, std::vector<at::Tensor> parameters, bool in_buffer) {
  if (in_buffer) return std::make_unique<Buffered>(communicator, std::move(parameters));
  return std::make_unique<Grouped>(communicator, std::move(parameters));
}

class Bucketed final : public training::GradientExchange {
 public:
  Bucketed(const Replica& replica, double limit_mib, bool in_buffers, bool taper = false)
      : bucket_of_(replica.parameters.size()) {
    std::unordered_map<const void*, std::size_t> position;
    for (const at::Tensor& parameter : replica.parameters)
      position.emplace(parameter.unsafeGetTensorImpl(), position.size());
    // From the last parameter to the first, the order of the backward pass, so that buckets fill up one after another.
    for (std::vector<at::Tensor>& members : training::split_by_bytes(
             {replica.parameters.rbegin(), replica.parameters.rend()}, limit_mib * 1048576.0, taper)) {
      for (const at::Tensor& member : members) bucket_of_[position.at(member.unsafeGetTensorImpl())] = buckets_.size();
      buckets_.push_back(make_bucket(*replica.communicator, std::move(members), in_buffers));
    }
    missing_.resize(buckets_.size());
    hooks_ = std::make_unique<training::GradientHooks>(replica.parameters,
                                                       [this](std::size_t i) { on_ready(bucket_of_[i]); });
  }

  void begin_step() override {
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      buckets_[b]->begin_step();
      missing_[b] = buckets_[b]->size();
    }
    next_ = 0;
  }

  void finish_step() override {
    // Parameters that the loss did not depend on, on this rank: their gradient is zero, and the other ranks wait for
    // it.
    for (; next_ < buckets_.size(); ++next_) buckets_[next_]->start();
    for (const auto& bucket : buckets_) bucket->wait();
  }

 private:
  /// Buckets always start in order, so that every rank makes the same calls regardless of the order in which gradients
  /// arrive.
  void on_ready(std::size_t bucket) {
    --missing_[bucket];
    for (; next_ < buckets_.size() && missing_[next_] == 0; ++next_) buckets_[next_]->start();
  }

  std::vector<std::unique_ptr<Bucket>> buckets_;  // in the order of the backward pass
  std::vector<std::size_t> bucket_of_;            // per parameter
  std::vector<std::size_t> missing_;              // gradients of the bucket still missing in this step
  std::size_t next_ = 0;                          // first bucket not yet started in this step
  std::unique_ptr<training::GradientHooks> hooks_;
};

class DdpBucketed final : public training::DataParallelWorkload {
 public:
  static kymo::Descriptor describe() {
    return descriptor("ddp_bucketed", 3,
                      "data-parallel training: one all-reduce per gradient bucket, started during backward as soon as "
                      "all gradients of the bucket are ready")
        .param("bucket_mb",
               kymo::Real{25}.at_least(0).unit("MiB").axis({1, 10, 100, 1000}).title("{} MiB", kymo::Shown::Always),
               "maximum bucket size in MiB (2^20 bytes); a larger gradient has its own bucket. Buckets are filled in "
               "reverse parameter order, one for each data type at a time")
        .param("taper", kymo::Bool{false}.title("tapered"),
               "also limit a bucket to half of the remaining bytes, down to 1 MiB: large buckets have the highest "
               "bandwidth, but nothing hides the transfer of the last one")
        .param("gradients", kymo::Choice{"auto", {"auto", "separate", "views"}}.axis({"separate", "views"}).title("{}"),
               "separate: individual tensors, whose calls NCCL launches as one group. views: gradients are views of "
               "the bucket's buffer, which must be zeroed and which backward accumulates into. auto: separate with "
               "NCCL, views with Gloo, which has no group calls");
  }

 protected:
  std::unique_ptr<training::GradientExchange> make_exchange(const Replica& replica) override {
    const std::string gradients = replica.ctx.text("gradients");
    const bool in_buffers =
        gradients == "auto" ? replica.communicator->backend() == kymo::comm::Backend::kGloo : gradients == "views";
    return std::make_unique<Bucketed>(replica, replica.ctx.real("bucket_mb"), in_buffers, replica.ctx.boolean("taper"));
  }
};

}  // namespace

KYMO_EXPORT_WORKLOADS(DdpBucketed)
