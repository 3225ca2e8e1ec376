// SPDX-License-Identifier: Apache-2.0
#include "measure/change_point.hpp"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <optional>

#include "base/ranges.hpp"
#include "measure/statistics.hpp"

namespace kymo::measure {
namespace {

/// Sums of a series up to each index, so that the mean and the variance of a stretch take constant time.
class Sums {
 public:
  explicit Sums(const std::vector<double>& values) {
    for (const double value : values) {
      sums_.push_back(sums_.back() + value);
      squares_.push_back(squares_.back() + value * value);
    }
  }
  double mean(std::size_t begin, std::size_t end) const {
    return (sums_[end] - sums_[begin]) / static_cast<double>(end - begin);
  }
  /// Sum of squared deviations from the mean.
  double deviations(std::size_t begin, std::size_t end) const {
    const double mean_value = mean(begin, end);
    return std::max(0.0, squares_[end] - squares_[begin] - static_cast<double>(end - begin) * mean_value * mean_value);
  }

 private:
  std::vector<double> sums_{0}, squares_{0};
};

/// Two adjacent stretches, of which the second begins at `middle`.
struct Split {
  std::size_t begin = 0, middle = 0, end = 0;
  double score = -1;  ///< the difference in standard errors, comparable between different numbers of commits

  double freedom() const { return static_cast<double>(end - begin - 2); }
};

/// |t| of the difference of the means of both stretches, with a common variance.
double student_t(const Sums& sums, const Split& split) {
  const auto [begin, middle, end, score] = split;
  const double variance = (sums.deviations(begin, middle) + sums.deviations(middle, end)) / split.freedom();
  const double difference = std::abs(sums.mean(middle, end) - sums.mean(begin, middle));
  const double before = static_cast<double>(middle - begin), after = static_cast<double>(end - middle);
  // The sums of a constant series are exact to about 1e-16 per commit.
  if (difference < 1e-12) return 0;
  if (variance <= 0) return std::numeric_limits<double>::infinity();
  return difference / std::sqrt(variance * (1 / before + 1 / after));
}

/// The normal deviate with about the same probability as t: D. L. Wallace, "Bounds on normal approximations to
/// Student's and the chi-square distributions", Annals of Mathematical Statistics 30, 1959. It only ranks splits.
double deviate(double t, double freedom) {
  return (8 * freedom + 1) / (8 * freedom + 3) * std::sqrt(freedom * std::log1p(t * t / freedom));
}

double probability(const Sums& sums, const Split& split) {
  const double t = student_t(sums, split);
  if (std::isinf(t)) return 0;
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(split.freedom()), t));
}

/// Lengths of stretches to try, up to the longest possible one: all short ones, then in steps of about a fifth.
std::vector<std::size_t> lengths_up_to(std::size_t longest) {
  std::vector<std::size_t> lengths;
  for (std::size_t length = kLeastStretch; length < longest; length += std::max<std::size_t>(1, length / 5))
    lengths.push_back(length);
  if (longest >= kLeastStretch) lengths.push_back(longest);
  return lengths;
}

/// The most significant split of the commits from `begin` to before `end`; empty if there are too few.
std::optional<Split> best_split(const Sums& sums, std::size_t begin, std::size_t end) {
  Split best;
  for (std::size_t middle = begin + kLeastStretch; middle + kLeastStretch <= end; ++middle) {
    const std::vector<std::size_t> after = lengths_up_to(end - middle);
    for (const std::size_t before : lengths_up_to(middle - begin)) {
      for (const std::size_t length : after) {
        Split split{middle - before, middle, middle + length};
        split.score = deviate(student_t(sums, split), split.freedom());
        if (split.score > best.score) best = split;
      }
    }
  }
  return best.score > 0 ? std::optional(best) : std::nullopt;
}

/// Number of pairs of adjacent stretches of n commits, each of at least kLeastStretch: C(n - 1, 3).
double number_of_splits(std::size_t commits) {
  const auto n = static_cast<double>(commits);
  return (n - 1) * (n - 2) * (n - 3) / 6;
}

void search(const Sums& sums, std::size_t begin, std::size_t end, double level, std::vector<std::size_t>& changes) {
  const std::optional<Split> best = best_split(sums, begin, end);
  if (!best || probability(sums, *best) > level) return;
  search(sums, begin, best->middle, level, changes);
  changes.push_back(best->middle);
  search(sums, best->middle, end, level, changes);
}

std::vector<double> runs_of(const std::vector<std::vector<double>>& commits, std::size_t begin, std::size_t end) {
  std::vector<double> runs;
  for (std::size_t i = begin; i < end; ++i) append_range(runs, commits[i]);
  return runs;
}

std::vector<ChangePoint> compared(const std::vector<std::vector<double>>& commits,
                                  const std::vector<std::size_t>& changes, double margin) {
  std::vector<ChangePoint> points;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::size_t begin = i > 0 ? changes[i - 1] : 0;
    const std::size_t end = i + 1 < changes.size() ? changes[i + 1] : commits.size();
    points.push_back({changes[i], begin, end,
                      compare(runs_of(commits, begin, changes[i]), runs_of(commits, changes[i], end), margin)});
  }
  return points;
}

}  // namespace

std::vector<ChangePoint> find_change_points(const std::vector<std::vector<double>>& commits, double margin,
                                            double level) {
  std::vector<double> logarithms;
  for (const std::vector<double>& runs : commits) {
    check_comparable(runs);
    logarithms.push_back(std::log(summarize(runs).median));
  }
  std::vector<std::size_t> changes;
  if (commits.size() >= kLeastCommits)
    search(Sums(logarithms), 0, commits.size(), level / number_of_splits(commits.size()), changes);
  // A change that the runs do not confirm joins its stretches, after which the runs of the neighbors are others.
  for (;;) {
    std::vector<ChangePoint> points = compared(commits, changes, margin);
    const auto is_change = [](const ChangePoint& point) {
      return point.found.verdict == Verdict::kFaster || point.found.verdict == Verdict::kSlower;
    };
    const auto unconfirmed = std::ranges::find_if_not(points, is_change);
    if (unconfirmed == points.end()) return points;
    std::erase(changes, unconfirmed->commit);
  }
}

}  // namespace kymo::measure
