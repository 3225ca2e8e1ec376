// SPDX-License-Identifier: Apache-2.0
#include "supervisor/output_capture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kymo::supervisor {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t kAll = OutputCapture::kHeadBytes + OutputCapture::kTailBytes;

TEST(OutputCapture, KeepsShortTextAsItIs) {
  OutputCapture capture;
  capture.append("one\n");
  capture.append("two");
  EXPECT_EQ(capture.text(), "one\ntwo");
  EXPECT_EQ(capture.last_line(), "two");
  capture.clear();
  EXPECT_EQ(capture.text(), "");
  EXPECT_EQ(capture.last_line(), "");
}

TEST(OutputCapture, CutsNothingUpToItsBound) {
  OutputCapture capture;
  std::string text(kAll - 1, 'a');
  text += 'b';
  for (std::size_t at = 0; at < text.size(); at += 1000) capture.append(std::string_view(text).substr(at, 1000));
  EXPECT_EQ(capture.text(), text);
}

TEST(OutputCapture, KeepsBothEndsOfAFloodAndSaysHowMuchWasCut) {
  for (const std::size_t block : {1u, 37u, 4096u, 65536u, 1000000u}) {
    OutputCapture capture;
    std::string text = "first" + std::string(999990, '.') + "last\n";
    for (std::size_t at = 0; at < text.size(); at += block) capture.append(std::string_view(text).substr(at, block));
    const std::string kept = capture.text();
    EXPECT_LT(kept.size(), kAll + 200) << block;
    EXPECT_THAT(kept, StartsWith("first")) << block;
    EXPECT_THAT(kept, HasSubstr("last\n")) << block;
    EXPECT_THAT(kept, EndsWith("[kymo: " + std::to_string(text.size() - kAll) + " of " + std::to_string(text.size()) +
                               " bytes omitted at [...]]"))
        << block;
  }
}

TEST(OutputCapture, LastLineSkipsBlankEnds) {
  OutputCapture capture;
  capture.append("terminate called\n  what(): bad \xFF thing \n\n \n");
  EXPECT_EQ(capture.last_line(), "what(): bad \xEF\xBF\xBD thing");
  EXPECT_EQ(capture.last_lines(5), "terminate called | what(): bad \xEF\xBF\xBD thing");
}

}  // namespace
}  // namespace kymo::supervisor
