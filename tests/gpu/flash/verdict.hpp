// SPDX-License-Identifier: Apache-2.0
// Failure count of the check, and the parts of the check.
#pragma once
#include <cstdio>
#include <string>

#include "runs.hpp"

namespace kymo::flash::test {

inline int failures = 0;

inline void expect(bool right, const std::string& what) {
  if (right) return;
  ++failures;
  std::printf("WRONG %s\n", what.c_str());
}

/// Six heads in three groups, 1500 queries and keys.
Problem usual(Element element, int64_t d, bool causal);

/// Calls that every kernel must reject, each with a reason.
void check_rejections();
/// Compares random problems for each path, and long shapes for the Hopper kernels, with the reference.
void check_results(const Choice& choice);
/// Expects bitwise equal results alone, repeated, on streams and from graphs.
void check_repeats(const Choice& choice);

}  // namespace kymo::flash::test
