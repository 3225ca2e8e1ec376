// SPDX-License-Identifier: Apache-2.0
#include "measure/comparison.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstdlib>
#include <random>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "measure/statistics.hpp"

namespace kymo::measure {
namespace {

constexpr std::size_t kMaxForExactRanks = 60;
constexpr int kResamples = 10'000;

/// Twice the midrank of each value, starting with the first side. Doubling keeps the midranks of ties integral.
struct Ranks {
  std::vector<std::int64_t> doubled;
  double ties = 0;  // sum of t^3 - t over groups of t equal values
};

Ranks ranks_of(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<double> figures = first;
  append_range(figures, second);
  std::vector<double> sorted = figures;
  std::ranges::sort(sorted);
  Ranks ranks;
  for (const double figure : figures) {
    const auto [from, to] = std::equal_range(sorted.begin(), sorted.end(), figure);
    // Ranks from + 1 to `to`, counted from 1: twice their mean.
    ranks.doubled.push_back((from - sorted.begin()) + 1 + (to - sorted.begin()));
    const auto equal = static_cast<double>(to - from);
    ranks.ties += equal * equal - 1;  // share of this value in its group's t^3 - t
  }
  return ranks;
}

/// Number of ways in which `drawn` of the ranks have each sum. Doubles represent counts up to C(60, 30) to about 1e-16.
std::vector<double> ways_by_sum(const std::vector<std::int64_t>& ranks, std::size_t drawn) {
  std::int64_t most = 0;
  for (const std::int64_t rank : ranks) most += rank;
  std::vector<std::vector<double>> ways(drawn + 1, std::vector<double>(static_cast<std::size_t>(most) + 1, 0.0));
  ways[0][0] = 1;
  for (const std::int64_t rank : ranks) {
    for (std::size_t count = drawn; count >= 1; --count) {
      for (auto sum = static_cast<std::size_t>(most); sum >= static_cast<std::size_t>(rank); --sum)
        ways[count][sum] += ways[count - 1][sum - static_cast<std::size_t>(rank)];
    }
  }
  return ways[drawn];
}

double exact_probability(const Ranks& ranks, std::size_t drawn, std::int64_t sum) {
  const auto all = static_cast<std::int64_t>(ranks.doubled.size());
  // The sum of all doubled ranks is all (all + 1), with or without ties. `middle` is the expected sum of a draw.
  const std::int64_t middle = static_cast<std::int64_t>(drawn) * (all + 1);
  const std::vector<double> ways = ways_by_sum(ranks.doubled, drawn);
  double total = 0;
  double as_far = 0;
  for (std::size_t each = 0; each < ways.size(); ++each) {
    total += ways[each];
    if (std::abs(static_cast<std::int64_t>(each) - middle) >= std::abs(sum - middle)) as_far += ways[each];
  }
  return as_far / total;
}

double normal_probability(const Ranks& ranks, std::size_t drawn, std::int64_t sum) {
  const auto all = static_cast<double>(ranks.doubled.size());
  const auto first = static_cast<double>(drawn);
  const double variance = first * (all - first) / 12 * (all + 1 - ranks.ties / (all * (all - 1)));
  if (variance <= 0) return 1;
  const double distance = std::abs(static_cast<double>(sum) / 2 - first * (all + 1) / 2);
  const double standard = std::max(0.0, distance - 0.5) / std::sqrt(variance);
  return std::min(1.0, 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), standard)));
}

/// Medians of resamples of the same figures. Counting how often each was drawn takes half the time of sorting.
class Resampling {
 public:
  explicit Resampling(const std::vector<double>& figures)
      : sorted_(figures), positions_(figures.size()), counts_(figures.size()) {
    std::ranges::sort(sorted_);
    for (std::size_t i = 0; i < figures.size(); ++i)
      positions_[i] = static_cast<std::size_t>(std::ranges::lower_bound(sorted_, figures[i]) - sorted_.begin());
  }

