// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kymo {

/// How far a result lies from its reference, elementwise maxima.
struct Deviation {
  double max_abs = 0;
  double max_rel = 0;
};

enum class Outcome { Passed = KYMO_CHECK_PASSED, Failed = KYMO_CHECK_FAILED, Unavailable = KYMO_CHECK_UNAVAILABLE };

/// One comparison with a reference.
struct Check {
  std::string name;
  std::string reference;  ///< what it was compared with
  Outcome outcome = Outcome::Failed;
  std::string detail;  ///< may be empty
  Deviation deviation;
  double tolerance = 0;
};

/// What verify() returns: one check or several, or the reason why there is none.
class Verification {
 public:
  /// There is no reference here, or it does not fit: the run counts as not verified.
  static Verification unavailable(std::string reason) {
    return Verification{}.check({"reference", "", Outcome::Unavailable, std::move(reason), {}, 0});
  }

  Verification& check(Check one) {
    checks_.push_back(std::move(one));
    return *this;
  }

  /// A yes or no; `detail` says what was found.
  Verification& that(bool holds, std::string name, std::string reference, std::string detail = "") {
    return check(
        {std::move(name), std::move(reference), holds ? Outcome::Passed : Outcome::Failed, std::move(detail), {}, 0});
  }

  /// Passes if the absolute or the relative deviation is within the tolerance; never if both are NaN.
  Verification& within(std::string name, std::string reference, Deviation deviation, double tolerance) {
    const bool near = deviation.max_abs <= tolerance || deviation.max_rel <= tolerance;
    return check(
        {std::move(name), std::move(reference), near ? Outcome::Passed : Outcome::Failed, "", deviation, tolerance});
  }

  /// Passes if |actual - expected| <= tolerance * max(1, |expected|) for every element; NaN passes only where NaN is
  /// expected.
  template <typename A, typename E>
  Verification& compare(std::string name, std::string reference, const A& actual, const E& expected, double tolerance) {
    Check made{std::move(name), std::move(reference), Outcome::Failed, "", {}, tolerance};
    if (std::size(actual) != std::size(expected)) {
      made.detail = std::to_string(std::size(actual)) + " elements, expected " + std::to_string(std::size(expected));
    } else {
      const std::size_t wrong = measure(actual, expected, made);
      made.outcome = wrong == 0 ? Outcome::Passed : Outcome::Failed;
      if (wrong > 0)
        made.detail = std::to_string(wrong) + " of " + std::to_string(std::size(actual)) + " elements differ";
    }
    return check(std::move(made));
  }

  const std::vector<Check>& checks() const { return checks_; }

 private:
  /// Fills in the deviation and returns how many elements are out of tolerance.
  template <typename A, typename E>
  static std::size_t measure(const A& actual, const E& expected, Check& made) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < std::size(actual); ++i) {
      const double a = static_cast<double>(actual[i]);
      const double e = static_cast<double>(expected[i]);
      if (a == e || (std::isnan(a) && std::isnan(e))) continue;
      const double distance = std::isnan(a - e) ? std::numeric_limits<double>::infinity() : std::abs(a - e);
      const double relative =
          e == 0 || std::isinf(distance) ? std::numeric_limits<double>::infinity() : distance / std::abs(e);
      made.deviation.max_abs = std::max(made.deviation.max_abs, distance);
      made.deviation.max_rel = std::max(made.deviation.max_rel, relative);
      wrong += std::isfinite(distance) && distance <= made.tolerance * std::max(1.0, std::abs(e)) ? 0 : 1;
    }
    return wrong;
  }

  std::vector<Check> checks_;
};

}  // namespace kymo
