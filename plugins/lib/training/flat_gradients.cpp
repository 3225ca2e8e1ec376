// SPDX-License-Identifier: Apache-2.0
#include "training/flat_gradients.hpp"

#include <ATen/ops/zeros.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace kymo::training {
namespace {

constexpr std::int64_t kAlignmentBytes = 128;

void check(const std::vector<at::Tensor>& parameters) {
  if (parameters.empty()) throw std::invalid_argument("a flat gradient buffer needs at least one trained parameter");
  const at::Tensor& first = parameters.front();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const at::Tensor& parameter = parameters[i];
    if (parameter.scalar_type() == first.scalar_type() && parameter.device() == first.device() &&
        parameter.is_contiguous())
      continue;
    throw std::invalid_argument("parameter " + std::to_string(i) +
                                " does not fit into the flat buffer: all parameters must be contiguous, of type " +
                                c10::toString(first.scalar_type()) + " and on " + first.device().str());
  }
}

}  // namespace

FlatGradients::FlatGradients(std::vector<at::Tensor> parameters) : parameters_(std::move(parameters)) {
  check(parameters_);
  const at::Tensor& first = parameters_.front();
  const auto unit = kAlignmentBytes / static_cast<std::int64_t>(first.element_size());
  std::vector<std::int64_t> offsets;
  std::int64_t length = 0;
  for (const at::Tensor& parameter : parameters_) {
    length = (length + unit - 1) / unit * unit;
    offsets.push_back(length);
    length += parameter.numel();
  }
  buffer_ = at::zeros({length}, first.options().requires_grad(false));
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    views_.push_back(buffer_.narrow(0, offsets[i], parameters_[i].numel()).view_as(parameters_[i]));
}

void FlatGradients::zero() {
  buffer_.zero_();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor& gradient = parameters_[i].mutable_grad();
    if (!gradient.is_same(views_[i])) gradient = views_[i];
  }
}

}  // namespace kymo::training
