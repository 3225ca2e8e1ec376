// SPDX-License-Identifier: Apache-2.0
#include "worker/verification.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <vector>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "worker/failure.hpp"

namespace kymo::worker {
namespace {

constexpr std::size_t kMaxCheckBytes = 4000;  // of all failed checks

std::optional<double> finite(double value) {
  return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
}

std::string describe(const event::Check& check) {
  std::ostringstream text;
  text << "check " << quote(check.name)
       << (check.outcome == event::CheckOutcome::kFailed ? " failed" : " could not be performed");
  if (!check.reference.empty()) text << " against " << check.reference;
  if (check.outcome == event::CheckOutcome::kFailed) {
    const auto number = [&](const std::optional<double>& value) { value ? text << *value : text << "not finite"; };
    text << ": largest absolute error ";
    number(check.max_abs_error);
    text << ", relative ";
    number(check.max_rel_error);
    if (check.tolerance) text << ", tolerance " << *check.tolerance;
  }
  if (!check.detail.empty()) text << ": " << check.detail;
  return first_line(text.str());
}

}  // namespace

std::vector<event::Check> checks_of(const kymo_verification& verification) {
  std::vector<event::Check> checks;
  const auto* position = reinterpret_cast<const char*>(verification.checks);
  for (std::uint32_t i = 0; i < verification.check_count && position; ++i) {
    const auto& from = *reinterpret_cast<const kymo_check*>(position);
    event::Check check;
    check.name = or_empty(from.name);
    check.reference = or_empty(from.reference);
    check.detail = or_empty(from.detail);
    // An invalid outcome must not count as passed.
    check.outcome = from.outcome == KYMO_CHECK_PASSED        ? event::CheckOutcome::kPassed
                    : from.outcome == KYMO_CHECK_UNAVAILABLE ? event::CheckOutcome::kUnavailable
                                                             : event::CheckOutcome::kFailed;
    if (check.outcome != event::CheckOutcome::kUnavailable) {
      check.max_abs_error = finite(from.max_abs_error);
      check.max_rel_error = finite(from.max_rel_error);
      check.tolerance = finite(from.tolerance);
    }
    checks.push_back(std::move(check));
    position += from.size;
  }
  return checks;
}

measure::Outcome summarize_checks(const std::vector<event::Check>& checks) {
  using event::CheckOutcome;
  using measure::RunStatus;
  const auto worst = std::ranges::max_element(checks, {}, &event::Check::outcome);
  if (worst == checks.end()) return {RunStatus::kOk, "the workload performed no checks", CheckOutcome::kUnavailable};
  if (worst->outcome == CheckOutcome::kPassed) return {RunStatus::kOk, "", worst->outcome};
  std::vector<std::string> texts;
  for (const event::Check& check : checks)
    if (check.outcome == worst->outcome) texts.push_back(describe(check));
  return {worst->outcome == CheckOutcome::kFailed ? RunStatus::kFailed : RunStatus::kOk,
          one_line(join(texts, "; "), kMaxCheckBytes), worst->outcome};
}

}  // namespace kymo::worker
