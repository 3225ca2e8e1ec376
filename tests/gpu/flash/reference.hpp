// SPDX-License-Identifier: Apache-2.0
// Reference implementation of attention and its gradients in float64 on the host.
#pragma once
#include <vector>

#include "case.hpp"

namespace kymo::flash::test {

/// A result and, for every element, the sum of the magnitudes of its terms, which scales the rounding error.
struct Expected {
  std::vector<double> value, terms;
};

struct Reference {
  Expected o, lse, dq, dk, dv;
};

/// Distributes the heads over threads.
Reference reference(const Case& test);

/// Returns the maximum over rows of |got - expected| / (|expected| + 0.3 |terms| + floor) with Euclidean norms;
/// infinite if a value is not a number. Rows of size `floor` and below are effectively compared by absolute error; they
/// extend to the smallest numbers of the element type.
double worst_row(const std::vector<double>& got, const Expected& expected, int64_t d, double floor);

}  // namespace kymo::flash::test
