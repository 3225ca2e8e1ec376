// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "measure/protocol.hpp"

namespace kymo {
namespace {

TEST(ClockComparison, TakesTheMiddleOfTheShortestReading) {
  const ClockPair pair = closest_pair({{100, 300, 9'000}, {400, 441, 9'230}, {500, 600, 9'400}});
  EXPECT_EQ(pair.host_ns, 420);
  EXPECT_EQ(pair.clock_ns, 9'230);
  EXPECT_EQ(pair.error_ns, 21) << "the other clock was read within 400 and 441";
}

TEST(ClockComparison, KnowsAClockThatIsTheSame) {
  EXPECT_TRUE(is_same_clock({{100, 200, 100}, {300, 400, 400}}));
  EXPECT_FALSE(is_same_clock({{100, 200, 150}, {300, 400, 401}}));
  EXPECT_FALSE(is_same_clock({{100, 200, 99}}));
}

TEST(ClockComparison, NamesTheBoot) {
  EXPECT_EQ(boot_id(), boot_id());
  EXPECT_EQ(boot_id().find('\n'), std::string::npos);
}

TEST(ClockFrames, KeepWhatTheySay) {
  EXPECT_EQ(protocol::type_of(Json(protocol::ClockRequest{3})), "clock_request");
  EXPECT_EQ(Json(protocol::ClockRequest{3})["sequence"], 3);
  const Json frame = protocol::Clock{4, 1'234'567'890'123'456'789, "boot \"x\""};
  EXPECT_EQ(protocol::type_of(frame), "clock");
  const protocol::Clock clock = Json::parse(frame.dump()).get<protocol::Clock>();
  EXPECT_EQ(clock.sequence, 4);
  EXPECT_EQ(clock.clock_ns, 1'234'567'890'123'456'789);
  EXPECT_EQ(clock.boot_id, "boot \"x\"");
  const Json mistyped{{"type", "clock"}, {"sequence", 1}, {"clock_ns", "soon"}, {"boot_id", ""}};
  EXPECT_THROW(mistyped.get<protocol::Clock>(), Error);
  EXPECT_THROW(Json(protocol::Exit{}).get<protocol::ClockRequest>(), Error);
}

}  // namespace
}  // namespace kymo
