// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace kymo::machine {

/// Continuous integration installs all that `./dev setup tests` names (.ci/run sets CI=true).
inline bool is_ci() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string_view(ci) == "true";
}

}  // namespace kymo::machine

/// In the body of a test: what `./dev setup tests` installs must be present. Skips where it is absent, and fails in CI,
/// where nobody would notice the skip.
#define KYMO_NEEDS_INSTALLED(present, what)                                                                   \
  do {                                                                                                        \
    if (present) break;                                                                                       \
    if (kymo::machine::is_ci()) FAIL() << "needs " << (what) << ", which './dev setup tests' should install"; \
    GTEST_SKIP() << "needs " << (what) << ": './dev setup tests' installs it";                                \
  } while (false)
