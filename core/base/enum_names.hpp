// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo {

template <typename Enum>
struct EnumName {
  Enum value;
  const char* name;
};

/// The names of an enumeration's values in messages, files and databases. Create it with enum_names().
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

}  // namespace kymo
