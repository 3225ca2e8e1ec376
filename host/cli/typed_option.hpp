// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>

#include "plan/option_text.hpp"

/// Options of commands whose text is converted to a value. Their targets must exist until the command is run.
namespace kymo::cli {

inline constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();

/// `convert` is called with the text, or with the name and the text, and may throw UsageError.
template <typename Value, typename Convert>
CLI::Option* typed_option(CLI::App& app, const std::string& name, Value& target, const std::string& type,
                          const std::string& documentation, Convert convert) {
  const auto set = [name, &target, convert](const std::string& text) {
    if constexpr (std::invocable<Convert, std::string>)
      target = convert(text);
    else
      target = convert(name, text);
  };
  return app.add_option_function<std::string>(name, set, documentation)->type_name(type);
}

template <typename Value>
CLI::Option* number_option(CLI::App& app, const std::string& name, Value& target, std::int64_t low, std::int64_t high,
                           const std::string& documentation) {
  return typed_option(app, name, target, "N", documentation, [low, high](const std::string& option, const auto& text) {
    return whole_number(option, text, low, high);
  });
}

template <typename Value>
CLI::Option* seconds_option(CLI::App& app, const std::string& name, Value& target, double low, double high,
                            const std::string& documentation) {
  return typed_option(
      app, name, target, "SECONDS", documentation,
      [low, high](const std::string& option, const auto& text) { return real_number(option, text, low, high); });
}

}  // namespace kymo::cli
