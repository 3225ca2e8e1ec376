// SPDX-License-Identifier: Apache-2.0
#include "base/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.hpp"

namespace kymo {
namespace {

std::string framed(const std::string& body) {
  std::string bytes;
  for (std::size_t shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(body.size() >> shift & 0xFF));
  return bytes + body;
}

/// Decodes a connection that delivers at most `piece` bytes at a time; writes messages and payloads in brackets,
/// followed by the error.
std::string decoded(std::string_view bytes, std::size_t piece = 1000, std::size_t max_bytes = kMaxFrameBytes) {
  FrameDecoder decoder(max_bytes);
  std::string text;
  try {
    while (!bytes.empty()) {
      const std::span<char> space = decoder.missing();
      const std::size_t count = std::min({space.size(), bytes.size(), piece});
      std::copy_n(bytes.begin(), count, space.begin());
      bytes.remove_prefix(count);
      if (const auto frame = decoder.take(count)) text += frame->message.dump() + "[" + frame->payload + "]";
    }
  } catch (const Error& error) {
    text += error.what();
  }
  return text;
}

TEST(Frame, HasItsLengthAMessageAndAPayload) {
  EXPECT_EQ(encode_frame({{"a", 1}}), std::string("\7\0\0\0{\"a\":1}", 11));
  EXPECT_EQ(encode_frame({{"a", 1}}, std::string("\0x", 2)), std::string("\12\0\0\0{\"a\":1}\0\0x", 14));
  EXPECT_EQ(encode_frame({{"a", std::string(600, 'x')}}).substr(0, 4), std::string("\x60\2\0\0", 4));
}

TEST(Frame, IsDecodedFromPiecesOfAnySize) {
  const std::string payload("\0{}\xff\0", 5);
  const std::string bytes =
      encode_frame({{"a", std::string("\0", 1)}}, payload) + encode_frame(Json::object()) + framed("{ }");
  const std::string expected = R"({"a":"\u0000"}[)" + payload + "]{}[]{}[]";
  for (const std::size_t piece : {1u, 2u, 3u, 7u, 1000u}) EXPECT_EQ(decoded(bytes, piece), expected) << piece;
}

TEST(Frame, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(decoded(encode_frame({{"a", "\xff"}})), "{\"a\":\"\xef\xbf\xbd\"}[]");
}

TEST(Frame, TruncatedFramesAreIncomplete) {
  const std::string bytes = encode_frame({{"a", 1}}, "payload");
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_EQ(decoded(bytes.substr(0, size)), "") << size;
}

TEST(Frame, LengthsOutsideOfTheLimitsAreErrors) {
  EXPECT_EQ(decoded("\xff\xff\xff\xff"), "announced a frame of 4294967295 bytes; 1 to 67108864 allowed");
  EXPECT_EQ(decoded(framed("")), "announced a frame of 0 bytes; 1 to 67108864 allowed");
  EXPECT_EQ(decoded(framed("{ }"), 1000, 3), "{}[]");
  EXPECT_EQ(decoded(framed("{  }"), 1000, 3), "announced a frame of 4 bytes; 1 to 3 allowed");
  EXPECT_THROW(encode_frame(Json::object(), std::string(kMaxFrameBytes, 'x')), Error);
}

TEST(Frame, TheLimitCanChangeBetweenFrames) {
  FrameDecoder decoder(2);
  const auto receive = [&](const std::string& bytes) {
    std::copy_n(bytes.begin(), decoder.missing().size(), decoder.missing().begin());
    return decoder.take(decoder.missing().size());
  };
  receive(std::string("\2\0\0\0", 4));
  EXPECT_TRUE(receive("{}"));
  decoder.set_max_bytes(3);
  receive(std::string("\3\0\0\0", 4));
  EXPECT_TRUE(receive("{ }"));
}

TEST(Frame, BodiesWithoutAJsonObjectAreErrors) {
  EXPECT_EQ(decoded(framed("{nonsen")), "sent an invalid message: not valid JSON at byte 3");
  EXPECT_EQ(decoded(framed("{}{}")), "sent an invalid message: not valid JSON at byte 3");
  EXPECT_EQ(decoded(framed("{\"a\":\"\xff\"}")), "sent an invalid message: not valid JSON at byte 7");
  EXPECT_EQ(decoded(framed("{\"a\":1e999}")), "sent an invalid message: not valid JSON: a number is out of range");
  EXPECT_EQ(decoded(framed("[1]")), "sent an invalid message: a frame is not a JSON object");
  EXPECT_EQ(decoded(framed(std::string("\0bytes", 6))), "sent an invalid message: not valid JSON at byte 1");
}

}  // namespace
}  // namespace kymo
