// SPDX-License-Identifier: Apache-2.0
#include "supervisor/output_capture.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace kymo::supervisor {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Length of the valid UTF-8 sequence at the start of `bytes`; 0 if there is none.
std::size_t sequence_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned lead = at(0);
  if (lead < 0x80) return lead == 0 ? 0 : 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || bytes.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xC0) != 0x80) return 0;
  const unsigned second = at(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool outside = (lead == 0xED && second >= 0xA0) || (lead == 0xF4 && second >= 0x90);
  return overlong || outside ? 0 : length;
}

}  // namespace

std::string valid_utf8(std::string_view bytes) {
  std::string result;
  result.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = sequence_length(bytes);
    result += length ? bytes.substr(0, length) : kReplacement;
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

void OutputCapture::append(std::string_view bytes) {
  total_bytes_ += bytes.size();
  const std::size_t room = kHeadBytes - head_.size();
  const std::size_t to_head = std::min(room, bytes.size());
  head_.append(bytes.substr(0, to_head));
  bytes.remove_prefix(to_head);
  if (bytes.size() >= kTailBytes) {
    tail_ = bytes.substr(bytes.size() - kTailBytes);
    return;
  }
  tail_.append(bytes);
  if (tail_.size() > 2 * kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
}

void OutputCapture::clear() { *this = OutputCapture(); }

std::string OutputCapture::text() const {
  const std::string_view kept_tail =
      std::string_view(tail_).substr(tail_.size() > kTailBytes ? tail_.size() - kTailBytes : 0);
  const std::uint64_t cut = total_bytes_ - head_.size() - kept_tail.size();
  if (cut == 0) return valid_utf8(head_ + std::string(kept_tail));
  return valid_utf8(head_) + "\n[...]\n" + valid_utf8(kept_tail) + "\n[kymo: " + std::to_string(cut) + " of " +
         std::to_string(total_bytes_) + " bytes omitted at [...]]";
}

std::string OutputCapture::last_line() const {
  std::string end = tail_.empty() ? head_ : tail_;
  end.erase(end.find_last_not_of(" \t\r\n") + 1);
  const std::size_t line = end.find_last_of('\n');
  return trim(valid_utf8(line == std::string::npos ? end : end.substr(line + 1)));
}

}  // namespace kymo::supervisor
