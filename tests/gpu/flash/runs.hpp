// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "case.hpp"

namespace kymo::flash::test {

/// Both return the exit code and print what they find as they go. d: the one head size to take, or 0 for the usual ones.
int check(int count, int64_t d);
int bench(int64_t d);

}  // namespace kymo::flash::test
