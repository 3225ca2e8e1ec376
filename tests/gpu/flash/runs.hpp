// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "case.hpp"

namespace kymo::flash::test {

/// Both return the exit code and print what they find as they go.
int check(int count);
int bench();

}  // namespace kymo::flash::test
