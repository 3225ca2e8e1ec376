// SPDX-License-Identifier: Apache-2.0
#include "measure/settings.hpp"

#include <gmock/gmock.h>

#include <set>

#include "base/error.hpp"
#include "base/json.hpp"

namespace kymo::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Method changed(const std::string& name, const std::string& text) {
  Method method;
  setting(name).type.parse("--" + name, text)(method);
  return method;
}

std::string error_of(const std::string& name, const std::string& text) {
  try {
    setting(name).type.parse("--" + name, text);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Settings, HaveDifferentNamesAndKnownReferences) {
  std::set<std::string> names, columns;
  for (const Setting& each : settings()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_TRUE(each.column.empty() || columns.insert(each.column).second) << each.name;
    EXPECT_TRUE(each.excludes.empty() || !setting(each.excludes).name.empty()) << each.name;
    EXPECT_FALSE(each.documentation.empty()) << each.name;
  }
}

TEST(Settings, HelpHasTheDefaultOfTheMethod) {
  EXPECT_EQ(setting("warmup").help(), "warm-up steps before the measured steps [5]");
  EXPECT_THAT(setting("min-time").help(), HasSubstr("together [0.5]"));
  EXPECT_THAT(setting("max-steps").help(), HasSubstr("steps [10000]"));
  EXPECT_THAT(setting("timing").help(), HasSubstr(" [sync]"));
  EXPECT_THAT(setting("passes").help(), HasSubstr(" [verify,time]"));
  EXPECT_THAT(setting("timeout").help(), HasSubstr(" [600]"));
  EXPECT_THAT(setting("host-memory").help(), HasSubstr(" [no limit]"));
  EXPECT_THAT(setting("max-pass-time").help(), HasSubstr(" [no limit; suites set it]"));
  EXPECT_THAT(setting("trace-memory").help(), HasSubstr(" [512Mi]"));
  EXPECT_THAT(setting("steps").help(), testing::EndsWith("--until"));
}

TEST(Settings, ChangeTheMethodAsParsed) {
  EXPECT_EQ(changed("warmup", "2k").warmup, 2000);
  EXPECT_FALSE(changed("steps", "3").until);
  EXPECT_EQ(changed("max-steps", "3").until->max_samples, 3);
  EXPECT_EQ(changed("min-time", "40").until->max_seconds, 80);
  EXPECT_EQ(changed("min-time", "4").until->max_seconds, 60);
  EXPECT_EQ(changed("until", "1%").until->relative_standard_error, 0.01);
  EXPECT_EQ(changed("timing", "hot").timing, Timing::kHot);
  EXPECT_EQ(changed("host-memory", "8Gi").host_memory_bytes, std::int64_t{8} << 30);
  EXPECT_THAT(changed("no-verify", "true").passes, ElementsAre(Pass::kTime));
  EXPECT_TRUE(changed("fresh", "true").fresh);
  const Observation records = changed("trace-detail", "memsets, api").observation;
  EXPECT_TRUE(records.memsets && records.api_calls && !records.shapes && !records.synchronization);
}

TEST(Settings, RejectOtherTextsWithTheOption) {
  EXPECT_THAT(error_of("warmup", "-1"), HasSubstr("--warmup takes a whole number from 0"));
  EXPECT_THAT(error_of("timing", "warm"), HasSubstr("--timing: unknown timing 'warm'; expected one of sync, hot"));
  EXPECT_THAT(error_of("trace-detail", "all"), HasSubstr("--trace-detail takes a list of memsets, synchronization"));
  EXPECT_THAT(error_of("kernel-classes", "/no/such.toml"), HasSubstr("--kernel-classes: no such file"));
  EXPECT_THAT(error_of("wrap", "no-such-program x"), HasSubstr("no program 'no-such-program' found on PATH"));
}

TEST(Settings, AreStoredInColumnsAsValues) {
  Method method;
  const auto stored = [&](const char* name) { return setting(name).type.stored(method); };
  EXPECT_EQ(stored("steps"), Value(std::int64_t{10}));
  EXPECT_EQ(stored("until"), std::nullopt);
  method.until = StoppingRule{.relative_standard_error = 0.02};
  EXPECT_EQ(stored("steps"), Value(std::int64_t{0}));
  EXPECT_EQ(stored("until"), Value(0.02));
  EXPECT_EQ(stored("passes"), Value(std::string("verify,time")));
  EXPECT_EQ(stored("sync"), Value(std::string("step")));
}

TEST(Settings, PassesKeepTheirOrder) {
  EXPECT_THAT(passes_from("--passes", "time,verify"), ElementsAre(Pass::kVerify, Pass::kTime));
  EXPECT_THAT(passes_from("--passes", "time,time"), ElementsAre(Pass::kTime));
  EXPECT_THAT(passes_from("--passes", "counters,ops, trace,memory,time"),
              ElementsAre(Pass::kTime, Pass::kMemory, Pass::kTrace, Pass::kOps, Pass::kCounters));
  for (const char* text : {"", "tim", "time,", "events"})
    EXPECT_THROW(passes_from("--passes", text), UsageError) << text;
}

}  // namespace
}  // namespace kymo::measure
