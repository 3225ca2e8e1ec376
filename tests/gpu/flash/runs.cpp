// SPDX-License-Identifier: Apache-2.0
#include "runs.hpp"

#include <charconv>
#include <iterator>

namespace kymo::flash::test {
namespace {

template <class Names>
std::string listed(const Names& names, size_t first) {
  std::string text;
  for (size_t i = first; i < std::size(names); ++i)
    text += (i == first ? "" : i + 1 == std::size(names) ? " or " : ", ") + std::string(names[i]);
  return text;
}

/// Returns the index of the name that equals `value`, starting at `first`.
template <class Names>
size_t index_of(const std::string& key, const std::string& value, const Names& names, size_t first) {
  for (size_t i = first; i < std::size(names); ++i)
    if (value == names[i]) return i;
  throw WrongWord(key + " must be " + listed(names, first) + ", not '" + value + "'");
}

int number(const std::string& key, const std::string& value, int least, int most, int step) {
  int got = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), got);
  if (error == std::errc{} && end == value.data() + value.size() && got >= least && got <= most && got % step == 0)
    return got;
  throw WrongWord(key + " must be a " +
                  (step > 1 ? "multiple of " + std::to_string(step) : std::string("whole number")) + " from " +
                  std::to_string(least) + " to " + std::to_string(most) + ", not '" + value + "'");
}

void read_word(const std::string& word, Choice& choice) {
  const size_t equals = word.find('=');
  const std::string key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
  if (key == "count") {
    choice.count = number(key, value, 1, 1'000'000, 1);
  } else if (key == "d") {
    choice.d = number(key, value, 8, 256, 8);
  } else if (key == "element") {
    choice.element = static_cast<Element>(index_of(key, value, kElements, 0));
  } else if (key == "path") {
    choice.path = static_cast<Path>(index_of(key, value, kPaths, 1));
  } else if (word == "brief") {
    choice.brief = true;
  } else if (word == "single") {
    choice.single = true;
  } else if (word == "decode") {
    choice.decode = true;
  } else if (key == "without") {
    if (value.empty()) throw WrongWord("without must be part of a kernel's name, such as without=_pipelined");
    choice.without.push_back(value);
  } else {
    throw WrongWord("'" + word + "' is not one of count=N, d=D, element=" + listed(kElements, 0) +
                    ", path=" + listed(kPaths, 1) + ", brief, single, decode, without=PART");
  }
}

}  // namespace

Choice read_words(const std::vector<std::string>& words) {
  Choice choice;
  for (const std::string& word : words) read_word(word, choice);
  const bool wide = choice.path == Path::kFloat, fp32 = choice.element == Element::kFloat32;
  if (choice.element && choice.path != Path::kAutomatic && wide != fp32)
    throw WrongWord(std::string("path=") + kPaths[static_cast<size_t>(choice.path)] +
                    " takes element=" + (wide ? "fp32" : "bf16 or fp16") + " only");
  if (wide) choice.element = Element::kFloat32;
  if (fp32) choice.path = Path::kFloat;
  return choice;
}

bool of_size(std::string_view kernel, int64_t d) {
  int padded = 0;
  for (size_t at = kernel.find("_d"); padded == 0 && at != std::string_view::npos; at = kernel.find("_d", at + 2))
    std::from_chars(kernel.data() + at + 2, kernel.data() + kernel.size(), padded);  // not the one of "_decode"
  return padded <= (d <= 64 ? 64 : d <= 128 ? 128 : 256) && padded >= d;
}

}  // namespace kymo::flash::test
