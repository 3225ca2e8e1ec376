// SPDX-License-Identifier: Apache-2.0
#include "measure/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.hpp"
#include "measure/equivalence.hpp"
#include "measure/protocol.hpp"

namespace kymo::measure {
namespace {

Case example() {
  Case what;
  what.plugin_file = "/p/x.so";
  what.plugin_sha256 = "ab";
  what.workload = "saxpy";
  what.parameters = {{"n", std::int64_t{4}}, {"a", 2.5}, {"on", true}, {"dtype", std::string("fp32")}};
  what.ranks = 2;
  return what;
}

TEST(Plan, TextAndTypesSurviveTheWayThroughJson) {
  Method method;
  method.until = StoppingRule{0.02, 5, 100, 0.25, 3};
  method.passes = {Pass::kTime};
  method.sync = Sync::kPhase;
  method.seed = ~0ull;
  const Method back = parse_json(Json(method).dump(), "test").get<Method>();
  EXPECT_EQ(Json(back), Json(method));
  EXPECT_EQ(back.seed, method.seed);
  const Case what = parse_json(Json(example()).dump(), "test").get<Case>();
  EXPECT_EQ(what.parameters, example().parameters);
  EXPECT_TRUE(std::holds_alternative<double>(parse_json(Json(Value(2.0)).dump(), "test").get<Value>()));
}

TEST(Plan, JsonIsTheSameInEveryVersion) {
  // Keys of stored runs are hashes of this text.
  Method method;
  method.passes = {Pass::kTime, Pass::kTrace};
  method.until = StoppingRule{0.02, 5, 100, 0.25, 3};
  EXPECT_EQ(dump_json(method),
            R"({"warmup":5,"steps":10,"sync":"step","timing":"sync","passes":["time","trace"],"seed":0,)"
            R"("timeout_s":600.0,"max_pass_time_s":0.0,"host_memory_bytes":0,"fresh":false,"wrap":"",)"
            R"("observation":{"warmup":3,"steps":5,)"
            R"("memsets":false,"synchronization":false,"overhead_records":false,"api_calls":false,"shapes":false,)"
            R"("stacks":true,"memory_bytes":536870912,"kernel_classes":""},"until":{"relative_standard_error":0.02,)"
            R"("min_samples":5,"max_samples":100,"min_seconds":0.25,"max_seconds":3.0}})");
  EXPECT_EQ(dump_json(example()),
            R"({"workload":"saxpy","parameters":{"a":2.5,"dtype":"fp32","n":4,"on":true},"ranks":2,"device":"cpu",)"
            R"("plugin_file":"/p/x.so","plugin_sha256":"ab","plugin_libraries":{},"plugin_interpreter":""})");
  EXPECT_EQ(equivalence_key({example(), method, "", "", 0}, Equivalence::kPlan), "f1cbf299f19769c2");
}

TEST(Plan, AStoppingRuleAsText) {
  EXPECT_EQ(to_text(StoppingRule{}), "0.5 s");
  EXPECT_EQ(to_text(StoppingRule{.relative_standard_error = 0.01, .min_seconds = 2}), "2 s, 1 %");
}

TEST(Plan, UnknownNamesListTheAllowedOnesAndTheNearest) {
  EXPECT_EQ(enum_from<Pass>("verify"), Pass::kVerify);
  try {
    enum_from<Pass>("tiem");
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_EQ(std::string(e.what()),
              "unknown pass 'tiem'; expected one of time, verify, memory, trace, ops, counters, predict; did you mean "
              "'time'?");
  }
}

TEST(Plan, ValuesAsText) {
  EXPECT_EQ(to_text(Value(true)), "true");
  EXPECT_EQ(to_text(Value(std::int64_t{-3})), "-3");
  EXPECT_EQ(to_text(Value(0.0016)), "0.0016");
  EXPECT_EQ(to_text(Value(std::string("x"))), "x");
}

TEST(Protocol, FramesSurviveTheWayThroughJson) {
  using namespace protocol;
  Assignment a;
  a.run_id = 7;
  a.what = example();
  a.pass = Pass::kVerify;
  a.rank = 5;
  a.local_rank = 1;
  a.device_index = 2;
  a.rank_file = "/r";
  const Json frame = parse_json(Json(a).dump(), "test");
  EXPECT_EQ(type_of(frame), "assignment");
  const Assignment read = frame.get<Assignment>();
  EXPECT_EQ(Json(read), Json(a));
  EXPECT_EQ(read.rank, 5);
  EXPECT_EQ(read.local_rank, 1);
  EXPECT_EQ(read.device_index, 2);
  const Outcome o{.status = RunStatus::kFailed,
                  .detail = "why",
                  .verification = event::CheckOutcome::kUnavailable,
                  .stage = "step",
                  .phase = "forward",
                  .step = 3};
  EXPECT_EQ(Json(Json(o).get<Outcome>()), Json(o));
  EXPECT_EQ(Json(o), parse_json(R"({"type": "outcome", "status": "failed", "detail": "why", "stage": "step",
      "phase": "forward", "step": 3, "verification": "unavailable", "failed_ns": -1})",
                                "test"));
  EXPECT_EQ(Json(Json(Outcome{}).get<Outcome>()), Json(Outcome{}));
}

