// SPDX-License-Identifier: Apache-2.0
// What a check found wrong so far, and the parts of the check.
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

/// Calls that no kernel may take, each with a reason.
void check_refusals();
/// Random problems for each path, and long walks of the Hopper kernels, against the reference.
void check_results(const Choice& choice);
/// The same bits alone, repeated, on streams and from graphs.
void check_repeats(const Choice& choice);

}  // namespace kymo::flash::test
