// SPDX-License-Identifier: Apache-2.0
#include "cli/window_option.hpp"

#include <algorithm>
#include <sstream>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/run_options.hpp"
#include "plan/option_text.hpp"

namespace kymo::cli {
using namespace plan;
namespace {

constexpr const char* kOption = "--steps";

supervisor::Window window_from(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos)
    throw UsageError(std::string(kOption) + ": " + quote(text) +
                     " is not a range of steps FIRST:END, such as 10:20, and not 'every N for M'");
  supervisor::Window window;
  window.first = whole_number(kOption, text.substr(0, colon), 0, measure::kMaxSteps);
  const std::string end = text.substr(colon + 1);
  window.steps = end.empty() ? measure::kMaxFreeSteps
                             : whole_number(kOption, end, window.first + 1, measure::kMaxSteps) - window.first;
  return window;
}

/// "every N for M": the steps N to N + M - 1, 2 N to 2 N + M - 1, and so on.
WindowOption repeated_from(const std::string& text) {
  std::istringstream words(text);
  std::string every, period, for_, steps, more;
  if (!(words >> every >> period >> for_ >> steps) || for_ != "for" || words >> more)
    throw UsageError(std::string(kOption) + ": " + quote(text) + " is not 'every N for M', such as 'every 500 for 5'");
  WindowOption option;
  option.period = whole_number(kOption, period, 1, measure::kMaxSteps);
  option.windows = {{.first = option.period, .steps = whole_number(kOption, steps, 1, option.period)}};
  return option;
}

}  // namespace

WindowOption windows_from(const std::string& text) {
  WindowOption option = text.starts_with("every") ? repeated_from(text) : WindowOption{};
  if (option.period == 0)
    for (const std::string& part : split(text, ',')) option.windows.push_back(window_from(trim(part)));
  std::int64_t end = option.period > 0 ? option.windows.front().steps : 0;  // of the window before
  for (supervisor::Window& window : option.windows) {
    if (window.steps == measure::kMaxFreeSteps && &window != &option.windows.back())
      throw UsageError(std::string(kOption) + ": only the last window may have no end");
    if (window.first < end)
      throw UsageError(std::string(kOption) + ": the window that begins with step " + std::to_string(window.first) +
                       " begins before the end of the one before it, " + std::to_string(end));
    window.warmup = std::min(window.first - end, kWarmupSteps);
    end = window.end();
  }
  return option;
}

}  // namespace kymo::cli
