// SPDX-License-Identifier: Apache-2.0
#include "measure/mode.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo::measure {
namespace {

const std::vector<std::string>& modes() {
  static const std::vector<std::string> words = {kSyncMode, kHotMode, kColdMode};
  return words;
}

bool is_mode(const std::string& word) { return std::find(modes().begin(), modes().end(), word) != modes().end(); }

}  // namespace

std::string mode_from(const std::string& word) {
  if (!is_mode(word)) throw UsageError("unknown mode " + quote(word) + suggestion(word, modes()));
  return word;
}

std::string mode_objection(const Method& how, const Case& what, const StepNature& step) {
  if (how.mode == kSyncMode) return "";
  if (!is_mode(how.mode)) return "unsupported timing mode " + quote(how.mode) + "; supported: " + join(modes(), ", ");
  const std::string refusal = "workload " + quote(what.workload) + " does not support timing mode " + how.mode + ": ";
  if (step.phases == 0) return refusal + "it declares no phase, but hot and cold time a phase";
  if (!step.asynchronous)
    return refusal + "its step is not declared asynchronous; a step that waits for the device needs sync";
  if (what.ranks != 1)
    return refusal + std::to_string(what.ranks) + " ranks synchronize before each step, but hot and cold need one rank";
  if (how.sync == Sync::kPhase)
    return refusal + "--sync phase waits for the device within the step, but hot and cold need --sync step";
  return "";
}

}  // namespace kymo::measure
