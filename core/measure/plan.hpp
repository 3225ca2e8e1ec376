// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/json.hpp"

namespace kymo::measure {

/// A parameter's value; choices are text.
using Value = std::variant<bool, std::int64_t, double, std::string>;
using Parameters = std::map<std::string, Value>;

std::string to_text(const Value& value);

enum class DeviceKind { kCpu, kCuda };
enum class Pass { kTime, kVerify, kMemory, kTrace, kOps };
enum class Sync { kStep, kPhase };

const char* to_string(DeviceKind kind);
const char* to_string(Pass pass);
const char* to_string(Sync sync);
/// Throw UsageError naming the admitted words.
DeviceKind device_kind_from(const std::string& word);
Pass pass_from(const std::string& word);
Sync sync_from(const std::string& word);

/// A workload with all its parameters fixed.
struct Case {
  std::string plugin_file;  ///< absolute path
  std::string plugin_sha256;
  std::map<std::string, std::string> plugin_libraries;  ///< of the plugin's folder, loaded with it: sha256 by file name
  std::string workload;
  Parameters parameters;  ///< every declared parameter, defaults included
  int ranks = 1;
  DeviceKind device = DeviceKind::kCpu;
};

/// End the steps once the mean of the whole step is known well enough.
struct StoppingRule {
  double relative_standard_error = 0.01;
  std::int64_t min_samples = 10;
  std::int64_t max_samples = 10'000;
  double max_seconds = 60;
};

/// How the passes memory, trace and ops observe.
struct Observation {
  std::int64_t warmup = 3;  ///< steps before the observed ones that count; never more than the time pass makes
  std::int64_t steps = 5;   ///< the same
  bool memsets = false;     ///< record memsets too
  bool synchronization = false;
  bool pauses = false;         ///< what tracing itself took
  bool api_calls = false;      ///< all calls into CUDA: slow
  bool shapes = false;         ///< of the operators' inputs
  bool stacks = true;          ///< where blocks of memory were asked for
  std::string kernel_classes;  ///< file of the user's patterns for classes of kernels; empty for none
  std::int64_t memory_bytes = std::int64_t{512}
                              << 20;  ///< bound on what events may take in a worker before they are written
};

/// How a case is measured.
struct Method {
  std::int64_t warmup = 5;
  std::int64_t steps = 10;
  std::optional<StoppingRule> until;  ///< instead of `steps`
  Sync sync = Sync::kStep;
  std::string mode = "sync";  ///< how the time pass is made: sync, hot or cold (measure/mode.hpp)
  std::vector<Pass> passes{Pass::kVerify, Pass::kTime};
  std::uint64_t seed = 0;
  double timeout_s = 600;              ///< a worker without progress for this long is ended as `timeout`
  std::int64_t host_memory_bytes = 0;  ///< bound on a worker's resident size; 0 = none
  bool fresh = false;                  ///< never reuse a time worker
  std::string wrap;                    ///< program put before the worker, split at spaces
  Observation observation;
};

/// What is compared: workload, parameters, ranks and device kind. 16 hexadecimal digits.
std::string case_key(const Case& what);

/// What makes two runs repetitions of each other: the case key, the method and the hashes of the plugin and its
/// libraries. 16 hexadecimal digits.
std::string plan_key(const Case& what, const Method& how);

/// True if the pass observes events: memory, trace and ops.
inline bool observes(Pass pass) { return pass != Pass::kTime && pass != Pass::kVerify; }

/// The method of one pass: memory, trace and ops make fewer steps than the time pass, and no stopping rule ends them.
Method method_in(const Method& how, Pass pass);

Json to_json(const Case& what);
Json to_json(const Method& how);
Case case_from_json(const Json& json);
Method method_from_json(const Json& json);
Json to_json(const Value& value);
Value value_from_json(const Json& json);

}  // namespace kymo::measure
