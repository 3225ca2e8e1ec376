// SPDX-License-Identifier: Apache-2.0
#include "measure/comparison.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "base/error.hpp"

namespace kymo::measure {
namespace {

constexpr double kMargin = 0.01;
using Figures = std::vector<double>;

/// The same probability by enumerating all possible selections of the first side.
double by_enumeration(const Figures& first, const Figures& second) {
  Figures all = first;
  all.insert(all.end(), second.begin(), second.end());
  const auto rank = [&](double figure) {
    double position = 0.5;
    for (const double other : all) position += other < figure ? 1 : other == figure ? 0.5 : 0;
    return position;
  };
  const double middle = static_cast<double>(first.size()) * (static_cast<double>(all.size()) + 1) / 2;
  double own = 0;
  for (const double figure : first) own += rank(figure);
  double ways = 0;
  double as_far = 0;
  for (std::uint32_t drawn = 0; drawn < (1U << all.size()); ++drawn) {
    if (std::popcount(drawn) != static_cast<int>(first.size())) continue;
    double sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (drawn >> i & 1U) sum += rank(all[i]);
    ++ways;
    if (std::abs(sum - middle) >= std::abs(own - middle) - 1e-9) ++as_far;
  }
  return as_far / ways;
}

/// A process whose runs vary by some percent, log-normal.
Figures runs(std::mt19937_64& random, std::size_t count, double median, double spread) {
  Figures figures(count);
  for (double& figure : figures) {
    // Box-Muller: the same on every standard library.
    const double u = (static_cast<double>(random() >> 11) + 0.5) / 9007199254740992.0;
    const double v = static_cast<double>(random() >> 11) / 9007199254740992.0;
    figure = median * std::exp(spread * std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v));
  }
  return figures;
}

TEST(RankSum, KnowsTheWorkedExample) {
  // No overlap: 2 of C(10, 5) selections.
  EXPECT_DOUBLE_EQ(rank_sum_probability({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}), 2.0 / 252);
  EXPECT_DOUBLE_EQ(rank_sum_probability({1}, {2}), 1);
  EXPECT_DOUBLE_EQ(rank_sum_probability({3, 3, 3}, {3, 3}), 1);
}

TEST(RankSum, IsWhatCountingAllDrawsGives) {
  std::mt19937_64 random(7);
  for (int example = 0; example < 60; ++example) {
    Figures first(1 + random() % 6);
    Figures second(1 + random() % 6);
    // Few values, so that most examples have ties.
    for (double& figure : first) figure = static_cast<double>(1 + random() % 6);
    for (double& figure : second) figure = static_cast<double>(1 + random() % 7);
    EXPECT_NEAR(rank_sum_probability(first, second), by_enumeration(first, second), 1e-12);
    EXPECT_NEAR(rank_sum_probability(first, second), rank_sum_probability(second, first), 1e-12);
  }
}

TEST(RankSum, TheApproximationContinuesTheCount) {
  // 30 against 30 is enumerated, one more on each side is approximated. Both sides are interleaved with an offset of
  // `shift` positions.
  for (const int shift : {0, 3, 8, 12}) {
    Figures first, second;
    for (int i = 0; i < 30; ++i) {
      first.push_back(2 * i);
      second.push_back(2 * i + 1 + 2 * shift);
    }
    const double counted = rank_sum_probability(first, second);
    first.push_back(28);
    second.push_back(29 + 2 * shift);
    EXPECT_NEAR(rank_sum_probability(first, second), counted, 0.02) << shift;
  }
  EXPECT_DOUBLE_EQ(rank_sum_probability(Figures(40, 1.0), Figures(40, 1.0)), 1);
}

TEST(Compare, TellsFasterFromSlower) {
  const Figures before = {10.0, 10.1, 9.9, 10.2, 9.8};
  const Figures after = {9.0, 9.1, 8.9, 9.2, 8.8};
  const Comparison faster = compare(before, after, kMargin);
  EXPECT_EQ(faster.verdict, Verdict::kFaster);
  EXPECT_DOUBLE_EQ(faster.ratio, 0.9);
  EXPECT_DOUBLE_EQ(*faster.probability, 2.0 / 252);
  EXPECT_LT(*faster.low, 0.9);
  EXPECT_GT(*faster.high, 0.9);
  EXPECT_LT(*faster.high, 1);
  EXPECT_FALSE(faster.more_runs);
  const Comparison slower = compare(after, before, kMargin);
  EXPECT_EQ(slower.verdict, Verdict::kSlower);
  EXPECT_NEAR(slower.ratio, 1 / 0.9, 1e-12);
}

/// For two sides of `runs` runs each that do not overlap, or in which the slowest run of the first and the fastest of
/// the second are swapped.
double probability_of(std::int64_t runs, bool one_pair_out_of_order) {
  Figures first, second;
  for (std::int64_t i = 1; i <= runs; ++i) {
    first.push_back(static_cast<double>(i));
    second.push_back(static_cast<double>(runs + i));
  }
  if (one_pair_out_of_order) std::swap(first.back(), second.front());
  return rank_sum_probability(first, second);
}

TEST(Compare, TheFewestRunsFollowFromTheSignificance) {
  EXPECT_DOUBLE_EQ(probability_of(3, false), 2.0 / 20);
  EXPECT_DOUBLE_EQ(probability_of(4, false), 2.0 / 70);
  EXPECT_DOUBLE_EQ(probability_of(4, true), 4.0 / 70);
  EXPECT_DOUBLE_EQ(probability_of(5, false), 2.0 / 252);
  EXPECT_DOUBLE_EQ(probability_of(5, true), 4.0 / 252);
  std::int64_t fewest = 2;
  while (probability_of(fewest, true) >= kRankSignificance) ++fewest;
  EXPECT_EQ(kRunsForVerdict, fewest);
}

TEST(Compare, OneRunFewerThanTheFewestDecidesNothing) {
  const auto fewest = static_cast<std::size_t>(kRunsForVerdict);
  const Figures before(fewest, 10.0), after(fewest, 5.0), too_few(fewest - 1, 10.0);
  EXPECT_EQ(compare(before, after, kMargin).verdict, Verdict::kFaster);
  EXPECT_EQ(compare(too_few, after, kMargin).verdict, Verdict::kAmbiguous);
  EXPECT_EQ(compare(after, too_few, kMargin).verdict, Verdict::kAmbiguous);
}

TEST(Compare, FiguresThatAgreeWithinTheMarginAreTheSame) {
  EXPECT_EQ(compare(Figures(5, 3.0), Figures(5, 3.0), kMargin).verdict, Verdict::kSame);
  // No overlap, but the difference is half of the margin.
  const Figures before = {10.000, 10.001, 10.002, 10.003, 10.004};
  const Figures after = {10.050, 10.051, 10.052, 10.053, 10.054};
  EXPECT_EQ(compare(before, after, kMargin).verdict, Verdict::kSame);
  EXPECT_EQ(compare(before, after, 0.001).verdict, Verdict::kSlower);
}

TEST(Compare, FewRunsDecideNothingAndSayHowManyWould) {
  const Figures before = {10.0, 10.1, 9.9};
  const Figures after = {5.0, 5.1, 4.9, 5.05, 4.95, 5.0};
  const Comparison found = compare(before, after, kMargin);
  EXPECT_EQ(found.verdict, Verdict::kAmbiguous);
  EXPECT_EQ(found.more_runs, 2);
  const Comparison single = compare({10}, after, kMargin);
  EXPECT_EQ(single.verdict, Verdict::kAmbiguous);
  EXPECT_DOUBLE_EQ(single.ratio, 0.5);
  EXPECT_FALSE(single.low || single.high || single.probability || single.more_runs);
}

TEST(Compare, RunsThatDifferAmongThemselvesAreAmbiguous) {
  const Comparison found = compare({9, 9.5, 10, 10.5, 11}, {9.1, 9.6, 10.3, 10.6, 11.2}, kMargin);
  EXPECT_EQ(found.verdict, Verdict::kAmbiguous);
  ASSERT_TRUE(found.more_runs);
  EXPECT_GT(*found.more_runs, 20);
  // A difference of half the margin under a hundred times as much noise: no meaningful number of runs.
  EXPECT_FALSE(compare({5, 8, 10, 13, 20}, {5.025, 8.04, 10.05, 13.1, 20.1}, kMargin).more_runs);
}

TEST(Compare, ManyMoreRunsDecideWhatTheySaidTheyWould) {
  std::mt19937_64 random(11);
  int decided = 0;
  int examples = 0;
  while (examples < 40) {
    const Figures before = runs(random, 6, 10, 0.03);
    const Figures after = runs(random, 6, 10.3, 0.03);
    const Comparison found = compare(before, after, kMargin);
    if (!found.more_runs || *found.more_runs > 100) continue;
    ++examples;
    // Four times as many, because an estimate from six runs is inaccurate.
    const auto count = static_cast<std::size_t>(6 + 4 * *found.more_runs);
    decided +=
        compare(runs(random, count, 10, 0.03), runs(random, count, 10.3, 0.03), kMargin).verdict != Verdict::kAmbiguous;
  }
  EXPECT_GE(decided, 28);
}

TEST(Compare, CallsAlikeRunsDifferentInOneOfTwentyAtMost) {
  std::mt19937_64 random(3);
  for (const std::size_t count : {std::size_t{5}, std::size_t{10}}) {
    int wrong = 0;
    for (int example = 0; example < 400; ++example) {
      const Verdict verdict = compare(runs(random, count, 10, 0.03), runs(random, count, 10, 0.03), kMargin).verdict;
      wrong += verdict == Verdict::kFaster || verdict == Verdict::kSlower;
    }
    EXPECT_LE(wrong, 20) << count;
  }
}

TEST(Compare, SeesFivePercentUnderOnePercentOfNoise) {
  std::mt19937_64 random(5);
  int seen = 0;
  for (int example = 0; example < 200; ++example)
    seen += compare(runs(random, 5, 10, 0.01), runs(random, 5, 10.5, 0.01), kMargin).verdict == Verdict::kSlower;
  EXPECT_GE(seen, 190);
}

TEST(Compare, TheSameFiguresGiveTheSameAnswer) {
  std::mt19937_64 random(9);
  const Figures before = runs(random, 9, 10, 0.05);
  const Figures after = runs(random, 7, 10.2, 0.05);
  const Comparison once = compare(before, after, kMargin);
  const Comparison again = compare(before, after, kMargin);
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
}

TEST(Compare, RejectsWhatIsNoTime) {
  EXPECT_THROW(compare({}, {1}, kMargin), Error);
  EXPECT_THROW(compare({1}, {}, kMargin), Error);
  for (const double bad :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_THROW(compare({1, 2}, {bad, 1}, kMargin), Error);
}

TEST(Compare, VerdictsHaveWords) {
  EXPECT_EQ(std::string(to_string(Verdict::kSame)), "SAME");
  EXPECT_EQ(std::string(to_string(Verdict::kFaster)), "FASTER");
  EXPECT_EQ(std::string(to_string(Verdict::kSlower)), "SLOWER");
  EXPECT_EQ(std::string(to_string(Verdict::kAmbiguous)), "AMBIGUOUS");
}

}  // namespace
}  // namespace kymo::measure
