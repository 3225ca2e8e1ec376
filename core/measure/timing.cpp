// SPDX-License-Identifier: Apache-2.0
#include "measure/timing.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo::measure {
namespace {

const std::vector<std::string>& timings() {
  static const std::vector<std::string> names = {kSyncTiming, kHotTiming, kColdTiming};
  return names;
}

bool is_timing(const std::string& text) {
  return std::find(timings().begin(), timings().end(), text) != timings().end();
}

}  // namespace

std::string timing_from(const std::string& text) {
  if (!is_timing(text)) throw UsageError("unknown timing " + quote(text) + suggestion(text, timings()));
  return text;
}

std::string timing_error(const Method& method, const Case& what, const StepProperties& step) {
  if (method.timing == kSyncTiming) return "";
  if (!is_timing(method.timing))
    return "unsupported timing " + quote(method.timing) + "; supported: " + join(timings(), ", ");
  const std::string prefix = "workload " + quote(what.workload) + " does not support timing " + method.timing + ": ";
  if (step.phases == 0) return prefix + "it declares no phase, but hot and cold time a phase";
  if (!step.asynchronous)
    return prefix + "its step is not declared asynchronous; a step that waits for the device needs sync";
  if (what.ranks != 1)
    return prefix + std::to_string(what.ranks) + " ranks synchronize before each step, but hot and cold need one rank";
  if (method.sync == Sync::kPhase)
    return prefix + "--sync phase waits for the device within the step, but hot and cold need --sync step";
  return "";
}

}  // namespace kymo::measure
