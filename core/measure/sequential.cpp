// SPDX-License-Identifier: Apache-2.0
#include "measure/sequential.hpp"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/error.hpp"
#include "measure/statistics.hpp"
#include "measure/step_statistic.hpp"

namespace kymo::measure {
namespace {

constexpr std::size_t kCells = 128;  // of the numerical integration
constexpr int kPrecisionBits = 30;   // of the boundary

double density(double distance, double variance) {
  return std::exp(-distance * distance / (2 * variance)) / std::sqrt(2 * std::numbers::pi * variance);
}

/// Probability that a Brownian motion, observed at the times of the looks and divided by its standard deviation, leaves
/// [-boundary, boundary] at one of them. `inside` is its density at the centers of cells between the boundaries.
double probability_of_crossing(const std::vector<std::size_t>& looks, double boundary) {
  std::vector<double> at{0};
  std::vector<double> inside{1};  // probability of each cell
  double time = 0;
  for (const std::size_t look : looks) {
    const auto now = static_cast<double>(look);
    const double edge = boundary * std::sqrt(now);
    const double width = 2 * edge / kCells;
    std::vector<double> next_at(kCells);
    std::vector<double> next(kCells, 0.0);
    for (std::size_t cell = 0; cell < kCells; ++cell) {
      next_at[cell] = -edge + (static_cast<double>(cell) + 0.5) * width;
      for (std::size_t from = 0; from < at.size(); ++from)
        next[cell] += inside[from] * density(next_at[cell] - at[from], now - time) * width;
    }
    at = std::move(next_at);
    inside = std::move(next);
    time = now;
  }
  double stayed = 0;
  for (const double share : inside) stayed += share;
  return 1 - stayed;
}

}  // namespace

double level_of_each_look(const std::vector<std::size_t>& looks, double level) {
  if (looks.empty() || !(level > 0) || level >= 1) throw Error("a sequential test needs looks and a level in (0, 1)");
  const boost::math::normal normal;
  // The boundary lies between that of a single look and that of Bonferroni. A single look has no other boundary, up to
  // the error of the integration.
  const double low = boost::math::quantile(boost::math::complement(normal, level / 2));
  if (looks.size() == 1) return level;
  const double high =
      boost::math::quantile(boost::math::complement(normal, level / 2 / static_cast<double>(looks.size())));
  const auto excess = [&](double boundary) { return probability_of_crossing(looks, boundary) - level; };
  std::uintmax_t evaluations = 50;
  const auto [below, above] = boost::math::tools::toms748_solve(
      excess, low, high, boost::math::tools::eps_tolerance<double>(kPrecisionBits), evaluations);
  return 2 * boost::math::cdf(boost::math::complement(normal, above));
}

SequentialComparison::SequentialComparison(std::size_t candidates, double margin, Values compared)
    : values_(candidates), margin_(margin), compared_(compared) {
  if (candidates < 2) throw Error("nothing to compare: fewer than two candidates");
  for (std::size_t first = 0; first < candidates; ++first)
    for (std::size_t second = first + 1; second < candidates; ++second) pairs_.push_back({first, second, {}, 0});
  level_ = level_of_each_look({kLooks.begin(), kLooks.end()}, kLevel / static_cast<double>(pairs_.size()));
}

bool SequentialComparison::add_round(const std::vector<double>& values) {
  for (std::size_t candidate = 0; candidate < values_.size(); ++candidate)
    values_[candidate].push_back(values.at(candidate));
  if (rounds() == kLooks.back())
    finish();
  else if (std::ranges::find(kLooks, rounds()) != kLooks.end())
    look([&](const Pair& pair) { return may_decide(pair); });
  return rounds() < kLooks.back() && !std::ranges::all_of(pairs_, &Pair::decided);
}

std::vector<double> SequentialComparison::values(std::size_t candidate) const {
  const std::vector<double>& all = values_.at(candidate);
  return compared_ == Values::kUndisturbed ? undisturbed(all) : all;
}

void SequentialComparison::finish() {
  look([&](const Pair& pair) { return pair.runs < rounds(); });
}

/// Whether the interval, which takes much longer than the rest, matters for the verdict.
bool SequentialComparison::may_decide(const Pair& pair) const {
  const std::vector<double> first = values(pair.first), second = values(pair.second);
  const double ratio = summarize(second).median / summarize(first).median;
  return std::max(ratio, 1 / ratio) <= 1 + margin_ || rank_sum_probability(first, second) < level_;
}

void SequentialComparison::look(const std::function<bool(const Pair&)>& selected) {
  for (Pair& pair : pairs_) {
    if (pair.decided() || !selected(pair)) continue;
    pair.result = compare(values(pair.first), values(pair.second), margin_, level_);
    pair.runs = rounds();
  }
}

}  // namespace kymo::measure
