// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/empty.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "training/flat_layout.hpp"
#include "training/trained_model.hpp"

namespace kymo::training {
namespace {

using testing::ElementsAre;
using Bucket = std::vector<std::size_t>;

/// Indices of the parameters in each bucket, which are filled from the last parameter to the first.
std::vector<Bucket> assign_buckets(const std::vector<at::Tensor>& parameters, double limit_mib, bool taper = false) {
  std::vector<Bucket> buckets;
  for (const auto& members : split_by_bytes({parameters.rbegin(), parameters.rend()}, limit_mib * 1048576.0, taper)) {
    buckets.emplace_back();
    for (const at::Tensor& member : members)
      buckets.back().push_back(
          static_cast<std::size_t>(std::find_if(parameters.begin(), parameters.end(),
                                                [&](const at::Tensor& one) { return one.is_same(member); }) -
                                   parameters.begin()));
  }
  return buckets;
}

std::vector<Bucket> assign_buckets(const std::vector<std::int64_t>& sizes_bytes, std::int64_t limit_bytes,
                                   bool taper = false) {
  std::vector<at::Tensor> parameters;
  for (const std::int64_t size : sizes_bytes) parameters.push_back(at::empty({size}, at::kByte));
  return assign_buckets(parameters, static_cast<double>(limit_bytes) / 1048576.0, taper);
}

TEST(Buckets, FillInReverseOrderUpToTheLimit) {
  EXPECT_THAT(assign_buckets({10, 20, 30, 40}, 70), ElementsAre(Bucket{3, 2}, Bucket{1, 0}));
  EXPECT_THAT(assign_buckets({10, 20, 30, 40}, 69), ElementsAre(Bucket{3}, Bucket{2, 1, 0}));
  EXPECT_THAT(assign_buckets({10, 20, 30, 40}, 100), ElementsAre(Bucket{3, 2, 1, 0}));
}

TEST(Buckets, GiveALargeParameterOneToItself) {
  EXPECT_THAT(assign_buckets({5, 100, 5, 5}, 10), ElementsAre(Bucket{3, 2}, Bucket{1}, Bucket{0}));
  EXPECT_THAT(assign_buckets({100, 100}, 1), ElementsAre(Bucket{1}, Bucket{0}));
  EXPECT_THAT(assign_buckets({4, 4}, 0), ElementsAre(Bucket{1}, Bucket{0}));
}

TEST(Buckets, TaperedHoldAtMostHalfOfWhatIsLeft) {
  const std::int64_t mib = 1 << 20;
  const std::vector<std::int64_t> even(16, mib);
  std::vector<std::size_t> held;
  for (const Bucket& bucket : assign_buckets(even, 1000 * mib, true)) held.push_back(bucket.size());
  EXPECT_THAT(held, ElementsAre(8, 4, 2, 1, 1));
  held.clear();
  for (const Bucket& bucket : assign_buckets(even, 3 * mib, true)) held.push_back(bucket.size());
  EXPECT_THAT(held, ElementsAre(3, 3, 3, 3, 2, 1, 1));
}

TEST(Buckets, TaperOnlyDownToOneMebibyte) {
  EXPECT_THAT(assign_buckets({10, 20, 30, 40}, 1000, true), ElementsAre(Bucket{3, 2, 1, 0}));
  EXPECT_THAT(assign_buckets({10, 20, 30, 40}, 70, true), ElementsAre(Bucket{3, 2}, Bucket{1, 0}));
}

/// With master weights, matrices are bf16 and norms fp32: a norm between two matrices does not close their bucket.
TEST(Buckets, FillOneForEachType) {
  const auto matrix = [](std::int64_t elements) { return at::empty({elements}, at::kBFloat16); };
  const auto norm = [] { return at::empty({4}, at::kFloat); };
  const std::vector<at::Tensor> parameters{
      at::empty({50}, at::kFloat), norm(), matrix(20), matrix(30), norm(), matrix(40)};
  EXPECT_THAT(assign_buckets(parameters, 1), ElementsAre(Bucket{5, 3, 2}, Bucket{4, 1, 0}));
  EXPECT_THAT(assign_buckets(parameters, 150.0 / 1048576),
              ElementsAre(Bucket{5, 3}, Bucket{2}, Bucket{4, 1}, Bucket{0}))
      << "in the order in which they are complete";
  EXPECT_EQ(split_by_type(parameters).size(), 2u);
}

TEST(Buckets, OfNothing) { EXPECT_TRUE(assign_buckets(std::vector<std::int64_t>{}, 10).empty()); }

/// The toy model has weights of 400, 2000 and 1000 bytes.
TEST(Buckets, OfAModelBySize) {
  const auto toy = make_model({"toy"}, at::kCPU, 1)->trained();
  ASSERT_EQ(toy.size(), 3u);
  EXPECT_THAT(assign_buckets(toy, 0.0001), ElementsAre(Bucket{2}, Bucket{1}, Bucket{0}));  // 104 bytes
  EXPECT_THAT(assign_buckets(toy, 0.0016), ElementsAre(Bucket{2}, Bucket{1}, Bucket{0}));  // 1677
  EXPECT_THAT(assign_buckets(toy, 0.0023), ElementsAre(Bucket{2}, Bucket{1, 0}));          // 2411
  EXPECT_THAT(assign_buckets(toy, 0.01), ElementsAre(Bucket{2, 1, 0}));                    // 10485
  for (const double limit : {1.0, 1000.0, 1e300})
    EXPECT_THAT(assign_buckets(toy, limit), ElementsAre(Bucket{2, 1, 0})) << limit;
}

TEST(Buckets, CountInMebibytes) {
  std::vector<at::Tensor> parameters;
  for (int i = 0; i < 3; ++i) parameters.push_back(at::empty({1 << 17}, at::kFloat));  // half a MiB each
  EXPECT_THAT(assign_buckets(parameters, 1), ElementsAre(Bucket{2, 1}, Bucket{0}));
}

TEST(Buckets, HoldEachParameterOnce) {
  const auto tiny = make_model({"tiny", 16, 100}, at::kCPU, 1)->trained();
  for (const double limit : {0.0001, 0.0016, 0.01, 0.05, 1.0, 1000.0}) {
    Bucket all;
    for (const Bucket& bucket : assign_buckets(tiny, limit)) all.insert(all.end(), bucket.begin(), bucket.end());
    ASSERT_EQ(all.size(), tiny.size()) << limit;
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], tiny.size() - 1 - i) << limit;
  }
}

}  // namespace
}  // namespace kymo::training
