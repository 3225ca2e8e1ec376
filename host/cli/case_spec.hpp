// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/axis.hpp"
#include "cli/option_text.hpp"
#include "measure/plan.hpp"

namespace kymo::cli {

/// One workload with its axes and how to measure it: what a command line or one [[case]] of a suite asks for.
struct CaseSpec {
  std::string suite;  ///< empty outside a suite
  std::string name;   ///< of the case within the suite; empty outside
  std::string workload;
  std::vector<std::pair<std::string, std::string>> set;
  std::vector<Axis> axes;
  std::vector<std::int64_t> ranks{1};
  std::vector<std::int64_t> warmups;  ///< an axis of the method; empty: the method's own
  DeviceChoice device = DeviceChoice::kAuto;
  measure::Method method;
  std::int64_t repeat = 1;
};

}  // namespace kymo::cli
