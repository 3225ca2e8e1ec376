// SPDX-License-Identifier: Apache-2.0
#include "training/zero1.hpp"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <stdexcept>

namespace kymo::training {

Zero1::Zero1(const torch::optim::OptimizerParamGroup& group, OptimizerFactory make, comm::Communicator& communicator,
             const Options& options, const std::vector<at::Tensor>& masters)
    : make_(std::move(make)), communicator_(communicator), options_(options) {
  if (!(options.bucket_bytes > 0)) throw std::invalid_argument("the bucket size of ZeRO must be above 0");
  add_group(group, masters);
}

void Zero1::add_group(const torch::optim::OptimizerParamGroup& group, const std::vector<at::Tensor>& masters) {
  if (group.has_options()) check_shardable(group.options());
  const std::vector<at::Tensor> parameters = unique_tensors(group.params());
  for (const at::Tensor& parameter : parameters) {
    if (known_.count(parameter.unsafeGetTensorImpl()))
      throw std::invalid_argument("a parameter appears in two groups; it must be in one");
    as_1d(parameter);  // throws unless it is dense
  }
  auto settings = group.has_options() ? group.options().clone() : default_settings(make_);
  const MasterWeights whole_masters(group.params(), masters);
  std::vector<at::Tensor> parts, part_masters;
  for (auto& together : split_by_bytes({parameters.rbegin(), parameters.rend()}, options_.bucket_bytes)) {
    make_bucket(std::move(together));
    parts.push_back(buckets_.back()->parameter_shard);
    part_masters.push_back(master_shard(*buckets_.back(), whole_masters));
  }
  if (masters.empty()) part_masters.clear();
  order_forward(parameters);
  for (const at::Tensor& parameter : parameters) known_.insert(parameter.unsafeGetTensorImpl());
  optimizers_.push_back(
      make_optimizer(make_, torch::optim::OptimizerParamGroup(std::move(parts), std::move(settings)), part_masters));
}

/// Buckets are in reverse order of the parameters, except that each has one type.
void Zero1::order_forward(const std::vector<at::Tensor>& parameters) {
  std::unordered_map<const void*, std::size_t> bucket_of;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket)
    for (const at::Tensor& tensor : buckets_[bucket]->layout.tensors())
      bucket_of[tensor.unsafeGetTensorImpl()] = bucket;
  std::size_t first = buckets_.size();
  const void* previous = nullptr;
  for (const at::Tensor& parameter : parameters) {
    first = std::min(first, bucket_of.at(parameter.unsafeGetTensorImpl()));
    if (parameter.dim() != 2) continue;
    if (previous) first_bucket_for_[previous] = first;
    previous = parameter.unsafeGetTensorImpl();
  }
  if (previous) first_bucket_for_[previous] = 0;
}

/// This rank's part of the master weights of a bucket, whose parameters have one type; undefined if they have none.
at::Tensor Zero1::master_shard(const Bucket& bucket, const MasterWeights& masters) const {
  const std::vector<at::Tensor> of_bucket = masters.of(bucket.layout.tensors());
  if (of_bucket.empty()) return {};
  const c10::NoGradGuard no_gradients;
  const at::Tensor whole = at::zeros_like(bucket.parameters, at::kFloat);
  for (std::size_t i = 0; i < of_bucket.size(); ++i) {
    if (!of_bucket[i].defined())
      throw std::invalid_argument(
          "ZeRO received master weights for some parameters of a type only; pass them for all or for none of the type");
    bucket.layout.view(whole, i).copy_(of_bucket[i]);
  }
  return bucket.layout.shard(whole, communicator_.rank()).clone();
}

void Zero1::make_bucket(std::vector<at::Tensor> parameters) {
  const std::size_t index = buckets_.size();
  auto bucket = std::make_unique<Bucket>(FlatLayout(std::move(parameters), communicator_.size()));
  bucket->parameters = bucket->layout.make_buffer();
  bucket->layout.move_into(bucket->parameters);
  expect_gradients(*bucket);
  bucket->parameter_shard = bucket->layout.shard(bucket->parameters, communicator_.rank());
  bucket->gradient_shard = bucket->layout.shard(bucket->layout.gradients(), communicator_.rank());
  bucket->parameter_shard.mutable_grad() = bucket->gradient_shard;
  if (options_.overlap)
    bucket->hooks = std::make_unique<GradientHooks>(bucket->layout.tensors(),
                                                    [this, index](std::size_t i) { on_gradient(index, i); });
  buckets_.push_back(std::move(bucket));
}

