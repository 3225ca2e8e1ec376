// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "measure/comparison.hpp"

/// Where the time of a case changed over a series of commits.
///
/// Each commit contributes one value, the median of its runs, because the runs of a commit are often made together and
/// then share the state of the machine. For a change between two commits, the logarithms of the values in a stretch of
/// commits before it and in one after it are compared by Student's t test. The best of all such comparisons is accepted
/// if its probability, times their number (Bonferroni), is within the level; the commits before and after it are then
/// searched in the same way (binary segmentation). Stretches that end before the next change find a regression that was
/// fixed later. Because the bound counts every pair of adjacent stretches of the series, it holds for all changes
/// together: the probability to report a change between commits without a difference is at most the level, for normally
/// distributed logarithms.
///
/// In addition, the runs in the stretches between the changes must differ by the rank test and the interval of
/// compare(), which do not assume a distribution.
///
/// A. J. Scott and M. Knott, "A cluster analysis method for grouping means in the analysis of variance", Biometrics 30,
/// 1974 (binary segmentation); M. Fleming, P. Kołaczkowski, I. Kumar, S. Das, S. McCarthy, P. Pattabhiraman and
/// H. Ingo, "Hunter: Using change point detection to hunt for performance regressions", ICPE 2023 (t test in place of
/// the permutation test of E-divisive means).
namespace kymo::measure {

/// Probability of a change that is none, for a whole series.
inline constexpr double kChangeLevel = 0.01;
/// Smallest number of commits of a stretch. Below, one commit measured on a busy machine would be a change.
inline constexpr std::size_t kLeastStretch = 2;
/// Smallest number of commits with which a change can be found.
inline constexpr std::size_t kLeastCommits = 2 * kLeastStretch;

struct ChangePoint {
  std::size_t commit = 0;  ///< index of the first commit with the new time
  std::size_t begin = 0;   ///< index of the first commit of the stretch before the change
  std::size_t end = 0;     ///< one past the last commit of the stretch after it
  Comparison found;        ///< of the runs in both stretches: FASTER or SLOWER
};

/// Returns the change points in ascending order. `commits` are the positive values of the runs of each commit, such as
/// medians of steps, in the order of the commits; none may be empty. `margin` is the largest relative difference that
/// counts as none. The result is deterministic. Throws Error as compare() does.
std::vector<ChangePoint> find_change_points(const std::vector<std::vector<double>>& commits,
                                            double margin = kDefaultMargin, double level = kChangeLevel);

}  // namespace kymo::measure
