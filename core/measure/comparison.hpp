// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/enum_names.hpp"

/// Comparison of the times of two sets of runs. Each run contributes one value, the median of its steps, because steps
/// of the same process are not independent samples.
namespace kymo::measure {

/// Minimum number of runs per side for a verdict. With n runs per side, the smallest two-sided p-value of the rank test
/// is 2 / C(2n, n) if the sides do not overlap, and twice that if a single pair of runs is out of order: 0.1 and 0.2
/// for three runs, 0.029 and 0.057 for four, 0.008 and 0.016 for five. Three runs are thus never significant, four only
/// without any overlap, and five tolerate one pair out of order.
inline constexpr std::int64_t kRunsForVerdict = 5;
/// Significance level of the two-sided rank test. kRunsForVerdict follows from it.
inline constexpr double kRankSignificance = 0.05;

/// Largest relative difference that counts as no difference, unless --margin sets another one.
inline constexpr double kDefaultMargin = 0.01;

enum class Verdict {
  kSame,       ///< the interval of the ratio lies within the margin
  kFaster,     ///< the second side takes less time
  kSlower,     ///< the second side takes more time
  kAmbiguous,  ///< too few runs, or too much variation between runs
};
constexpr auto names_of(Verdict) {
  using enum Verdict;
  return enum_names<Verdict>("verdict",
                             {{kSame, "SAME"}, {kFaster, "FASTER"}, {kSlower, "SLOWER"}, {kAmbiguous, "AMBIGUOUS"}});
}

struct Comparison {
  double ratio = 1;           ///< median of the second side divided by the median of the first
  std::optional<double> low;  ///< 95 % bootstrap confidence interval of the ratio; empty if a side has a single run
  std::optional<double> high;
  std::optional<double> probability;  ///< two-sided p-value of the rank test; empty if a side has a single run
  Verdict verdict = Verdict::kAmbiguous;
  /// Estimated number of additional runs per side for a verdict, assuming the same variation. Empty if there is a
  /// verdict, if a side has a single run, or above kMaxMoreRuns.
  std::optional<std::int64_t> more_runs;
};
inline constexpr std::int64_t kMaxMoreRuns = 1000;

/// Compares positive values of two sides, such as times. The verdict is SAME if the interval of the ratio lies within
/// [1 / (1 + margin), 1 + margin]. FASTER and SLOWER require both the rank test and the interval to be significant. The
/// result is deterministic. `significance` is the level of the rank test; the confidence of the interval is 1 −
/// significance. Throws Error if a side is empty or has a value that is not positive and finite.
Comparison compare(const std::vector<double>& first, const std::vector<double>& second, double margin,
                   double significance = kRankSignificance);

/// Throws Error if there are no values or one is not positive and finite.
void check_comparable(const std::vector<double>& values);

/// Returns the two-sided p-value of the rank-sum test of Mann and Whitney (1947) with midranks for ties. Exact up to 60
/// values in total, by counting the draws whose rank sum is at least as far from its mean; a normal approximation with
/// tie and continuity corrections beyond. Neither side may be empty.
double rank_sum_probability(const std::vector<double>& first, const std::vector<double>& second);

}  // namespace kymo::measure
