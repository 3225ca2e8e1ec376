// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <kymo/communicator.hpp>
#include <limits>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "training/flat_layout.hpp"
#include "training/gradient_hooks.hpp"
#include "training/sharded_optimizer.hpp"

namespace kymo::training {

/// ZeRO stage 1 (Rajbhandari et al., "ZeRO: Memory optimizations toward training trillion parameter models", 2020):
/// parameters and gradients live in flat buffers of N equal parts. The gradients are reduced and scattered, so that
/// each rank gets the mean of its own part alone; it updates that part, with 1/N of the optimizer's state; and all
/// parts are gathered again. A reduce-scatter and an all-gather send together what one all-reduce does. The optimizer
/// sees one flat tensor a bucket, so it must treat elements one by one, as FusedAdamW and LibTorch's own but LBFGS do.
///
/// The parameters are divided into buckets, from the last to the first, as backward makes their gradients. With
/// `overlap` the reduce-scatter of a bucket starts as soon as its gradients are there, in the order of the buckets on
/// all ranks.
///
/// A parameter stays the same tensor, but the address of its values changes once. A gradient is a view of its bucket:
/// begin_step() sets it to zero, and after finish_step() it holds the mean only where it lies in this rank's part. A
/// parameter that got no gradient is updated as with a gradient of zero, where an unsharded optimizer leaves it as it
/// is. Leave frozen parameters out. A tied one counts once.
class Zero1 {
 public:
  struct Options {
    double bucket_bytes = std::numeric_limits<double>::infinity();  ///< a larger parameter has a bucket of its own
    bool overlap = true;                                            ///< needs one backward pass a step
  };

  /// Throws std::invalid_argument for LBFGS, for buckets without size and for a parameter that is not dense. The
  /// communicator must outlive this.
  Zero1(const torch::optim::OptimizerParamGroup& group, OptimizerFactory make, comm::Communicator& communicator,
        const Options& options);
  Zero1(const Zero1&) = delete;
  Zero1& operator=(const Zero1&) = delete;

  /// Adds parameters with settings of their own, between steps; without settings they take the defaults. Throws
  /// std::invalid_argument if one is there already, and then changes nothing.
  void add_group(const torch::optim::OptimizerParamGroup& group);

  /// Before each forward pass: sets all gradients to zero, in their buckets.
  void begin_step();
  /// After backward: begins the reduce-scatters that no hook began, and waits for all. A gradient that is not in its
  /// bucket (one that the code around replaced) is copied there.
  void finish_step();
  /// Updates this rank's parts. Sends nothing.
  void update();
  /// Gathers the parts of all ranks into every parameter buffer.
  void share();

  /// Updates this rank's parts of a group; its settings may be changed between steps, on all ranks alike.
  torch::optim::Optimizer& optimizer(std::size_t group) { return *optimizers_.at(group); }
  /// What the state is held in, so far: many optimizers make it in the first step, FusedAdamW has it from the start.
  std::vector<at::Tensor> state_tensors() const;
  /// One a bucket, each of N equal parts; what the parameters do not fill is padding.
  std::vector<at::Tensor> parameter_buffers() const;
  std::vector<at::Tensor> gradient_buffers() const;
  /// Bytes of the parts of this rank, with padding.
  std::int64_t owned_bytes() const;

 private:
  struct Bucket {
    explicit Bucket(FlatLayout made) : layout(std::move(made)) {}
    FlatLayout layout;
    at::Tensor parameters, gradients;          // flat, whole
    at::Tensor parameter_part, gradient_part;  // this rank's
    std::vector<at::Tensor> views;             // of gradients, by parameter
    std::vector<bool> ready;                   // by parameter, in this step
    std::size_t missing = 0;                   // gradients that are not ready
    std::unique_ptr<comm::Work> work;          // in this step
    std::unique_ptr<GradientHooks> hooks;
  };

  void make_bucket(std::vector<at::Tensor> parameters);
  static void expect_gradients(Bucket& bucket);
  void on_gradient(std::size_t bucket, std::size_t index);
  static void collect(Bucket& bucket, std::size_t index);
  void reduce(Bucket& bucket);

  OptimizerFactory make_;
  comm::Communicator& communicator_;
  Options options_;
  std::vector<std::unique_ptr<torch::optim::Optimizer>> optimizers_;  // by group
  std::vector<std::unique_ptr<Bucket>> buckets_;
  std::unordered_set<const void*> known_;  // parameters
  std::size_t next_ = 0;                   // the first bucket that is not being reduced yet
};

}  // namespace kymo::training
