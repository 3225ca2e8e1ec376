// SPDX-License-Identifier: Apache-2.0
#include "loader.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include <set>
#include <string>

namespace kymo::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Bytes whose value and neighbour identify their position.
std::string counted(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(i % 251);
  return text;
}

std::vector<at::Tensor> batches(const std::string& text, std::uint64_t seed, bool prefetch, int count) {
  Loader loader(text, {.batch = 3, .context = 7}, seed, prefetch, at::kCPU);
  std::vector<at::Tensor> drawn;
  for (int i = 0; i < count; ++i) {
    drawn.push_back(at::empty({2, 3, 7}, at::TensorOptions().dtype(at::kLong)));
    loader.next(drawn.back());
  }
  return drawn;
}

TEST(Loader, PrefetchDrawsTheSameBatches) {
  const std::string text = counted(1000);
  const auto plain = batches(text, 5, false, 200), prefetched = batches(text, 5, true, 200);
  for (std::size_t i = 0; i < plain.size(); ++i) ASSERT_TRUE(at::equal(plain[i], prefetched[i])) << "batch " << i;
}

TEST(Loader, TheSeedDecidesTheOrder) {
  const std::string text = counted(1000);
  EXPECT_TRUE(at::equal(batches(text, 5, false, 1)[0], batches(text, 5, false, 1)[0]));
  EXPECT_FALSE(at::equal(batches(text, 5, false, 1)[0], batches(text, 6, false, 1)[0]));
}

TEST(Loader, TargetsAreTheBytesThatFollow) {
  const at::Tensor batch = batches(counted(251), 1, true, 1)[0];
  EXPECT_TRUE(at::equal(batch[0].narrow(1, 1, 6), batch[1].narrow(1, 0, 6)));
  EXPECT_TRUE(at::equal(batch[1], (batch[0] + 1).remainder(251)));
}

TEST(Loader, ClosesWhileABatchIsWaiting) { EXPECT_TRUE(batches(counted(100), 1, true, 0).empty()); }

TEST(Loader, GathersTheLastWindowWithTheByteThatFollows) {
  const std::string text = "abcde";
  ASSERT_EQ(window_count(text, 2, "training"), 2);
  std::vector<std::int64_t> out(8, -1);
  gather(text, {1, 0}, 2, out.data());
  EXPECT_THAT(out, ElementsAre('c', 'd', 'a', 'b', 'd', 'e', 'b', 'c'));
  EXPECT_EQ(window_count("abcd", 2, "training"), 1) << "the byte that follows the second window is missing";
  const std::string high = "\xff\x80";
  gather(high, {0}, 1, out.data());
  EXPECT_THAT(std::vector(out.begin(), out.begin() + 2), ElementsAre(255, 128));
}

TEST(WindowOrder, DrawsEveryWindowOncePerEpoch) {
  WindowOrder order(10, 3);
  std::vector<std::int64_t> first, second;
  for (int i = 0; i < 10; ++i) first.push_back(order.next());
  for (int i = 0; i < 10; ++i) second.push_back(order.next());
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 10u);
  EXPECT_EQ(std::set(second.begin(), second.end()).size(), 10u);
  EXPECT_NE(first, second);
}

TEST(WindowCount, RejectsAShortText) {
  EXPECT_THAT(
      [] { window_count("abc", 3, "held-out"); },
      ThrowsMessage<std::invalid_argument>("the held-out part of the text has 3 bytes; context=3 needs at least 4"));
  EXPECT_THAT([] { Loader("abc", {.batch = 1, .context = 3}, 0, true, at::kCPU); },
              ThrowsMessage<std::invalid_argument>(HasSubstr("training part")));
}

}  // namespace
}  // namespace kymo::text
