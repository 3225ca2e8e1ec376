// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace kymo::machine {

/// Continuous integration installs everything listed by `./dev setup tests` (.ci/run sets CI=true).
inline bool is_ci() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string_view(ci) == "true";
}

}  // namespace kymo::machine

/// For the body of a test that needs a package installed by `./dev setup tests`. If it is absent, the test is skipped,
/// or fails in CI, where nobody would notice the skip.
#define KYMO_NEEDS_INSTALLED(present, what)                                                                   \
  do {                                                                                                        \
    if (present) break;                                                                                       \
    if (kymo::machine::is_ci()) FAIL() << "needs " << (what) << ", which './dev setup tests' should install"; \
    GTEST_SKIP() << "needs " << (what) << ": './dev setup tests' installs it";                                \
  } while (false)
