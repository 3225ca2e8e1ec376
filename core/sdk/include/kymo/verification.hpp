// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kymo {

/// Maximum elementwise absolute and relative error of a result with respect to its reference.
struct Deviation {
  double max_abs = 0;
  double max_rel = 0;
};

enum class Outcome { Passed = KYMO_CHECK_PASSED, Failed = KYMO_CHECK_FAILED, Unavailable = KYMO_CHECK_UNAVAILABLE };

/// Result of one comparison with a reference.
struct Check {
  std::string name;
  std::string reference;  ///< name of the reference
  Outcome outcome = Outcome::Failed;
  std::string detail;  ///< may be empty
  Deviation deviation;
  double tolerance = 0;
};

/// Return type of verify(): one or more checks, or the reason why verification is unavailable.
class Verification {
 public:
  /// Reports that no applicable reference exists. The run is recorded as not verified.
  static Verification unavailable(std::string reason) {
    return Verification{}.check({"reference", "", Outcome::Unavailable, std::move(reason), {}, 0});
  }

  Verification& check(Check one) {
    checks_.push_back(std::move(one));
    return *this;
  }

  /// Adds a boolean check; `detail` describes the observed result.
  Verification& that(bool holds, std::string name, std::string reference, std::string detail = "") {
    return check(
        {std::move(name), std::move(reference), holds ? Outcome::Passed : Outcome::Failed, std::move(detail), {}, 0});
  }

  /// Adds a check that passes if the absolute or the relative error is within `tolerance`. It fails if both are NaN.
  Verification& within(std::string name, std::string reference, Deviation deviation, double tolerance) {
    const bool near = deviation.max_abs <= tolerance || deviation.max_rel <= tolerance;
    return check(
        {std::move(name), std::move(reference), near ? Outcome::Passed : Outcome::Failed, "", deviation, tolerance});
  }

  /// Adds a check that passes if |actual - expected| <= tolerance * max(1, |expected|) for every element. A NaN element
  /// passes only if the expected element is NaN. If it fails, its detail names the worst element: its index and both
  /// values.
  template <typename A, typename E>
  Verification& compare(std::string name, std::string reference, const A& actual, const E& expected, double tolerance) {
    Check result{std::move(name), std::move(reference), Outcome::Failed, "", {}, tolerance};
    if (std::size(actual) != std::size(expected)) {
      result.detail = std::to_string(std::size(actual)) + " elements, expected " + std::to_string(std::size(expected));
    } else {
      const Difference found = measure(actual, expected, result);
      result.outcome = found.mismatches == 0 ? Outcome::Passed : Outcome::Failed;
      if (found.mismatches > 0) {
        result.detail = std::to_string(found.mismatches) + " of " + std::to_string(std::size(actual)) +
                        " elements differ; the worst is [" + std::to_string(found.worst) +
                        "] = " + text_of(static_cast<double>(actual[found.worst])) + ", expected " +
                        text_of(static_cast<double>(expected[found.worst]));
      }
    }
    return check(std::move(result));
  }

  const std::vector<Check>& checks() const { return checks_; }

 private:
  struct Difference {
    std::size_t mismatches = 0;  ///< number of elements that exceed the tolerance
    std::size_t worst = 0;       ///< the one that exceeds it by the largest factor
  };

  static std::string text_of(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
  }

  /// Computes the maximum errors and compares each element with the tolerance.
  template <typename A, typename E>
  static Difference measure(const A& actual, const E& expected, Check& result) {
    Difference found;
    double largest = -1;
    for (std::size_t i = 0; i < std::size(actual); ++i) {
      const double a = static_cast<double>(actual[i]);
      const double e = static_cast<double>(expected[i]);
      if (a == e || (std::isnan(a) && std::isnan(e))) continue;
      const double distance = std::isnan(a - e) ? std::numeric_limits<double>::infinity() : std::abs(a - e);
      const double relative =
          e == 0 || std::isinf(distance) ? std::numeric_limits<double>::infinity() : distance / std::abs(e);
      result.deviation.max_abs = std::max(result.deviation.max_abs, distance);
      result.deviation.max_rel = std::max(result.deviation.max_rel, relative);
      const double scaled = std::isfinite(distance) ? distance / std::max(1.0, std::abs(e)) : distance;
      if (std::isfinite(distance) && distance <= result.tolerance * std::max(1.0, std::abs(e))) continue;
      ++found.mismatches;
      if (scaled <= largest) continue;
      largest = scaled;
      found.worst = i;
    }
    return found;
  }

  std::vector<Check> checks_;
};

}  // namespace kymo
