// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

/// For the body of a test that needs a package which `./dev test` installs first. If it is absent, the test fails,
/// because nobody would notice that it was skipped.
#define KYMO_NEEDS_INSTALLED(present, what) \
  if (!(present)) FAIL() << "needs " << (what) << ", which './dev test' and './dev setup tests' install"
