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

/// One workload with its axes and its method, from the command line or from one [[case]] of a suite.
struct CaseSpec {
  std::string suite;                ///< empty outside a suite
  std::string name;                 ///< name of the case within the suite; empty outside a suite
  std::string workload;             ///< in a suite, a pattern if it contains '*'
  std::vector<std::string> except;  ///< workloads excluded from the pattern
  std::vector<std::pair<std::string, std::string>> set;
  std::vector<Axis> axes;
  std::vector<std::int64_t> ranks{1};
  std::vector<std::int64_t> warmups;  ///< values of the warm-up axis; empty: the method's own warm-up
  DeviceChoice device = DeviceChoice::kAuto;
  measure::Method method;
  std::int64_t repeat = 1;
};

}  // namespace kymo::cli
