// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo {

template <typename Enum>
struct EnumName {
  Enum value;
  const char* name;
};

/// The names of an enumeration's values in messages, files and databases.
template <typename Enum, std::size_t kCount>
struct EnumNames {
  const char* what;  ///< the kind of value, for error messages
  std::array<EnumName<Enum>, kCount> entries;

  /// Throws Error for a value that is not in the table.
  constexpr const char* name(Enum value) const {
    for (const auto& entry : entries)
      if (entry.value == value) return entry.name;
    throw Error(std::string("invalid ") + what);
  }

  std::optional<Enum> find(std::string_view name) const {
    for (const auto& entry : entries)
      if (name == entry.name) return entry.value;
    return std::nullopt;
  }

  /// Throws UsageError that lists the allowed names and suggests the nearest one.
  Enum value(std::string_view name) const {
    if (const auto found = find(name)) return *found;
    const auto near = nearest(name, names());
    throw UsageError(std::string("unknown ") + what + " " + quote(name) + "; expected one of " + join(names(), ", ") +
                     (near ? "; did you mean " + quote(*near) + "?" : ""));
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : entries) all.emplace_back(entry.name);
    return all;
  }
};

template <typename Enum, std::size_t kCount>
constexpr EnumNames<Enum, kCount> enum_names(const char* what, const EnumName<Enum> (&entries)[kCount]) {
  return {what, std::to_array(entries)};
}

/// An enumeration whose namespace has a function names_of(Enum), which returns its EnumNames.
template <typename Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires(Enum value) { names_of(value); };

/// Throws Error for a value without a name.
template <NamedEnum Enum>
const char* to_string(Enum value) {
  static constexpr auto kNames = names_of(Enum{});
  return kNames.name(value);
}

/// Throws UsageError that lists the allowed names and suggests the nearest one.
template <NamedEnum Enum>
Enum enum_from(std::string_view name) {
  return names_of(Enum{}).value(name);
}

}  // namespace kymo
