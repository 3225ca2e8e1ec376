// SPDX-License-Identifier: Apache-2.0
#include "base/frame.hpp"

#include <cstdint>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo {
namespace {

Frame parse_frame(std::string body) {
  static constexpr const char* kInvalid = "sent an invalid message";
  const std::size_t end = body.find('\0');
  Frame frame{parse_json(std::string_view(body).substr(0, end), kInvalid), ""};
  if (!frame.message.is_object()) throw Error(std::string(kInvalid) + ": a frame is not a JSON object");
  if (end != std::string::npos) frame.payload = std::move(body.erase(0, end + 1));
  return frame;
}

}  // namespace

std::string encode_frame(const Json& message, std::string_view payload) {
  std::string bytes(4, '\0');
  bytes += dump_json(message);
  if (!payload.empty()) (bytes += '\0') += payload;
  const std::size_t length = bytes.size() - 4;
  if (length > kMaxFrameBytes)
    throw Error("cannot send " + format_bytes(static_cast<std::int64_t>(length)) + " in one frame");
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<char>(length >> (8 * i) & 0xFF);
  return bytes;
}

std::span<char> FrameDecoder::missing() {
  const std::span<char> all = body_.empty() ? std::span<char>(length_) : std::span<char>(body_);
  return all.subspan(received_);
}

std::optional<Frame> FrameDecoder::take(std::size_t count) {
  received_ += count;
  if (!missing().empty()) return std::nullopt;
  received_ = 0;
  if (!body_.empty()) return parse_frame(std::exchange(body_, {}));
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length |= std::size_t{static_cast<unsigned char>(length_[i])} << (8 * i);
  if (length == 0 || length > max_bytes_) {
    throw Error("announced a frame of " + std::to_string(length) + " bytes; 1 to " + std::to_string(max_bytes_) +
                " allowed");
  }
  body_.resize(length);
  return std::nullopt;
}

}  // namespace kymo
