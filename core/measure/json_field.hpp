// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "base/json.hpp"

namespace kymo::measure {

/// Returns a required field; `owner` names the object in error messages ("a plan"). Throws Error that names the field
/// if it is missing or has another type.
template <typename T>
T required_field(const Json& json, const char* name, const char* owner) {
  const auto found = json.find(name);
  if (found == json.end()) throw Error(std::string(owner) + " has no field '" + name + "'");
  try {
    return found->get<T>();
  } catch (const Json::exception&) {
    throw Error(std::string(owner) + " has a field '" + name + "' of the wrong type");
  }
}

}  // namespace kymo::measure
