// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <kymo/communicator.hpp>
#include <memory>
#include <vector>

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

/// With `in_buffer`, the gradients are views of one buffer and there is one call; otherwise each has its own tensor and
/// the calls are issued as one group.
std::unique_ptr<Bucket> make_bucket(kymo::comm::Communicator& communicator, std::vector<at::Tensor> parameters,
                                    bool in_buffer);
