// SPDX-License-Identifier: Apache-2.0
#include "measure/change_point.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/error.hpp"

namespace kymo::measure {
namespace {

using Commits = std::vector<std::vector<double>>;

constexpr double kSpread = 0.01;  // of the commits and of the runs of a commit
constexpr std::size_t kRuns = 5;

/// Box-Muller: the same on every standard library.
double gaussian(std::mt19937_64& random) {
  const double u = (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0;
  const double v = static_cast<double>(random() >> 11) / 9007199254740992.0;
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
}

/// Student's t with three degrees of freedom: some values are far from the others.
double heavy_tailed(std::mt19937_64& random) {
  double squares = 0;
  for (int i = 0; i < 3; ++i) squares += std::pow(gaussian(random), 2);
  return gaussian(random) / std::sqrt(squares / 3);
}

/// The runs of a commit share the state of the machine, which differs between commits.
template <typename Noise>
Commits series(std::mt19937_64& random, const std::vector<double>& times, Noise noise) {
  Commits commits;
  for (const double time : times) {
    const double state = kSpread * noise(random);
    std::vector<double>& runs = commits.emplace_back();
    for (std::size_t i = 0; i < kRuns; ++i) runs.push_back(time * std::exp(state + kSpread * noise(random)));
  }
  return commits;
}

/// `count` commits, whose time is 1 and from each of the given commits on changes by a factor.
std::vector<double> times(std::size_t count, const std::vector<std::pair<std::size_t, double>>& changes = {}) {
  std::vector<double> values(count, 1);
  for (const auto& [commit, factor] : changes)
    for (std::size_t i = commit; i < count; ++i) values[i] *= factor;
  return values;
}

template <typename Noise>
double false_share(std::size_t count, Noise noise) {
  constexpr int kSeries = 1000;
  std::mt19937_64 random(count);
  int found = 0;
  for (int i = 0; i < kSeries; ++i) found += find_change_points(series(random, times(count), noise)).empty() ? 0 : 1;
  return static_cast<double>(found) / kSeries;
}

std::vector<std::size_t> positions(const std::vector<ChangePoint>& changes) {
  std::vector<std::size_t> found;
  for (const ChangePoint& change : changes) found.push_back(change.commit);
  return found;
}

TEST(ChangePoints, AreRarelyFoundWithoutAChange) {
  for (const std::size_t count : {4u, 6u, 10u, 20u, 50u})
    EXPECT_LE(false_share(count, gaussian), kChangeLevel) << count;
}

TEST(ChangePoints, AreRarelyFoundInNoiseWithOutliers) {
  // The level holds for normal noise; the bound of the number of comparisons leaves room for other noise.
  for (const std::size_t count : {4u, 10u, 20u}) EXPECT_LE(false_share(count, heavy_tailed), 2 * kChangeLevel) << count;
}

TEST(ChangePoints, AreFoundWhereTheyAre) {
  std::mt19937_64 random(3);
  int exact = 0;
  constexpr int kSeries = 200;
  for (int i = 0; i < kSeries; ++i) {
    const auto found = find_change_points(series(random, times(20, {{12, 1.05}}), gaussian));
    exact += positions(found) == std::vector<std::size_t>{12} ? 1 : 0;
  }
  EXPECT_GE(exact, kSeries * 8 / 10);
}

TEST(ChangePoints, HaveTheRatioAndTheStretchesOfTheirRuns) {
  std::mt19937_64 random(5);
  const auto found = find_change_points(series(random, times(20, {{12, 1.1}}), gaussian));
  ASSERT_EQ(positions(found), std::vector<std::size_t>{12});
  EXPECT_EQ(found[0].begin, 0u);
  EXPECT_EQ(found[0].end, 20u);
  EXPECT_EQ(found[0].found.verdict, Verdict::kSlower);
  EXPECT_NEAR(found[0].found.ratio, 1.1, 0.02);
}

TEST(ChangePoints, OfARegressionThatWasFixedAreBothFound) {
  std::mt19937_64 random(7);
  const auto found = find_change_points(series(random, times(24, {{8, 1.1}, {16, 1 / 1.1}}), gaussian));
  ASSERT_EQ(positions(found), (std::vector<std::size_t>{8, 16}));
  EXPECT_EQ(found[0].found.verdict, Verdict::kSlower);
  EXPECT_EQ(found[1].found.verdict, Verdict::kFaster);
  EXPECT_EQ(found[1].begin, 8u);
}

TEST(ChangePoints, NeedTwoCommitsOnEachSide) {
  std::mt19937_64 random(9);
  EXPECT_EQ(positions(find_change_points(series(random, times(4, {{2, 2}}), gaussian))), std::vector<std::size_t>{2});
  EXPECT_TRUE(find_change_points(series(random, times(4, {{3, 2}}), gaussian)).empty());
  EXPECT_TRUE(find_change_points(series(random, times(3, {{1, 2}}), gaussian)).empty());
  EXPECT_TRUE(find_change_points({}).empty());
}

TEST(ChangePoints, AreNotFoundWithinTheMargin) {
  const Commits constant(6, std::vector<double>(kRuns, 100));
  EXPECT_TRUE(find_change_points(constant).empty());
  Commits changed = constant;
  for (std::size_t i = 3; i < changed.size(); ++i) changed[i].assign(kRuns, 100.5);
  EXPECT_TRUE(find_change_points(changed).empty());
  EXPECT_EQ(positions(find_change_points(changed, 0.001)), std::vector<std::size_t>{3});
}

TEST(ChangePoints, NeedFiveRunsOnEachSide) {
  Commits commits(6, std::vector<double>(2, 100));
  for (std::size_t i = 4; i < commits.size(); ++i) commits[i].assign(2, 200);
  EXPECT_TRUE(find_change_points(commits).empty());  // four runs after the change
  commits[5].push_back(200);
  EXPECT_EQ(positions(find_change_points(commits)), std::vector<std::size_t>{4});
}

TEST(ChangePoints, RejectWhatIsNoTime) {
  EXPECT_THROW(find_change_points({{1}, {}, {1}}), Error);
  EXPECT_THROW(find_change_points({{1}, {0}}), Error);
}

}  // namespace
}  // namespace kymo::measure