  double median(std::mt19937_64& random) {
    const std::size_t size = sorted_.size();
    std::ranges::fill(counts_, 0);
    // std::uniform_int_distribution is not portable between standard libraries. The modulo bias is below 1e-15.
    for (std::size_t i = 0; i < size; ++i) ++counts_[positions_[random() % size]];
    std::size_t drawn = counts_[0];
    std::size_t at = 0;
    while (drawn <= (size - 1) / 2) drawn += counts_[++at];
    const double lower = sorted_[at];
    while (drawn <= size / 2) drawn += counts_[++at];
    return (lower + sorted_[at]) / 2;
  }

 private:
  std::vector<double> sorted_;
  std::vector<std::size_t> positions_;  // of each figure in sorted_, the first if equal
  std::vector<std::size_t> counts_;     // by position
};

/// Adds the percentile bootstrap interval of the ratio of medians (Efron and Tibshirani 1993, chapter 13).
void add_interval(const std::vector<double>& first, const std::vector<double>& second, double significance,
                  Comparison& found) {
  std::mt19937_64 random(first.size() * 1009 + second.size());
  std::vector<double> ratios(kResamples);
  Resampling resampled_first(first);
  Resampling resampled_second(second);
  for (double& ratio : ratios) {
    const double of_second = resampled_second.median(random);
    ratio = of_second / resampled_first.median(random);
  }
  std::ranges::sort(ratios);
  const auto cut = static_cast<std::size_t>(significance / 2 * kResamples);
  found.low = ratios[cut];
  found.high = ratios[ratios.size() - 1 - cut];
}

Verdict verdict_of(const Comparison& found, std::int64_t fewest, double margin, double significance) {
  if (fewest < kRunsForVerdict) return Verdict::kAmbiguous;
  if (*found.low >= 1 / (1 + margin) && *found.high <= 1 + margin) return Verdict::kSame;
  if (*found.probability >= significance) return Verdict::kAmbiguous;
  if (*found.high < 1) return Verdict::kFaster;
  return *found.low > 1 ? Verdict::kSlower : Verdict::kAmbiguous;
}

/// The interval narrows with the square root of the number of runs. Estimates the number at which it either excludes 1
/// or lies within the margin, whichever comes first.
std::optional<std::int64_t> more_runs_for(const Comparison& found, std::int64_t fewest, double margin) {
  const double distance = std::abs(std::log(found.ratio));
  const double half = std::log(*found.high / *found.low) / 2;
  const double room = std::max(distance, std::log1p(margin) - distance);
  if (room <= 0) return std::nullopt;
  const double wanted = std::ceil(static_cast<double>(fewest) * (half / room) * (half / room));
  const double most = static_cast<double>(fewest) + static_cast<double>(kMaxMoreRuns);
  if (!(wanted <= most)) return std::nullopt;
  return std::max({static_cast<std::int64_t>(wanted), kRunsForVerdict, fewest + 1}) - fewest;
}

}  // namespace

void check_comparable(const std::vector<double>& values) {
  if (values.empty()) throw Error("nothing to compare: one side has no runs");
  for (const double value : values)
    if (!(value > 0) || !std::isfinite(value))
      throw Error("only positive values can be compared, not " + std::to_string(value));
}

Comparison compare(const std::vector<double>& first, const std::vector<double>& second, double margin,
                   double significance) {
  check_comparable(first);
  check_comparable(second);
  Comparison found;
  found.ratio = summarize(second).median / summarize(first).median;
  const auto fewest = static_cast<std::int64_t>(std::min(first.size(), second.size()));
  if (fewest < 2) return found;
  found.probability = rank_sum_probability(first, second);
  add_interval(first, second, significance, found);
  found.verdict = verdict_of(found, fewest, margin, significance);
  if (found.verdict == Verdict::kAmbiguous) found.more_runs = more_runs_for(found, fewest, margin);
  return found;
}

double rank_sum_probability(const std::vector<double>& first, const std::vector<double>& second) {
  const Ranks ranks = ranks_of(first, second);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < first.size(); ++i) sum += ranks.doubled[i];
  const bool few = ranks.doubled.size() <= kMaxForExactRanks;
  return few ? exact_probability(ranks, first.size(), sum) : normal_probability(ranks, first.size(), sum);
}

}  // namespace kymo::measure
