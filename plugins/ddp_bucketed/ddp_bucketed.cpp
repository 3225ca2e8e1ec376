// SPDX-License-Identifier: Apache-2.0
// Data parallelism with buckets: gradients are sent in groups, few enough for high bandwidth and early enough to be
// hidden by the backward pass.
#include <kymo/workload.hpp>
#include <memory>
#include <string>
#include <vector>

#include "bucket.hpp"
#include "training/buckets.hpp"
#include "training/data_parallel.hpp"
#include "training/gradient_hooks.hpp"

namespace {

using kymo::training::Replica;

class Bucketed final : public kymo::training::GradientExchange {
 public:
  Bucketed(const Replica& replica, double limit_mib, bool in_buffers, bool taper = false)
      : bucket_of_(replica.parameters.size()) {
    for (const std::vector<std::size_t>& members :
         kymo::training::assign_buckets(replica.parameters, limit_mib, taper)) {
      std::vector<at::Tensor> parameters;
      for (std::size_t i : members) {
        parameters.push_back(replica.parameters[i]);
        bucket_of_[i] = buckets_.size();
      }
      buckets_.push_back(make_bucket(*replica.communicator, std::move(parameters), in_buffers));
    }
    missing_.resize(buckets_.size());
    hooks_ = std::make_unique<kymo::training::GradientHooks>(replica.parameters,
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
  std::unique_ptr<kymo::training::GradientHooks> hooks_;
};

class DdpBucketed final : public kymo::training::DataParallelWorkload {
 public:
  static kymo::Descriptor describe() {
    return descriptor("ddp_bucketed",
                      "data-parallel training: one all-reduce per gradient bucket, started during backward as soon as "
                      "all gradients of the bucket are ready")
        .param("bucket_mb", kymo::Real{25}.at_least(0).unit("MiB").axis({1, 10, 100, 1000}),
               "maximum bucket size in MiB (2^20 bytes); a larger gradient has its own bucket. Buckets are filled in "
               "reverse parameter order")
        .param("taper", kymo::Bool{false},
               "also limit a bucket to half of the remaining bytes, down to 1 MiB: large buckets have the highest "
               "bandwidth, but nothing hides the transfer of the last one")
        .param("gradients", kymo::Choice{"auto", {"auto", "separate", "views"}}.axis({"separate", "views"}),
               "separate: individual tensors, whose calls NCCL launches as one group. views: gradients are views of "
               "the bucket's buffer, which must be zeroed and which backward accumulates into. auto: separate with "
               "NCCL, views with Gloo, which has no group calls");
  }

 protected:
  std::unique_ptr<kymo::training::GradientExchange> make_exchange(const Replica& replica) override {
    const std::string gradients = replica.ctx.text("gradients");
    const bool in_buffers =
        gradients == "auto" ? replica.communicator->backend() == kymo::comm::Backend::kGloo : gradients == "views";
    return std::make_unique<Bucketed>(replica, replica.ctx.real("bucket_mb"), in_buffers, replica.ctx.boolean("taper"));
  }
};

}  // namespace

KYMO_EXPORT_WORKLOADS(DdpBucketed)
