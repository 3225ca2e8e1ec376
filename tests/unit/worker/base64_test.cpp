// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "worker/socket_client.hpp"

namespace kymo::worker {
namespace {

TEST(Base64, KnowsTheVectorsOfTheStandard) {
  const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, CarriesEveryByte) {
  std::string bytes;
  for (int round = 0; round < 3; ++round) {
    for (int value = 0; value < 256; ++value) bytes += static_cast<char>(value);
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    bytes += 'x';
  }
}

TEST(Base64, RejectsWhatIsNone) {
  for (const char* text : {"Zg", "Zg=", "Z===", "Zg==Zg==", "Zm 9", "Zm9\xff", "===="})
    EXPECT_THROW(from_base64(text), Error) << text;
}

}  // namespace
}  // namespace kymo::worker
