// SPDX-License-Identifier: Apache-2.0
#include "training/buckets.hpp"

#include <algorithm>
#include <numeric>

namespace kymo::training {

std::vector<std::vector<std::size_t>> assign_buckets(const std::vector<std::int64_t>& sizes_bytes,
                                                     std::int64_t limit_bytes, bool taper) {
  constexpr std::int64_t kSmallestTaper = 1 << 20;
  std::vector<std::vector<std::size_t>> buckets;
  std::int64_t filled = 0, limit = limit_bytes,
               left = std::accumulate(sizes_bytes.begin(), sizes_bytes.end(), std::int64_t{0});
  for (std::size_t i = sizes_bytes.size(); i-- > 0;) {
    if (buckets.empty() || filled + sizes_bytes[i] > limit) {
      buckets.emplace_back();
      filled = 0;
      if (taper) limit = std::min(limit_bytes, std::max(left / 2, kSmallestTaper));
    }
    buckets.back().push_back(i);
    filled += sizes_bytes[i];
    left -= sizes_bytes[i];
  }
  return buckets;
}

std::vector<std::vector<std::size_t>> assign_buckets(const std::vector<at::Tensor>& parameters, double limit_mib,
                                                     bool taper) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(parameters.size());
  for (const at::Tensor& parameter : parameters) sizes.push_back(static_cast<std::int64_t>(parameter.nbytes()));
  // Beyond the range in which a double counts bytes exactly, there is a single bucket anyway.
  return assign_buckets(sizes, static_cast<std::int64_t>(std::min(limit_mib * 1048576.0, 9e15)), taper);
}

}  // namespace kymo::training
