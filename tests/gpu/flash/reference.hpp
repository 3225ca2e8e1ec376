// SPDX-License-Identifier: Apache-2.0
// Attention and its gradients in float64 on the host, as the formulas say.
#pragma once
#include <vector>

#include "case.hpp"

namespace kymo::flash::test {

/// A result and, for every element, the sum of the sizes of the terms it was added from: what rounding errors are
/// measured by.
struct Expected {
  std::vector<double> value, terms;
};

struct Reference {
  Expected o, lse, dq, dk, dv;
};

/// Heads are spread over threads.
Reference reference(const Case& test);

/// Largest over rows of |got - expected| / (|expected| + 0.3 |terms| + floor), Euclidean norms; infinite when something
/// is not a number. floor: rows of that size and below are held to its absolute error; they reach the smallest numbers
/// of the element type.
double worst_row(const std::vector<double>& got, const Expected& expected, int64_t d, double floor);

}  // namespace kymo::flash::test
