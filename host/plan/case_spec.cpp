// SPDX-License-Identifier: Apache-2.0
#include "plan/case_spec.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <type_traits>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"

namespace kymo::plan {
namespace {

constexpr const char* kRangeForm = "lo..hi*factor or lo..hi+step";

/// The bounds and step of a range "lo..hi*by" or "lo..hi+by", as text.
struct Range {
  std::string low, high, by;
  char operation = '+';
};

[[noreturn]] void fail(const Axis& axis, const std::string& item, const std::string& reason) {
  throw UsageError("axis " + quote(axis.parameter) + ": " + quote(item) + " " + reason);
}

Range range_from(const Axis& axis, const std::string& item) {
  const std::size_t dots = item.find("..");
  // The search starts after the first character of `hi`, which may be a sign. The sign of an exponent is no operator.
  std::size_t position = dots + 3;
  while (position < item.size() && item[position] != '*' &&
         !(item[position] == '+' && item[position - 1] != 'e' && item[position - 1] != 'E'))
    ++position;
  if (position >= item.size()) fail(axis, item, std::string("is not a range; expected ") + kRangeForm);
  return {trim(item.substr(0, dots)), trim(item.substr(dots + 2, position - dots - 2)), trim(item.substr(position + 1)),
          item[position]};
}

template <typename Number>
Number number_of(const Axis& axis, const std::string& item, const std::string& text) {
  std::optional<Number> number;
  if constexpr (std::is_integral_v<Number>) {
    number = parse_integer(text);
  } else {
    number = parse_real(text);
  }
  if (number) return *number;
  fail(axis, item,
       "contains " + quote(text) + " where a " + (std::is_integral_v<Number> ? "whole " : "") + "number is expected" +
           number_hint(text));
}

void check_count(const Axis& axis, const std::string& item, std::size_t count) {
  if (count >= kMaxCases) fail(axis, item, "has more than " + std::to_string(kMaxCases) + " values");
}

std::vector<std::string> whole_range(const Axis& axis, const std::string& item, const Range& range) {
  const auto low = number_of<std::int64_t>(axis, item, range.low);
  const auto high = number_of<std::int64_t>(axis, item, range.high);
  const auto by = number_of<std::int64_t>(axis, item, range.by);
  if (low > high) fail(axis, item, "has an upper bound below its lower bound");
  if (range.operation == '+' && by < 1) fail(axis, item, "needs a step of at least 1");
  if (range.operation == '*' && (by < 2 || low < 1))
    fail(axis, item, "needs a factor of at least 2 and a lower bound of at least 1");
  std::vector<std::string> texts;
  for (std::int64_t value = low; value <= high;) {
    check_count(axis, item, texts.size());
    texts.push_back(std::to_string(value));
    const bool overflow =
        range.operation == '+' ? __builtin_add_overflow(value, by, &value) : __builtin_mul_overflow(value, by, &value);
    if (overflow) break;
  }
  return texts;
}

std::vector<std::string> real_range(const Axis& axis, const std::string& item, const Range& range) {
  const auto low = number_of<double>(axis, item, range.low);
  const auto high = number_of<double>(axis, item, range.high);
  const auto by = number_of<double>(axis, item, range.by);
  if (!std::isfinite(low) || !std::isfinite(high) || !std::isfinite(by))
    fail(axis, item, "has bounds that are not finite");
  if (low > high) fail(axis, item, "has an upper bound below its lower bound");
  const bool sum = range.operation == '+';
  if (sum && by <= 0) fail(axis, item, "needs a step above 0");
  if (!sum && (by <= 1 || low <= 0)) fail(axis, item, "needs a factor above 1 and a lower bound above 0");
  // Compute the number of values first: rounding must neither drop the last value nor add one.
  const double last = std::floor((sum ? (high - low) / by : std::log(high / low) / std::log(by)) + 1e-9);
  if (!(last < static_cast<double>(kMaxCases))) check_count(axis, item, kMaxCases);
  std::vector<std::string> texts;
  for (double index = 0; index <= last; ++index) {
    const double value = std::min(high, sum ? low + index * by : low * std::pow(by, index));
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.12g", value);
    texts.emplace_back(buffer);
  }
  return texts;
}

const catalog::Parameter* find_parameter(const catalog::Workload& workload, const std::string& name) {
  const auto position = std::ranges::find(workload.parameters, name, &catalog::Parameter::name);
  return position == workload.parameters.end() ? nullptr : &*position;
}

}  // namespace

Axis axis_from(const std::string& text) {
  Axis axis;
  const std::size_t equals = text.find('=');
  axis.parameter = text.substr(0, equals);
  if (axis.parameter.empty())
    throw UsageError("--axis takes parameter=v1,v2,... or parameter=" + std::string(kRangeForm) + ", not " +
                     quote(text));
  if (equals == std::string::npos) return axis;
  for (const std::string& item : split(text.substr(equals + 1), ',')) {
    axis.items.push_back(trim(item));
    if (axis.items.back().empty()) throw UsageError("--axis " + quote(text) + " has an empty value");
  }
  return axis;
}

std::vector<std::string> axis_values(const Axis& axis, const catalog::Workload& workload) {
  const catalog::Parameter* parameter = find_parameter(workload, axis.parameter);
  if (parameter == nullptr)
    catalog::bind_parameters(workload, {{axis.parameter, ""}});  // throws with the closest match
  const bool suggested = axis.items.empty();
  std::vector<std::string> defaults = parameter->axis;
  if (defaults.empty()) defaults = parameter->choices;
  if (defaults.empty() && parameter->type == catalog::ParameterType::kBool) defaults = {"false", "true"};
  if (suggested && defaults.empty()) {
    throw UsageError("axis " + quote(axis.parameter) + ": workload " + quote(workload.name) +
                     " has no default values; pass --axis " + axis.parameter + "=v1,v2");
  }
  const bool whole = parameter->type == catalog::ParameterType::kInt;
  const bool real = parameter->type == catalog::ParameterType::kReal;
  std::vector<std::string> texts;
  for (const std::string& item : suggested ? defaults : axis.items) {
    if ((whole || real) && item.find("..") != std::string::npos) {
      const Range range = range_from(axis, item);
      const auto part = whole ? whole_range(axis, item, range) : real_range(axis, item, range);
      append_range(texts, part);
    } else {
      texts.push_back(item);
    }
  }
  std::set<measure::Value> seen;
  for (const std::string& text : texts) {
    // Compare bound values, so that 1 and 01 count as the same value.
    if (!seen.insert(catalog::bind_parameters(workload, {{axis.parameter, text}}).at(axis.parameter)).second) {
      fail(axis, text, "is given twice");
    }
  }
  return texts;
}

std::vector<std::int64_t> take_rank_axis(std::vector<Axis>& axes) {
  const auto axis = std::find_if(axes.begin(), axes.end(), [](const Axis& each) { return each.parameter == "ranks"; });
  if (axis == axes.end()) return {};
  catalog::Parameter ranks;
  ranks.name = "ranks";
  ranks.type = catalog::ParameterType::kInt;
  ranks.minimum = 1;
  ranks.maximum = kMaxRanks;
  catalog::Workload any;
  any.name = "any";
  any.parameters = {ranks};
  std::vector<std::int64_t> values;
  if (axis->items.empty()) throw UsageError("--axis ranks needs values, such as --axis ranks=1,2,4");
  for (const std::string& text : axis_values(*axis, any)) values.push_back(*parse_integer(text));
  axes.erase(axis);
  return values;
}

std::vector<measure::Method> methods_of(const CaseSpec& spec) {
  std::vector<measure::Method> methods{spec.method};
  for (const measure::Setting& setting : measure::settings()) {
    const auto axis = spec.method_axes.find(setting.name);
    if (axis == spec.method_axes.end()) continue;
    std::vector<measure::Method> varied;
    for (const measure::Method& method : methods)
      for (const measure::MethodChange& change : axis->second) change(varied.emplace_back(method));
    methods = std::move(varied);
  }
  return methods;
}

}  // namespace kymo::plan
