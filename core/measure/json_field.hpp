// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/enum_names.hpp"
#include "base/error.hpp"
#include "base/json.hpp"

namespace kymo::measure {

/// Returns false if a number, or a list of numbers, would change when it is read as a T: the JSON library converts
/// every number and bool to every arithmetic type.
template <typename T>
bool is_exact(const Json& json) {
  if constexpr (std::is_same_v<T, bool>) {
    return json.is_boolean();
  } else if constexpr (std::is_integral_v<T>) {
    if (json.is_number_unsigned()) return std::in_range<T>(json.get<std::uint64_t>());
    return json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
  } else if constexpr (std::is_floating_point_v<T>) {
    return json.is_number();
  } else if constexpr (std::is_same_v<T, std::vector<std::size_t>>) {
    return json.is_array() && std::all_of(json.begin(), json.end(), is_exact<std::size_t>);
  } else {
    return true;
  }
}

/// Returns a required field. Throws Error that names the field if it is missing or has another type, or if it is a
/// number out of the range of its type.
template <typename T>
T required_field(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) throw Error(std::string("there is no field '") + name + "'");
  try {
    if (is_exact<T>(*found)) return found->get<T>();
  } catch (const Json::exception&) {
    // Reported below.
  }
  throw Error(std::string("the field '") + name + "' has the wrong type");
}

/// A struct that lists its JSON fields once for both directions: fields() returns the name of each field followed by a
/// reference to its value. JSON converts to and from such a struct: Json(object), json.get<T>(), which throws Error.
/// If the struct has a `kType`, it is written as the field "type"; if it has check(), it is called after reading.
template <typename T>
concept HasFields = requires(T& object) { T::fields(object); };

template <typename Fields, typename Visit>
void visit_fields(const Fields& fields, Visit visit) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (visit(std::get<2 * i>(fields), std::get<2 * i + 1>(fields)), ...);
  }(std::make_index_sequence<std::tuple_size_v<Fields> / 2>());
}

template <typename Fields>
void write_fields(Json& json, const Fields& fields) {
  visit_fields(fields, [&](const char* name, const auto& value) { json[name] = value; });
}

template <typename Fields>
void read_fields(const Json& json, const Fields& fields) {
  visit_fields(fields, [&](const char* name, auto& value) {
    value = required_field<std::remove_reference_t<decltype(value)>>(json, name);
  });
}

}  // namespace kymo::measure

template <kymo::measure::HasFields T>
struct nlohmann::adl_serializer<T> {
  static void to_json(kymo::Json& json, const T& object) {
    json = kymo::Json::object();
    if constexpr (requires { T::kType; }) json["type"] = T::kType;
    kymo::measure::write_fields(json, T::fields(object));
  }
  static void from_json(const kymo::Json& json, T& object) {
    kymo::measure::read_fields(json, T::fields(object));
    if constexpr (requires { object.check(); }) object.check();
  }
};

/// An enumeration is written as its name.
template <kymo::NamedEnum Enum>
struct nlohmann::adl_serializer<Enum> {
  static void to_json(kymo::Json& json, Enum value) { json = kymo::to_string(value); }
  static void from_json(const kymo::Json& json, Enum& value) { value = kymo::enum_from<Enum>(json.get<std::string>()); }
};

template <typename T>
struct nlohmann::adl_serializer<std::optional<T>> {
  static void to_json(kymo::Json& json, const std::optional<T>& value) {
    json = value ? kymo::Json(*value) : kymo::Json(nullptr);
  }
  static void from_json(const kymo::Json& json, std::optional<T>& value) {
    value = json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
  }
};
