// SPDX-License-Identifier: Apache-2.0
#include "supervisor/output_capture.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace kymo::supervisor {
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

std::string OutputCapture::last_lines(std::size_t count) const {
  const std::vector<std::string> all = split(valid_utf8(tail_.empty() ? head_ : tail_), '\n');
  std::vector<std::string> lines;
  for (auto line = all.rbegin(); line != all.rend() && lines.size() < count; ++line)
    if (std::string text = trim(*line); !text.empty()) lines.insert(lines.begin(), std::move(text));
  return join(lines, " | ");
}

}  // namespace kymo::supervisor
