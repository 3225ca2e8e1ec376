// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "catalog/catalog.hpp"
#include "measure/settings.hpp"
#include "plan/option_text.hpp"

namespace kymo::plan {

/// Upper bound on the number of cases in a plan; larger plans are assumed to be mistakes.
inline constexpr std::size_t kMaxCases = 100'000;

/// A parameter with several values, as written: each item is a value or, for numbers, a range.
struct Axis {
  std::string parameter;
  std::vector<std::string> items;
};

/// Parses "p=v1,v2", "p=lo..hi*factor", "p=lo..hi+step", or "p" alone for the workload's default values. Throws
/// UsageError for a missing name or an empty value.
Axis axis_from(const std::string& text);

/// Returns the values of an axis as text, with ranges expanded. Without values, those are the defaults that the
/// workload declares, or all choices. Types, bounds and choices are checked against the parameter. Throws UsageError
/// for a malformed or unbounded range, an invalid value or a duplicate value.
std::vector<std::string> axis_values(const Axis& axis, const catalog::Workload& workload);

/// Removes the axis `ranks`, which is the number of processes instead of a parameter, and returns its values; empty
/// without such an axis. Throws UsageError as axis_values() does.
std::vector<std::int64_t> take_rank_axis(std::vector<Axis>& axes);

/// As a number of ranks: one for each GPU, and at least as many as the workload needs; on a CPU as many as it needs.
inline constexpr std::int64_t kOnePerGpu = 0;

/// The method of a case that does not state how many steps to measure: it is measured for a minimum time.
inline measure::Method default_method() {
  measure::Method method;
  method.until.emplace();
  return method;
}

/// One workload with its axes and its method, from the command line or from one [[case]] of a suite.
struct CaseSpec {
  std::string suite;                ///< empty outside a suite
  std::string name;                 ///< name of the case within the suite; empty outside a suite
  std::string workload;             ///< in a suite, a pattern if it contains '*'
  std::vector<std::string> except;  ///< workloads excluded from the pattern
  std::vector<std::pair<std::string, std::string>> set;
  std::vector<Axis> axes;
  std::vector<std::int64_t> ranks{1};  ///< or kOnePerGpu
  DeviceChoice device = DeviceChoice::kAuto;
  measure::Method method = default_method();
  std::map<std::string, std::vector<measure::MethodChange>> method_axes =
      {};  ///< values of settings of the method, by name
  std::int64_t repeat = 1;
};

/// The method with every combination of the values of its axes; the last setting varies fastest.
std::vector<measure::Method> methods_of(const CaseSpec& spec);

}  // namespace kymo::plan
