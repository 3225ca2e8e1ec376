// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "catalog/catalog.hpp"

namespace kymo::catalog {
namespace {

std::string admitted(const Parameter& parameter) {
  std::string what;
  switch (parameter.type) {
    case ParameterType::kInt:
      what = "a whole number";
      break;
    case ParameterType::kReal:
      what = "a number";
      break;
    case ParameterType::kBool:
      return "true or false";
    case ParameterType::kText:
      return "a string";
    case ParameterType::kChoice:
      return "one of " + join(parameter.choices, ", ");
  }
  if (parameter.minimum && parameter.maximum)
    return what + fmt::format(" from {} to {}", *parameter.minimum, *parameter.maximum);
  if (parameter.minimum) return what + fmt::format(" of at least {}", *parameter.minimum);
  if (parameter.maximum) return what + fmt::format(" of at most {}", *parameter.maximum);
  return what;
}

/// True if the text contains several settings, as in n=1,d=2.
bool holds_several(const std::string& text) {
  const std::size_t comma = text.find(','), equals = text.find('=', comma);
  return comma != std::string::npos && equals != std::string::npos;
}

[[noreturn]] void reject(const Parameter& parameter, const std::string& text, std::string more = "") {
  if (holds_several(text))
    more += "; set each parameter separately: --set NAME=VALUE --set NAME=VALUE";
  else if (text.find(',') != std::string::npos)
    more += "; to run each of several values: --axis " + parameter.name + "=" + text;
  throw UsageError("parameter " + quote(parameter.name) + " cannot be " + quote(text) + ": expected " +
                   admitted(parameter) + more);
}

bool parse_boolean(const Parameter& parameter, const std::string& text) {
  for (const char* word : {"true", "1", "yes", "on"})
    if (text == word) return true;
  for (const char* word : {"false", "0", "no", "off"})
    if (text == word) return false;
  reject(parameter, text);
}

}  // namespace

measure::Value parse_value(const Parameter& parameter, const std::string& text) {
  measure::Value value;
  switch (parameter.type) {
    case ParameterType::kInt:
      if (const auto number = parse_integer(text)) {
        value = *number;
      } else {
        reject(parameter, text, number_hint(text));
      }
      break;
    case ParameterType::kReal:
      if (const auto number = parse_real(text)) {
        value = *number;
      } else {
        reject(parameter, text, number_hint(text));
      }
      break;
    case ParameterType::kBool:
      value = parse_boolean(parameter, text);
      break;
    case ParameterType::kText:
    case ParameterType::kChoice:
      value = text;
      break;
  }
  check_value(parameter, value);
  return value;
}

void check_value(const Parameter& parameter, const measure::Value& value) {
  if (parameter.type == ParameterType::kChoice) {
    const auto& text = std::get<std::string>(value);
    if (contains(parameter.choices, text)) return;
    const auto near = nearest(text, parameter.choices);
    reject(parameter, text, near ? "; did you mean " + quote(*near) + "?" : "");
  }
  double number = 0;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    number = static_cast<double>(*integer);
  } else if (const auto* real = std::get_if<double>(&value)) {
    number = *real;
  } else {
    return;
  }
  const bool low = parameter.minimum && number < *parameter.minimum;
  const bool high = parameter.maximum && number > *parameter.maximum;
  if (!std::isfinite(number) || low || high) reject(parameter, measure::to_text(value));
}

measure::Parameters bind_parameters(const Workload& workload,
                                    const std::vector<std::pair<std::string, std::string>>& texts) {
  measure::Parameters bound;
  for (const Parameter& parameter : workload.parameters) bound[parameter.name] = parameter.default_value;
  for (const auto& [name, text] : texts) {
    const auto at = std::ranges::find(workload.parameters, name, &Parameter::name);
    if (at != workload.parameters.end()) {
      bound[name] = parse_value(*at, text);
      continue;
    }
    std::vector<std::string> names;
    for (const Parameter& parameter : workload.parameters) names.push_back(parameter.name);
    const std::string hint = names.empty() ? "; it has no parameters" : suggestion(name, names);
    throw UsageError("workload " + quote(workload.name) + " has no parameter " + quote(name) + hint);
  }
  return bound;
}

}  // namespace kymo::catalog
