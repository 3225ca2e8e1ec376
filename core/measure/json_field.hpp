// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.hpp"
#include "base/json.hpp"

namespace kymo::measure {

/// A field that must be there; `owner` names what holds it ("a plan"). Throws Error naming the field if it is missing
/// or of another type.
template <typename T>
T required_field(const Json& json, const char* name, const char* owner) {
  const auto found = json.find(name);
  if (found == json.end()) throw Error(std::string(owner) + " lacks its field '" + name + "'");
  try {
    return found->get<T>();
  } catch (const Json::exception&) {
    throw Error(std::string(owner) + " has a field '" + name + "' of the wrong type");
  }
}

}  // namespace kymo::measure
