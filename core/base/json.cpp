// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include <toml++/toml.h>

#include <sstream>

#include "base/error.hpp"
#include "base/file.hpp"

namespace kymo {
namespace {

Json to_json(const toml::node& node) {
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [key, value] : *table) object[std::string(key.str())] = to_json(value);
    return object;
  }
  if (const auto* array = node.as_array()) {
    Json list = Json::array();
    for (const auto& value : *array) list.push_back(to_json(value));
    return list;
  }
  if (auto value = node.value_exact<bool>()) return *value;
  if (auto value = node.value_exact<std::int64_t>()) return *value;
  if (auto value = node.value_exact<double>()) return *value;
  if (auto value = node.value_exact<std::string>()) return *value;
  std::ostringstream text;  // dates and times are stored as text, because no setting uses these types
  node.visit([&](const auto& value) {
    if constexpr (toml::is_date<decltype(value)> || toml::is_time<decltype(value)> ||
                  toml::is_date_time<decltype(value)>)
      text << *value;
  });
  return text.str();
}

}  // namespace

Json parse_json(std::string_view text, const std::string& origin) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    throw Error(origin + ": not valid JSON at byte " + std::to_string(e.byte));
  } catch (const Json::out_of_range&) {
    throw Error(origin + ": not valid JSON: a number is out of range");
  }
}

std::string dump_json(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json parse_toml(std::string_view text, const std::string& origin) {
  try {
    return to_json(toml::parse(text, origin));
  } catch (const toml::parse_error& e) {
    const auto& position = e.source().begin;
    std::ostringstream message;
    message << origin << ':' << position.line << ':' << position.column << ": " << e.description();
    throw UsageError(message.str());
  }
}

Json read_toml(const std::filesystem::path& file) { return parse_toml(read_file(file), file.string()); }

}  // namespace kymo
