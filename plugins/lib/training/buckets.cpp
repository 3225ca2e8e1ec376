// SPDX-License-Identifier: Apache-2.0
#include "training/buckets.hpp"

#include <algorithm>

namespace kymo::training {

std::vector<std::vector<std::size_t>> assign_buckets(const std::vector<std::int64_t>& sizes_bytes, std::int64_t limit_bytes) {
  std::vector<std::vector<std::size_t>> buckets;
  std::int64_t filled = 0;
  for (std::size_t i = sizes_bytes.size(); i-- > 0;) {
    if (buckets.empty() || filled + sizes_bytes[i] > limit_bytes) {
      buckets.emplace_back();
      filled = 0;
    }
    buckets.back().push_back(i);
    filled += sizes_bytes[i];
  }
  return buckets;
}

std::vector<std::vector<std::size_t>> assign_buckets(const std::vector<at::Tensor>& parameters, double limit_mib) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(parameters.size());
  for (const at::Tensor& parameter : parameters) sizes.push_back(static_cast<std::int64_t>(parameter.nbytes()));
  // Past what a double can count in bytes there is one bucket anyway.
  return assign_buckets(sizes, static_cast<std::int64_t>(std::min(limit_mib * 1048576.0, 9e15)));
}

}  // namespace kymo::training
