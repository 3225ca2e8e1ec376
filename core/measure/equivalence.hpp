// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "measure/plan.hpp"

/// Which runs are alike, and in which settings runs differ.
namespace kymo::measure {

/// A case, how it is measured, and its place in a suite.
struct RunIdentity {
  Case what;
  Method method;
  std::string suite;       ///< empty outside a suite
  std::string suite_case;  ///< name of the case within the suite
  int repetition = 0;
};

/// What two runs have in common.
enum class Equivalence {
  /// Workload, parameters, ranks, device, timing and synchronization: `kymo compare` compares them.
  kCase,
  /// The same case of the same suite, measured with the same settings, by any build of the plugin: a newer run replaces
  /// an older one in reports.
  kSettings,
  /// Case, method, plugin and its libraries: they are repetitions. Limits on a run do not change what it measures.
  kPlan,
  /// A worker that has executed one can execute the other.
  kWorker,
  /// Everything except the plugin, whose file may have another path on another machine.
  kJob
};

/// Returns a key that is equal for equivalent runs: 16 hexadecimal digits.
std::string equivalence_key(const RunIdentity& run, Equivalence equivalence);

/// Settings of a run as text: its parameters, and command-line options such as "--ranks".
using Settings = std::map<std::string, std::string>;

struct WorkloadSettings {
  std::string workload;
  Settings settings;
};

/// For each workload, the names of the settings that vary among its runs; `all`: the names of all settings.
std::map<std::string, std::set<std::string>> differing_names(const std::vector<WorkloadSettings>& runs,
                                                             bool all = false);

/// For each run, "name=value ..." for these settings of its workload. An option is shown without its "--", unless there
/// is a parameter of the same name.
std::vector<std::string> differing(const std::vector<WorkloadSettings>& runs, bool all = false);

}  // namespace kymo::measure
