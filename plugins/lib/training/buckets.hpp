// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kymo::training {

/// Which parameters share a bucket, as indices. The order is that of the backward pass, last parameter first, so that
/// buckets fill up one after the other. A bucket holds at most `limit_bytes`; a parameter that is larger has one to
/// itself. (Li et al., "PyTorch Distributed", VLDB 2020, section 3.2.3; there a bucket is closed once it has reached
/// the limit.) With `taper` it holds at most half of what is left as well, down to 1 MiB: large buckets travel fastest,
/// but nothing hides the transfer of the last one.
std::vector<std::vector<std::size_t>> assign_buckets(const std::vector<std::int64_t>& sizes_bytes,
                                                     std::int64_t limit_bytes, bool taper = false);

/// For the gradients of parameters, and a limit in MiB (2^20 bytes), which need not be whole.
std::vector<std::vector<std::size_t>> assign_buckets(const std::vector<at::Tensor>& parameters, double limit_mib,
                                                     bool taper = false);

}  // namespace kymo::training
