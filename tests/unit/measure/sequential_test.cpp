// SPDX-License-Identifier: Apache-2.0
#include "measure/sequential.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.hpp"

namespace kymo::measure {
namespace {

/// Medians of runs: a candidate's time, times log-normal noise between runs.
class Runs {
 public:
  Runs(std::vector<double> times, double noise, std::uint64_t seed)
      : times_(std::move(times)), noise_(noise), random_(seed) {}
  std::vector<double> round() {
    std::vector<double> values;
    for (const double time : times_) values.push_back(time * std::exp(noise_ * normal_(random_)));
    return values;
  }

 private:
  std::vector<double> times_;
  double noise_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

SequentialComparison experiment(const std::vector<double>& times, double noise, std::uint64_t seed) {
  SequentialComparison found(times.size(), kDefaultMargin);
  Runs runs(times, noise, seed);
  while (found.add_round(runs.round())) {
  }
  return found;
}

bool differs(const SequentialComparison::Pair& pair) {
  return pair.result.verdict == Verdict::kFaster || pair.result.verdict == Verdict::kSlower;
}

TEST(LevelOfEachLook, IsThatOfPocock) {
  // Table 2.1 of Jennison and Turnbull, Group Sequential Methods, 2000: boundaries 2.178, 2.289, 2.413 and 2.555.
  EXPECT_NEAR(level_of_each_look({1}, 0.05), 0.05, 1e-4);
  EXPECT_NEAR(level_of_each_look({1, 2}, 0.05), 0.0294, 2e-4);
  EXPECT_NEAR(level_of_each_look({1, 2, 3}, 0.05), 0.0221, 2e-4);
  EXPECT_NEAR(level_of_each_look({1, 2, 3, 4, 5}, 0.05), 0.0158, 2e-4);
  EXPECT_NEAR(level_of_each_look({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.05), 0.0106, 2e-4);
  EXPECT_THROW(level_of_each_look({}, 0.05), Error);
  EXPECT_THROW(level_of_each_look({1}, 0), Error);
}

TEST(SequentialComparison, CanDecideAtTheFirstLook) {
  // The smallest p-value of five runs per side is 2/252.
  EXPECT_GT(SequentialComparison(2, kDefaultMargin).level(), 2.0 / 252);
  const SequentialComparison found = experiment({100, 90}, 0.005, 1);
  EXPECT_EQ(found.rounds(), 5u);
  EXPECT_EQ(found.pairs().at(0).result.verdict, Verdict::kFaster);
  EXPECT_NEAR(found.pairs().at(0).result.ratio, 0.9, 0.01);
}

TEST(SequentialComparison, ReportsFewFalseDifferences) {
  int different = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    different += differs(experiment({1e6, 1e6}, seed % 2 == 0 ? 0.01 : 0.05, seed).pairs().at(0)) ? 1 : 0;
  EXPECT_LE(different, 10);  // 5 %
}

TEST(SequentialComparison, ReportsFewFalseDifferencesBetweenSeveralCandidates) {
  int different = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const SequentialComparison found = experiment({1e6, 1e6, 1e6}, 0.04, seed);
    different += std::ranges::any_of(found.pairs(), differs) ? 1 : 0;
  }
  EXPECT_LE(different, 3);  // 5 %
}

TEST(SequentialComparison, FindsADifferenceOfFivePercent) {
  int slower = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    slower += experiment({1e6, 1.05e6}, 0.03, seed).pairs().at(0).result.verdict == Verdict::kSlower ? 1 : 0;
  EXPECT_GE(slower, 19);
}

TEST(SequentialComparison, StopsWhenCandidatesAreTheSame) {
  const SequentialComparison found = experiment({1e6, 1e6}, 0.002, 3);
  EXPECT_EQ(found.pairs().at(0).result.verdict, Verdict::kSame);
  EXPECT_LT(found.rounds(), SequentialComparison::kLooks.back());
}

TEST(SequentialComparison, StopsAtTheLastLook) {
  const SequentialComparison found = experiment({1e6, 1.001e6}, 0.2, 4);
  EXPECT_EQ(found.rounds(), SequentialComparison::kLooks.back());
  EXPECT_EQ(found.pairs().at(0).result.verdict, Verdict::kAmbiguous);
}

TEST(SequentialComparison, LooksOnceMoreWhenTheTimeIsOver) {
  SequentialComparison found(2, kDefaultMargin);
  Runs runs({100, 110}, 0.001, 5);
  for (int round = 0; round < 3; ++round) EXPECT_TRUE(found.add_round(runs.round()));
  EXPECT_EQ(found.pairs().at(0).runs, 0u);
  found.finish();
  EXPECT_EQ(found.pairs().at(0).runs, 3u);
  EXPECT_EQ(found.pairs().at(0).result.verdict, Verdict::kAmbiguous) << "too few runs";
  EXPECT_NEAR(found.pairs().at(0).result.ratio, 1.1, 0.01);
  EXPECT_THROW(SequentialComparison(1, kDefaultMargin), Error);
}

/// Fastest steps of runs, of which nearly half share their core with another process all the time.
SequentialComparison disturbed_experiment(double ratio, std::uint64_t seed, SequentialComparison::Values compared) {
  SequentialComparison found(2, kDefaultMargin, compared);
  Runs runs({100, 100 * ratio}, 0.015, seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform;
  for (bool open = true; open;) {
    std::vector<double> values = runs.round();
    for (double& value : values)
      if (uniform(random) < 0.45) value *= 1.3 + 0.3 * uniform(random);
    open = found.add_round(values);
  }
  return found;
}

TEST(SequentialComparison, OfUndisturbedRunsFindsADifferenceThatOtherProcessesHide) {
  using enum SequentialComparison::Values;
  int different = 0, found = 0, found_in_all = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    different += differs(disturbed_experiment(1, seed, kUndisturbed).pairs().at(0)) ? 1 : 0;
    found += disturbed_experiment(1.05, seed, kUndisturbed).pairs().at(0).result.verdict == Verdict::kSlower ? 1 : 0;
    if (seed < 20) found_in_all += differs(disturbed_experiment(1.05, seed, kAll).pairs().at(0)) ? 1 : 0;
  }
  EXPECT_LE(different, 3);
  EXPECT_EQ(found, 50);
  EXPECT_LT(found_in_all, 15) << "of 20";
}

}  // namespace
}  // namespace kymo::measure