TEST(Protocol, BadFramesAreErrorsNotCrashes) {
  using namespace protocol;
  EXPECT_THROW(type_of(Json::array()), Error);
  EXPECT_THROW(type_of(Json::object()), Error);
  EXPECT_THROW(parse_json(R"({"type":"hello","protocol":"one"})", "test").get<Hello>(), Error);
  EXPECT_THROW(parse_json(R"({"type":"assignment","case":3})", "test").get<Assignment>(), Error);
  EXPECT_THROW(parse_json(R"({"type":"outcome","status":1})", "test").get<Outcome>(), Error);
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Protocol, ErrorsNameTheField) {
  using protocol::Barrier;
  const auto error = [](const char* text) { return error_of([&] { parse_json(text, "test").get<Barrier>(); }); };
  EXPECT_EQ(error(R"({"type":"barrier","sequence":1})"), "there is no field 'stop'");
  EXPECT_EQ(error(R"({"type":"barrier","sequence":"1","stop":true})"), "the field 'sequence' has the wrong type");
  EXPECT_EQ(error("3"), "there is no field 'sequence'");
  Json unknown = protocol::Assignment{};
  unknown["pass"] = "tiem";
  EXPECT_THAT(error_of([&] { unknown.get<protocol::Assignment>(); }), testing::HasSubstr("unknown pass 'tiem'"));
  unknown["pass"] = 3;
  EXPECT_EQ(error_of([&] { unknown.get<protocol::Assignment>(); }), "the field 'pass' has the wrong type");
}

TEST(Protocol, NumbersAreReadExactlyOrRejected) {
  using protocol::Assignment, protocol::Gathered;
  const auto error = [](const char* field, const Json& value, auto message) {
    Json sent = message;
    sent[field] = value;
    return error_of([&] { sent.get<decltype(message)>(); });
  };
  for (const Json& wrong :
       {Json(std::int64_t{1} << 32), Json(std::uint64_t{1} << 63), Json(1.5), Json(1.0), Json(true)})
    EXPECT_EQ(error("rank", wrong, Assignment{}), "the field 'rank' has the wrong type") << wrong;
  EXPECT_EQ(error("run_id", std::uint64_t{1} << 63, Assignment{}), "the field 'run_id' has the wrong type");
  for (const int wrong : {-1, 65536})
    EXPECT_EQ(error("rendezvous_port", wrong, Assignment{}), "the field 'rendezvous_port' has the wrong type");
  EXPECT_EQ(error("rendezvous_port", 65535, Assignment{}), "no error");
  EXPECT_EQ(error("sizes", Json{1, -1}, Gathered{}), "the field 'sizes' has the wrong type");
  EXPECT_EQ(error("sizes", Json{1, 0}, Gathered{}), "no error");
  EXPECT_EQ(error_of([] { Json(std::uint64_t{1} << 63).get<Value>(); }), "a parameter value must be at most 2^63 - 1");
  Json method = Method{};
  method["timeout_s"] = 600;
  EXPECT_EQ(method.get<Method>().timeout_s, 600) << "a whole number is a real";
}

TEST(Protocol, OnlyMessagesWithAPayloadMayHaveOne) {
  Frame gather{protocol::Gather{4, ""}, std::string("\0\xff", 2)};
  const auto read = protocol::message_from<protocol::Gather>(gather);
  EXPECT_EQ(read.sequence, 4);
  EXPECT_EQ(read.payload, std::string("\0\xff", 2));
  Frame barrier{protocol::Barrier{4, true}, "x"};
  EXPECT_EQ(error_of([&] { protocol::message_from<protocol::Barrier>(barrier); }), "unexpected binary data");
}

TEST(Protocol, GatheredPayloadsAreSplitBySize) {
  const std::vector<std::string> payloads{"zero", "", std::string("\0", 1)};
  protocol::Gathered message = protocol::gathered(7, payloads);
  EXPECT_EQ(message.sequence, 7);
  EXPECT_EQ(protocol::split_payload(message), payloads);
  for (const std::vector<std::size_t>& sizes :
       {std::vector<std::size_t>{}, {4, 0}, {4, 0, 2}, {4, 0, 1, 1}, {~std::size_t{0}, 6}}) {
    message.sizes = sizes;
    EXPECT_EQ(error_of([&] { protocol::split_payload(message); }), "the sizes of gathered payloads do not add up");
  }
}

std::string outcome_error(const char* field, const std::string& value) {
  Json frame = Outcome{};
  frame[field] = value;
  return error_of([&] { frame.get<Outcome>(); });
}

TEST(Protocol, AWorkerReportsAStatusThatItCanObserve) {
  for (const char* status : {"ok", "oom", "failed", "interrupted", "skipped"})
    EXPECT_EQ(outcome_error("status", status), "no error");
  for (const std::string status : {"splendid", "", "running", "crashed", "timeout"})
    EXPECT_EQ(outcome_error("status", status), "reported the unknown status '" + status + "'");
}

TEST(Protocol, AVerificationIsKnown) {
  for (const char* result : {"passed", "failed", "unavailable"})
    EXPECT_EQ(outcome_error("verification", result), "no error");
  EXPECT_EQ(outcome_error("verification", "perhaps"),
            "unknown check outcome 'perhaps'; expected one of passed, unavailable, failed");
}

}  // namespace
}  // namespace kymo::measure
