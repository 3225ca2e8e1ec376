// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <vector>

#include "measure/comparison.hpp"

/// Comparison of candidates while their runs are still being made, so that measuring can stop as soon as there is a
/// verdict, without more false differences than a single comparison at the end.
namespace kymo::measure {

/// Returns the significance level at which each of several looks tests, so that all of them together report a
/// difference between equal sides with the probability `level`: the constant boundary of Pocock (1977), for looks after
/// these numbers of runs per side, by the recursive integration of Armitage, McPherson and Rowe (1969). Standardized
/// rank statistics of accumulating data have the joint distribution that it assumes, asymptotically. Making fewer
/// looks, or a look earlier than planned, only lowers the probability.
double level_of_each_look(const std::vector<std::size_t>& looks, double level);

/// Compares candidates in rounds of one run each. The pairs share a significance level of 5 % (Bonferroni), and each
/// pair spends its part on the looks. The intervals of the pairs are repeated confidence intervals (Jennison and
/// Turnbull 1989): all of them hold together with a confidence of 95 %, at whichever look the measurement stops.
class SequentialComparison {
 public:
  /// Numbers of rounds after which the candidates are compared; the last one is the maximum.
  static constexpr std::array<std::size_t, 9> kLooks{5, 7, 10, 14, 20, 28, 40, 56, 80};
  static constexpr double kLevel = 0.05;

  struct Pair {
    std::size_t first = 0;
    std::size_t second = 0;
    Comparison result;     ///< ratio of the second candidate to the first
    std::size_t runs = 0;  ///< per candidate, at the time of the result
    bool decided() const { return result.verdict != Verdict::kAmbiguous; }
  };

  /// Which of the values of a candidate a look compares.
  enum class Values { kAll, kUndisturbed };

  /// `margin` is the largest relative difference that counts as the same; see compare(). `compared`: see undisturbed().
  SequentialComparison(std::size_t candidates, double margin, Values compared = Values::kAll);

  /// Adds a round: one value per candidate, such as the median of a run. Returns false if no more rounds are needed:
  /// every pair is decided, or the last look was made.
  bool add_round(const std::vector<double>& values);
  /// Compares the undecided pairs once more if there were rounds since the last look. Only the last call, before the
  /// measurement ends.
  void finish();

  std::size_t rounds() const { return values_.front().size(); }
  /// The values of a candidate that a look compares.
  std::vector<double> values(std::size_t candidate) const;
  const std::vector<Pair>& pairs() const { return pairs_; }
  /// Significance level of the test of one pair at one look.
  double level() const { return level_; }

 private:
  bool may_decide(const Pair& pair) const;
  void look(const std::function<bool(const Pair&)>& selected);

  std::vector<std::vector<double>> values_;  // by candidate
  std::vector<Pair> pairs_;
  double margin_;
  Values compared_;
  double level_;
};

}  // namespace kymo::measure
