// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "case.hpp"

namespace kymo::flash::test {

constexpr int kMostVariants = 64;  ///< tried by number, from 0 on

/// Parts of the names of kernels that are not to be run by number, such as "_counted": so that one that hangs does not hide the others.
inline std::vector<std::string> left_out;
template <class Call>
bool runs_by_number(const Call& call) {
  const std::string name = kernel_name(call);
  for (const std::string& part : left_out)
    if (name.find(part) != std::string::npos) return false;
  return !name.empty();  // empty: no kernel of that number takes the call
}

/// Both return the exit code and print what they find as they go. d: the one head size to take, or 0 for the usual ones.
int check(int count, int64_t d);
int bench(int64_t d);

}  // namespace kymo::flash::test
