// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <kymo/communicator.hpp>
#include <limits>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "training/flat_layout.hpp"
#include "training/gradient_hooks.hpp"
#include "training/sharded_optimizer.hpp"

namespace kymo::training {

/// ZeRO stage 1 (Rajbhandari et al., "ZeRO: Memory optimizations toward training trillion parameter models", 2020):
/// parameters and gradients are stored in flat buffers of N equal parts. A reduce-scatter gives each rank the mean
/// gradients of its own part; the rank updates that part, with 1/N of the optimizer state; an all-gather distributes
/// all parts. A reduce-scatter and an all-gather together send as many bytes as one all-reduce. The optimizer sees one
/// flat tensor per bucket, so it must be element-wise, like FusedAdamW and LibTorch's optimizers except LBFGS.
///
/// The parameters are divided into buckets, from last to first, in the order in which backward computes their
/// gradients. With `overlap`, the reduce-scatter of a bucket starts as soon as its gradients are ready, in bucket order
/// on all ranks.
///
/// A parameter stays the same tensor, but its address changes once. A gradient is a view of its bucket: begin_step()
/// zeroes it, and after finish_step() it contains the mean only in this rank's part. A parameter without a gradient is
/// updated as if its gradient were zero, whereas an unsharded optimizer leaves it unchanged. Leave out frozen
/// parameters. A tied parameter counts once.
class Zero1 {
 public:
  struct Options {
    double bucket_bytes = std::numeric_limits<double>::infinity();  ///< a larger parameter has its own bucket
    bool overlap = true;                                            ///< requires one backward pass per step
  };

  /// `masters` are the fp32 master weights of the parameters for FusedAdamW, or empty; a rank holds those of its parts,
  /// and parameters are gathered in their own type. Throws std::invalid_argument for LBFGS, for a bucket size of 0, for
  /// a parameter that is not dense, for master weights of only some parameters of a type, and like make_optimizer().
  /// The communicator must outlive this object.
  Zero1(const torch::optim::OptimizerParamGroup& group, OptimizerFactory make, comm::Communicator& communicator,
        const Options& options, const std::vector<at::Tensor>& masters = {});
  Zero1(const Zero1&) = delete;
  Zero1& operator=(const Zero1&) = delete;

  /// Adds parameters with their own settings between steps; without settings they use the defaults. Throws
  /// std::invalid_argument if one is already present, without changing anything.
  void add_group(const torch::optim::OptimizerParamGroup& group, const std::vector<at::Tensor>& masters = {});

  /// Call before each forward pass: zeroes all gradients in their buckets.
  void begin_step();
  /// Call after backward: starts the reduce-scatters that no hook started, and waits for all. A gradient that is not in
  /// its bucket (because the caller replaced it) is copied there.
  void finish_step();
  /// Updates this rank's parts. Does not communicate.
  void update();
  /// All-gathers the parts into every parameter buffer.
  void gather_parameters();
  /// Instead of gather_parameters(), so that the all-gathers overlap with the next forward pass: call with each
  /// parameter of two dimensions before it is used. The first call after begin_step() starts the all-gathers, and each
  /// waits for the parameters up to the next one of two dimensions.
  void await_parameter(const at::Tensor& parameter);
  /// Runs the kernels and all-gathers of update() and gather_parameters() without changing parameters or state.
  void warm_up();

  /// Current state tensors: many optimizers allocate them in the first step, FusedAdamW at construction.
  std::vector<at::Tensor> state_tensors() const;
  /// One per bucket, each with N equal parts; the rest is padding.
  std::vector<at::Tensor> parameter_buffers() const;
  std::vector<at::Tensor> gradient_buffers() const;
  /// Bytes of this rank's parts, including padding.
  std::int64_t owned_bytes() const;

 private:
  struct Bucket {
    explicit Bucket(FlatLayout flat) : layout(std::move(flat)) {}
    FlatLayout layout;
    at::Tensor parameters;                       // flat, all shards
    at::Tensor parameter_shard, gradient_shard;  // this rank's
    std::vector<bool> ready;                     // per parameter, in this step
    std::size_t missing = 0;                     // gradients that are not ready
    std::unique_ptr<comm::Work> work;            // in this step
    std::unique_ptr<comm::Work> gather;          // that await_parameter() started
    std::unique_ptr<GradientHooks> hooks;
  };

  void make_bucket(std::vector<at::Tensor> parameters);
  void await_gathers(std::size_t first);
  void order_forward(const std::vector<at::Tensor>& parameters);
  at::Tensor master_shard(const Bucket& bucket, const MasterWeights& masters) const;
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
  std::size_t next_ = 0;                   // first bucket whose reduction has not started

  std::unordered_map<const void*, std::size_t>
      first_bucket_for_;            // first bucket that await_parameter() waits for, by parameter
  std::size_t awaited_ = 0;         // first bucket whose gather await_parameter() has awaited
  bool has_begun_gathers_ = false;  // await_parameter() was called in this step
};

}  // namespace kymo::training
