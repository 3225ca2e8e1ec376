// SPDX-License-Identifier: Apache-2.0
#include "base/keys.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"

namespace kymo {

Keys::Keys(const Json& table, std::string location) : table_(table), location_(std::move(location)) {
  if (!table.is_object()) fail("must be a table");
}

std::string Keys::origin(const std::string& key) const { return location_ + ": " + quote(key); }

void Keys::fail(const std::string& reason) const { throw UsageError(location_ + ": " + reason); }

void Keys::reject(const std::string& key, const std::string& wanted) const {
  fail("key " + quote(key) + " must be " + wanted);
}

const Json* Keys::find(const std::string& key) {
  if (!contains(known_, key)) known_.push_back(key);
  const auto found = table_.find(key);
  return found == table_.end() ? nullptr : &*found;
}

const Json* Keys::find_table(const std::string& key) {
  const Json* found = find(key);
  if (found != nullptr && !found->is_object()) reject(key, "a table");
  return found;
}

const Json* Keys::find_array(const std::string& key) {
  const Json* found = find(key);
  if (found != nullptr && !found->is_array())
    reject(key, "an array of tables; there is no [[" + key + "]] with two brackets");
  return found;
}

const Json& Keys::required(const std::string& key, const std::string& wanted, bool (*is_valid)(const Json&)) {
  const Json* found = find(key);
  if (found == nullptr) fail("key " + quote(key) + " is missing; it must be " + wanted);
  if (!is_valid(*found)) reject(key, wanted);
  return *found;
}

std::string Keys::text(const std::string& key) {
  return required(key, "a string", [](const Json& value) { return value.is_string(); }).get<std::string>();
}

std::string Keys::non_empty_text(const std::string& key) {
  const auto is_valid = [](const Json& value) { return value.is_string() && !trim(value.get<std::string>()).empty(); };
  return required(key, "a non-empty string", is_valid).get<std::string>();
}

std::vector<std::string> Keys::texts(const std::string& key) {
  const auto is_valid = [](const Json& value) {
    return value.is_array() && !value.empty() && std::ranges::all_of(value, &Json::is_string);
  };
  return required(key, "an array of strings", is_valid).get<std::vector<std::string>>();
}

std::string Keys::text_or(const std::string& key, const std::string& fallback) {
  return find(key) == nullptr ? fallback : text(key);
}

std::int64_t Keys::integer_or(const std::string& key, std::int64_t fallback) {
  const Json* found = find(key);
  if (found == nullptr) return fallback;
  if (!found->is_number_integer()) reject(key, "a whole number");
  return found->get<std::int64_t>();
}

bool Keys::flag_or(const std::string& key, bool fallback) {
  const Json* found = find(key);
  if (found == nullptr) return fallback;
  if (!found->is_boolean()) reject(key, "true or false");
  return found->get<bool>();
}

std::size_t Keys::word_or(const std::string& key, const std::vector<std::string>& words, std::size_t fallback) {
  if (find(key) == nullptr) return fallback;
  const std::string word = text(key);
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) reject(key, "one of " + join(words, ", ") + ", not " + quote(word));
  return static_cast<std::size_t>(found - words.begin());
}

void Keys::finish() const {
  for (const auto& [key, value] : table_.items())
    if (!contains(known_, key)) fail("unknown key " + quote(key) + suggestion(key, known_));
}

}  // namespace kymo
