// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "catalog/catalog.hpp"

namespace kymo::cli {

/// More cases than this in one plan are taken for a slip of the pen.
inline constexpr std::size_t kMaxCases = 100'000;

/// A parameter given several values: the texts of the values as written, each a value or, for numbers, a range.
struct Axis {
  std::string parameter;
  std::vector<std::string> items;
};

/// "p=v1,v2", "p=lo..hi*factor", "p=lo..hi+step", or "p" alone for the values that the workload itself suggests.
/// Throws UsageError for a missing name or an empty value.
Axis axis_from(const std::string& text);

/// The values of an axis as texts, ranges spelled out. Types, bounds and choices are checked against the parameter.
/// Throws UsageError for a malformed or endless range, a value that is not admitted, or one that comes twice.
std::vector<std::string> axis_values(const Axis& axis, const catalog::Workload& workload);

}  // namespace kymo::cli
