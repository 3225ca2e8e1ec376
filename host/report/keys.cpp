// SPDX-License-Identifier: Apache-2.0
#include "report/keys.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo::report {

Keys::Keys(const Json& table, std::string location) : table_(table), location_(std::move(location)) {
  if (!table.is_object()) throw UsageError(location_ + ": must be a table");
}

void Keys::reject(const std::string& key, const std::string& wanted) const {
  throw UsageError(location_ + ": key " + quote(key) + " must be " + wanted);
}

const Json* Keys::find(const std::string& key) {
  known_.push_back(key);
  const auto found = table_.find(key);
  return found == table_.end() ? nullptr : &*found;
}

const Json* Keys::find_array(const std::string& key) {
  const Json* found = find(key);
  if (found != nullptr && !found->is_array()) reject(key, "an array of tables");
  return found;
}

std::string Keys::text(const std::string& key) {
  const Json* found = find(key);
  if (found == nullptr) throw UsageError(location_ + ": key " + quote(key) + " is missing");
  if (!found->is_string()) reject(key, "a string");
  return found->get<std::string>();
}

std::vector<std::string> Keys::texts(const std::string& key) {
  const Json* found = find(key);
  if (found == nullptr) throw UsageError(location_ + ": key " + quote(key) + " is missing");
  const bool valid = found->is_array() && !found->empty() &&
                     std::all_of(found->begin(), found->end(), [](const Json& each) { return each.is_string(); });
  if (!valid) reject(key, "an array of strings");
  return found->get<std::vector<std::string>>();
}

std::string Keys::text_or(const std::string& key, const std::string& fallback) {
  return table_.contains(key) ? text(key) : (find(key), fallback);
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
  if (!table_.contains(key)) {
    find(key);
    return fallback;
  }
  const std::string word = text(key);
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) reject(key, "one of " + join(words, ", ") + ", not " + quote(word));
  return static_cast<std::size_t>(found - words.begin());
}

void Keys::finish() const {
  for (const auto& [key, value] : table_.items()) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end())
      throw UsageError(location_ + ": unknown key " + quote(key) + suggestion(key, known_));
  }
}

}  // namespace kymo::report
