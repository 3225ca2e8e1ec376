// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "case.hpp"

namespace kymo::flash::test {

constexpr int kMostVariants = 64;  ///< tried by number, from 0 on

/// Both return the exit code and print what they find as they go.
int check(int count);
int bench();

}  // namespace kymo::flash::test
