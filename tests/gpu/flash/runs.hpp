// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "case.hpp"

namespace kymo::flash::test {

constexpr int kVariants = 64;  ///< numbers below this are tried for Forward::variant and Backward::variant

/// All return the exit code and print what they find as they go.
int check(int count);
int check_floats(int count);  ///< the part of check() that runs fp32
int bench();
int bench_floats();  ///< every kernel of the float path at lengths of 1k to 16k

}  // namespace kymo::flash::test