void Zero1::expect_gradients(Bucket& bucket) {
  bucket.work.reset();
  bucket.missing = bucket.layout.tensors().size();
  bucket.ready.assign(bucket.missing, false);
  bucket.layout.zero_gradients();
}

void Zero1::begin_step() {
  const c10::NoGradGuard no_gradients;
  next_ = 0;
  has_begun_gathers_ = false;
  for (const auto& bucket : buckets_) expect_gradients(*bucket);
}

void Zero1::on_gradient(std::size_t index, std::size_t parameter) {
  Bucket& bucket = *buckets_[index];
  if (bucket.work || bucket.ready[parameter])
    throw std::logic_error(
        "ZeRO received a second gradient of a parameter in one step; call begin_step() before each step, or disable "
        "overlap");
  collect(bucket, parameter);
  bucket.ready[parameter] = true;
  --bucket.missing;
  // A bucket that completes early waits for the previous ones: all ranks must send in the same order.
  while (next_ < buckets_.size() && buckets_[next_]->missing == 0) reduce(*buckets_[next_++]);
}

void Zero1::collect(Bucket& bucket, std::size_t index) {
  const c10::NoGradGuard no_gradients;
  const at::Tensor& parameter = bucket.layout.tensors()[index];
  const at::Tensor& view = bucket.layout.gradient(index);
  at::Tensor& gradient = parameter.mutable_grad();
  if (gradient.defined() && gradient.is_same(view)) return;
  if (!gradient.defined()) {
    view.zero_();
  } else if (gradient.const_data_ptr() != view.const_data_ptr()) {
    view.copy_(gradient);
  }
  gradient = view;
}

void Zero1::reduce(Bucket& bucket) {
  bucket.work =
      communicator_.reduce_scatter(bucket.gradient_shard, bucket.layout.gradients(), comm::Reduction::kAverage);
}

void Zero1::finish_step() {
  await_gathers(0);
  for (; next_ < buckets_.size(); ++next_) {
    Bucket& bucket = *buckets_[next_];
    for (std::size_t i = 0; i < bucket.layout.tensors().size(); ++i) collect(bucket, i);
    reduce(bucket);
  }
  for (const auto& bucket : buckets_) bucket->work->wait();
}

void Zero1::update() {
  for (const auto& optimizer : optimizers_) optimizer->step();
}

void Zero1::gather_parameters() {
  const c10::NoGradGuard no_gradients;
  std::vector<std::unique_ptr<comm::Work>> gathered;
  {
    const comm::Communicator::Group together(communicator_);
    for (const auto& bucket : buckets_)
      gathered.push_back(communicator_.all_gather(bucket->parameters, bucket->parameter_shard));
  }
  for (const auto& work : gathered) work->wait();
}

void Zero1::await_parameter(const at::Tensor& parameter) {
  if (!has_begun_gathers_) {
    const c10::NoGradGuard no_gradients;
    awaited_ = buckets_.size();
    for (std::size_t i = awaited_; i-- > 0;)  // in the order of the forward pass
      buckets_[i]->gather = communicator_.all_gather(buckets_[i]->parameters, buckets_[i]->parameter_shard);
    has_begun_gathers_ = true;
  }
  const auto found = first_bucket_for_.find(parameter.unsafeGetTensorImpl());
  if (found != first_bucket_for_.end()) await_gathers(found->second);
}

void Zero1::await_gathers(std::size_t first) {
  while (awaited_ > first) {
    Bucket& bucket = *buckets_[--awaited_];
    bucket.gather->wait();
    bucket.gather.reset();
  }
}

void Zero1::warm_up() {
  for (const auto& optimizer : optimizers_) training::warm_up(*optimizer);
  gather_parameters();
}

std::vector<at::Tensor> Zero1::state_tensors() const {
  std::vector<at::Tensor> all;
  for (const auto& optimizer : optimizers_) {
    const std::vector<at::Tensor> more = training::state_tensors(*optimizer);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<at::Tensor> Zero1::parameter_buffers() const {
  std::vector<at::Tensor> all;
  for (const auto& bucket : buckets_) all.push_back(bucket->parameters);
  return all;
}

std::vector<at::Tensor> Zero1::gradient_buffers() const {
  std::vector<at::Tensor> all;
  for (const auto& bucket : buckets_) all.push_back(bucket->layout.gradients());
  return all;
}

std::int64_t Zero1::owned_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& bucket : buckets_) bytes += static_cast<std::int64_t>(bucket->parameter_shard.nbytes());
  return bytes;
}

}  // namespace kymo::training
