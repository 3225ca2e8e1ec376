// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

/// Whether one thing takes longer than another: a judgement over runs, of which each gives one figure (the median of
/// its steps), because steps of one process are not independent samples.
namespace kymo::measure {

/// Fewest runs of each side that a verdict takes. Of n runs each, groups that do not overlap have the smallest
/// two-sided probability of the rank test, 2 / C(2n, n), and groups with one pair of runs out of order twice that:
/// 0.1 and 0.2 with three runs, 0.029 and 0.057 with four, 0.008 and 0.016 with five. So three runs can never be
/// significant, four only if no run of one side is beyond any of the other, and from five on a single pair out of order
/// does not hide a difference.
inline constexpr std::int64_t kRunsForVerdict = 5;
/// Two-sided probability below which ranks count as different. kRunsForVerdict follows from it.
inline constexpr double kRankSignificance = 0.05;

enum class Verdict {
  kSame,       ///< whatever the ratio is, it lies within the margin
  kFaster,     ///< the second side takes less time
  kSlower,     ///< the second side takes more time
  kAmbiguous,  ///< too few runs, or they differ too much among themselves
};
/// SAME, FASTER, SLOWER, AMBIGUOUS.
const char* to_string(Verdict verdict);

struct Comparison {
  double ratio = 1;           ///< median of the second side over that of the first
  std::optional<double> low;  ///< 95 % interval of the ratio, by bootstrap; absent with a single run on a side
  std::optional<double> high;
  std::optional<double> probability;  ///< of ranks at least as different if both sides were alike; absent likewise
  Verdict verdict = Verdict::kAmbiguous;
  /// How many more runs of each side would decide, if they are like those so far; absent if decided, if a side has a
  /// single run, and if it would take more than kMostMoreRuns.
  std::optional<std::int64_t> more_runs;
};
inline constexpr std::int64_t kMostMoreRuns = 1000;

/// Judges positive figures of two sides, such as times. A ratio that certainly lies within 1 / (1 + margin) and 1 +
/// margin is SAME; FASTER and SLOWER take both the rank test and the interval. The same figures always give the same
/// answer. Throws Error if a side has no figure, or one that is not positive and finite.
Comparison compare(const std::vector<double>& first, const std::vector<double>& second, double margin);

/// Two-sided probability of the rank sum test of Mann and Whitney (1947), ties by midranks: exact, by counting how many
/// ways of drawing the first side's ranks lie at least as far from the middle, up to 60 figures together, by the normal
/// approximation with corrections for ties and continuity beyond. Neither side may be empty.
double rank_sum_probability(const std::vector<double>& first, const std::vector<double>& second);

}  // namespace kymo::measure
