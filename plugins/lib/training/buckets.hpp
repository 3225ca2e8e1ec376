// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kymo::training {

/// Assigns parameter indices to buckets, in the order of the backward pass (last parameter first), so that buckets fill
/// up one after another. A bucket holds at most `limit_bytes`; a larger parameter has its own bucket. (Li et al.,
/// "PyTorch Distributed", VLDB 2020, section 3.2.3; there a bucket is closed once it has reached the limit.) With
/// `taper`, a bucket also holds at most half of the remaining bytes, down to 1 MiB: large buckets have the highest
/// bandwidth, but nothing hides the transfer of the last one.
std::vector<std::vector<std::size_t>> assign_buckets(const std::vector<std::int64_t>& sizes_bytes,
                                                     std::int64_t limit_bytes, bool taper = false);

/// For the gradients of parameters, with a limit in MiB (2^20 bytes), which may be fractional.
std::vector<std::vector<std::size_t>> assign_buckets(const std::vector<at::Tensor>& parameters, double limit_mib,
                                                     bool taper = false);

}  // namespace kymo::training
