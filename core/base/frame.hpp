// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.hpp"

namespace kymo {

/// What kymo's processes send each other over a stream socket. A frame is a 4-byte little-endian length, 1 to
/// kMaxFrameBytes, followed by that many bytes: a JSON object in UTF-8 (which contains no zero byte) and, if the
/// message has a payload, a zero byte and the payload up to the end of the frame.
struct Frame {
  Json message;
  std::string payload;  ///< binary data; empty if there is none
};

inline constexpr std::size_t kMaxFrameBytes = 64u << 20;

/// Returns the bytes of a frame. Invalid UTF-8 in the message is replaced. Throws Error if the frame is too long.
std::string encode_frame(const Json& message, std::string_view payload = {});

/// Decodes the frames of one connection. It asks for no byte beyond the current frame, so that the connection can be
/// handed over between two frames.
class FrameDecoder {
 public:
  explicit FrameDecoder(std::size_t max_bytes = kMaxFrameBytes) : max_bytes_(max_bytes) {}

  /// Sets the limit for the frames whose length has not been received yet.
  void set_max_bytes(std::size_t max_bytes) { max_bytes_ = max_bytes; }
  /// Where to store the next bytes of the connection; never empty.
  std::span<char> missing();
  /// Takes the first `count` bytes of missing(); returns the frame that they complete. Throws Error for a malformed
  /// frame, with a message that continues a sentence about the sender; no further frames can be decoded.
  std::optional<Frame> take(std::size_t count);

 private:
  std::size_t max_bytes_;
  std::array<char, 4> length_{};
  std::string body_;          // empty while the length is incomplete
  std::size_t received_ = 0;  // bytes of the length or the body
};

}  // namespace kymo
