// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <utility>

#include "analysis/derive.hpp"
#include "analysis/scope_finder.hpp"
#include "unit/analysis/trace_fixture.hpp"

namespace kymo::analysis {
namespace {

using event::Attribution;
using event::LaunchKind;

event::Position position(std::int32_t step, std::int32_t phase, std::int32_t range = -1,
                         event::AutogradPosition node = {}, std::int64_t op = -1) {
  return TraceBuilder::position(step, phase, range, node, op);
}

TEST(Attribution, OfAnEmptyTraceIsNothing) {
  event::Trace trace;
  EXPECT_TRUE(attribute(trace).empty());
}

TEST(Attribution, ForwardWorkBelongsToTheScopeOfItsThread) {
  TraceBuilder made;
  const auto block = made.scope("block_0", 0, 20);
  const auto inner = made.scope("block_0/attention", 5, 10, block);
  made.launch(7, 100, position(3, 0, inner, {}, -1));
  made.activity(7, 150, 200);
  EXPECT_TRUE(attribute(made.trace).empty());
  const auto& activity = made.trace.activities[0];
  EXPECT_EQ(activity.step, 3);
  EXPECT_EQ(activity.phase, 0);
  EXPECT_EQ(activity.attribution, Attribution::kLaunch);
  EXPECT_EQ(made.text(activity.scope), "block_0/attention");
}

TEST(Attribution, BackwardWorkBelongsToTheInnermostScopeThatMadeItsNode) {
  TraceBuilder made;
  const auto block = made.scope("block_0", 0, 20);
  made.scope("block_0/attention", 5, 10, block);
  made.scope("block_0/ffn", 10, 15, block);
  for (std::uint32_t node = 0; node <= 20; ++node) {
    made.launch(node, 1000 - node, position(0, 1, -1, {node, 1}));
    made.activity(node, 2000 - node, 2001 - node);
  }
  EXPECT_TRUE(attribute(made.trace).empty());
  for (const auto& activity : made.trace.activities) {
    const auto node = activity.correlation_id;
    const std::string expected = node == 20                ? ""
                                 : node >= 10 && node < 15 ? "block_0/ffn"
                                 : node >= 5 && node < 10  ? "block_0/attention"
                                                           : "block_0";
    EXPECT_EQ(made.text(activity.scope), expected) << node;
    EXPECT_EQ(activity.attribution, node == 20 ? Attribution::kPhase : Attribution::kAutograd) << node;
    EXPECT_EQ(activity.phase, 1);
  }
}

TEST(Attribution, RecomputedWorkBelongsToItsOpenScopeInsteadOfTheNodeThatNeedsIt) {
  TraceBuilder made;
  made.trace.phases.push_back("recompute");
  made.scope("segment", 0, 20);
  const auto again = made.scope("block_0/attention", 20, 30);
  made.launch(1, 100, position(0, 3, again, {5, 1}));
  made.activity(1, 200, 201);
  made.launch(2, 110, position(0, 1, again, {5, 1}));
  made.activity(2, 210, 211);
  made.op("aten::mm", 90, 120, position(0, 3, again, {5, 1}));
  EXPECT_TRUE(attribute(made.trace).empty());
  EXPECT_EQ(made.text(made.trace.activities[0].scope), "block_0/attention");
  EXPECT_EQ(made.trace.activities[0].attribution, Attribution::kLaunch);
  EXPECT_EQ(made.text(made.trace.activities[1].scope), "segment");
  EXPECT_EQ(made.text(made.trace.operators[0].scope), "block_0/attention");
}

TEST(Attribution, ForwardThreadsCountTheirNodesApart) {
  TraceBuilder made;
  made.scope("left", 0, 10, -1, 1);
  made.scope("right", 0, 10, -1, 2);
  made.launch(1, 0, position(0, 1, -1, {4, 2}));
  made.launch(2, 0, position(0, 1, -1, {4, 1}));
  made.launch(3, 0, position(0, 1, -1, {4, 3}));
  for (std::uint32_t id = 1; id <= 3; ++id) made.activity(id, id, id + 1);
  attribute(made.trace);
  EXPECT_EQ(made.text(made.trace.activities[0].scope), "right");
  EXPECT_EQ(made.text(made.trace.activities[1].scope), "left");
  EXPECT_EQ(made.trace.activities[2].scope, event::kNoText);
  EXPECT_EQ(made.trace.activities[2].attribution, Attribution::kPhase);
}

TEST(Attribution, AutogradWinsOverTheScopeOfTheLaunchingThread) {
  TraceBuilder made;
  const auto forward = made.scope("forward_part", 0, 10);
  const auto around = made.scope("around_backward", 10, 10);
  made.launch(1, 0, position(0, 1, around, {3, 1}));
  made.launch(2, 0, position(0, 1, around, {-1, 1}));  // gradient accumulation has no sequence number
  made.launch(3, 0, position(0, 1, -1, {-1, 1}));
  made.launch(4, 0, position(-1, -1));
  for (std::uint32_t id = 1; id <= 4; ++id) made.activity(id, id, id + 1);
  attribute(made.trace);
  const auto& activities = made.trace.activities;
  EXPECT_EQ(activities[0].scope, made.trace.ranges[static_cast<std::size_t>(forward)].path);
  EXPECT_EQ(activities[0].attribution, Attribution::kAutograd);
  EXPECT_EQ(activities[1].scope, made.trace.ranges[static_cast<std::size_t>(around)].path);
  EXPECT_EQ(activities[1].attribution, Attribution::kLaunch);
  EXPECT_EQ(activities[2].attribution, Attribution::kPhase);
  EXPECT_EQ(activities[3].attribution, Attribution::kNone);
  EXPECT_EQ(activities[3].step, -1);
}

TEST(Attribution, ScopesThatNeverEndReachAsFarAsWhatIsAroundThem) {
  TraceBuilder made;
  const auto closed = made.scope("closed", 0, 10);
  made.scope("closed/open", 5, -1, closed);
  made.scope("forever", 20, -1);
  made.scope("later", 30, 40);
  ForwardScopes scopes(made.trace.ranges);
  EXPECT_EQ(scopes.scope_of({4, 1}), 0);
  EXPECT_EQ(scopes.scope_of({9, 1}), 1);
  EXPECT_EQ(scopes.scope_of({10, 1}), -1);
  EXPECT_EQ(scopes.scope_of({25, 1}), 2);
  EXPECT_EQ(scopes.scope_of({35, 1}), 3);
  EXPECT_EQ(scopes.scope_of({1'000'000'000, 1}), 2);
}

TEST(Attribution, PhasesAndScopesWithoutNodesHoldNoNodes) {
  TraceBuilder made;
  made.scope("empty", 5, 5);
  made.scope("backwards", 9, 3);
  made.scope("unnumbered", -1, -1);
  made.scope("phase", 0, 100);
  made.trace.ranges.back().is_phase = true;
  ForwardScopes scopes(made.trace.ranges);
  for (std::int64_t number = -1; number < 12; ++number) EXPECT_EQ(scopes.scope_of({number, 1}), -1) << number;
}

/// Compares with the definition: the range that began last among those that contain the number.
TEST(Attribution, LookupAgreesWithASearchThroughAllScopes) {
  std::mt19937 random(7);
  TraceBuilder made;
  std::vector<std::int32_t> open;
  std::int64_t next = 0;
  for (int i = 0; i < 4000; ++i) {
    next += random() % 3;
    if (!open.empty() && random() % 2 == 0) {
      made.trace.ranges[static_cast<std::size_t>(open.back())].end_sequence = next;
      open.pop_back();
    } else {
      open.push_back(made.scope("s" + std::to_string(i), next, -1, open.empty() ? -1 : open.back()));
    }
  }
  ForwardScopes scopes(made.trace.ranges);
  for (int i = 0; i < 5000; ++i) {
    const auto number = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(next + 10));
    std::int32_t expected = -1;
    for (std::size_t r = 0; r < made.trace.ranges.size(); ++r) {
      const auto& range = made.trace.ranges[r];
      if (range.first_node.sequence <= number && (range.end_sequence < 0 || number < range.end_sequence))
        expected = static_cast<std::int32_t>(r);
    }
    ASSERT_EQ(scopes.scope_of({number, 1}), expected) << number;
  }
}

TEST(Attribution, RecordsOutOfOrderAreSortedAndFound) {
  std::mt19937 random(11);
  TraceBuilder made;
  made.scope("only", 0, 1);
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < 3000; ++i)
    ids.push_back(i * 37 + (i % 2) * 1'000'000'000U);  // too sparse for a lookup table
  std::shuffle(ids.begin(), ids.end(), random);
  for (const std::uint32_t id : ids) made.launch(id, -5000, position(static_cast<std::int32_t>(id % 91), 0));
  std::shuffle(ids.begin(), ids.end(), random);
  for (const std::uint32_t id : ids) made.activity(id, static_cast<std::int64_t>(random() % 5000) - 2500, 9000);
  EXPECT_TRUE(attribute(made.trace).empty());
  std::map<std::uint32_t, std::size_t> recorded;
  for (std::size_t i = 0; i < ids.size(); ++i) recorded[ids[i]] = i;
  std::size_t equal = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& activity = made.trace.activities[i];
    EXPECT_EQ(activity.step, static_cast<std::int32_t>(activity.correlation_id % 91));
    if (i == 0) continue;
    const auto& before = made.trace.activities[i - 1];
    ASSERT_LE(before.start_ns, activity.start_ns);
    if (before.start_ns != activity.start_ns) continue;
    ++equal;
    EXPECT_LT(recorded[before.correlation_id], recorded[activity.correlation_id]) << "the sort is stable";
  }
  EXPECT_GT(equal, 0U) << "no two records start at the same time";
}

TEST(Attribution, WhatMakesNoSenseStaysAndIsCounted) {
  TraceBuilder made;
  made.trace.clock_syncs.push_back({"gpu", 0, 0, 500});
  made.launch(1, 10'000, position(0, 0));
  made.launch(2, 10'000, position(0, 0));
  made.launch(3, 10'000, position(0, 0));
  made.activity(1, 8'499, 9'000);    // too early by more than 500 ns plus the clock resolution
  made.activity(2, 8'500, 9'000);    // within the tolerance
  made.activity(3, 20'000, 19'000);  // ends before it starts
  made.activity(99, 30'000, 31'000);
  made.activity(3, 40'000, 40'000);  // zero duration is valid
  const auto dropped_records = attribute(made.trace);
  EXPECT_EQ(lost(dropped_records, "before their launch"), 1);
  EXPECT_EQ(lost(dropped_records, "end before they start"), 1);
  EXPECT_EQ(lost(dropped_records, "without a launch"), 1);
  EXPECT_EQ(dropped_records.size(), 3u);
  EXPECT_EQ(made.trace.activities.size(), 5u);
}

TEST(Attribution, CountsLaunchesWhoseWorkWasDropped) {
  TraceBuilder made;
  made.launch(1, 0, position(0, 0));
  made.launch(2, 0, position(0, 0));
  made.launch(3, 0, position(0, 0), LaunchKind::kMemcpy);
  made.launch(4, 0, position(0, 0), LaunchKind::kGraph);
  made.launch(5, 0, position(0, 0), LaunchKind::kMemset);  // recorded on request only
  made.launch(6, 0, position(-1, -1));                     // before the steps
  made.activity(1, 1, 2);
  EXPECT_EQ(lost(attribute(made.trace), "not recorded"), 3);
  made.activity(1, 3, 4, "memset", event::ActivityKind::kMemset);
  EXPECT_EQ(lost(attribute(made.trace), "not recorded"), 4);
  made.trace.activities.clear();  // kernels were not recorded at all: the collector reports the reason
  EXPECT_TRUE(attribute(made.trace).empty());
}

TEST(Attribution, ReplayedGraphsBelongWhereTheirNodesWereCaptured) {
  TraceBuilder made;
  const auto scope = made.scope("block_1", 0, 10);
  made.op("aten::mm", 0, 1, position(-1, 0));
  made.trace.graph_nodes.push_back({501, position(-1, 0, scope, {}, 0)});
  made.trace.graph_nodes.push_back({502, position(-1, 1, -1, {4, 1})});
  made.trace.graph_nodes.push_back({503, position(-1, 2)});
  made.trace.graph_nodes.push_back({504, position(-1, -1)});
  for (std::uint32_t step = 0; step < 3; ++step) {
    made.launch(10 + step, 100 * step, position(static_cast<std::int32_t>(step), 2, scope), LaunchKind::kGraph);
    for (std::uint64_t node = 501; node <= 505; ++node) {
      made.activity(10 + step, 100 * step + static_cast<std::int64_t>(node - 490), 100 * step + 50).graph_node = node;
    }
  }
  EXPECT_TRUE(attribute(made.trace).empty());
  const struct {
    Attribution attribution;
    std::int32_t phase;
    const char* scope;
  } expected[] = {{Attribution::kGraph, 0, "block_1"},
                  {Attribution::kGraph, 1, "block_1"},
                  {Attribution::kGraph, 2, ""},
                  {Attribution::kLaunch, 2, "block_1"},   // captured outside of phases
                  {Attribution::kLaunch, 2, "block_1"}};  // captured before tracing
  for (std::size_t i = 0; i < made.trace.activities.size(); ++i) {
    const auto& activity = made.trace.activities[i];
    EXPECT_EQ(activity.step, static_cast<std::int32_t>(i / 5));
    EXPECT_EQ(activity.attribution, expected[i % 5].attribution) << i;
    EXPECT_EQ(activity.phase, expected[i % 5].phase) << i;
    EXPECT_EQ(activity.op, i % 5 == 0 ? 0 : -1) << i;
    EXPECT_EQ(made.text(activity.scope), expected[i % 5].scope) << i;
  }
}

TEST(Attribution, NumbersThatPointNowhereAreNone) {
  TraceBuilder made;
  made.launch(1, 0, position(0, 77, 1234, {}, 99));
  made.activity(1, 1, 2);
  attribute(made.trace);
  const auto& activity = made.trace.activities[0];
  EXPECT_EQ(activity.phase, -1);
  EXPECT_EQ(activity.op, -1);
  EXPECT_EQ(activity.scope, event::kNoText);
  EXPECT_EQ(activity.attribution, Attribution::kNone);
}

TEST(Attribution, OperatorsAreAttributedAndTheirTimeIsShared) {
  TraceBuilder made;
  const auto scope = made.scope("head", 0, 5);
  const auto outer = made.op("aten::linear", 0, 100, position(0, 0, scope));
  const auto middle = made.op("aten::addmm", 10, 60, position(0, 0, scope), outer);
  made.op("aten::empty", 20, 30, position(0, 0, scope), middle);
  event::Position elsewhere = position(0, 1, -1, {2, 1});
  elsewhere.thread = 4;
  made.op("MmBackward0", 30, 90, elsewhere, outer);  // time on another thread is not subtracted from this one's
  made.launch(1, 0, position(0, 0, scope, {}, middle));
  made.activity(1, 5, 6);
  EXPECT_TRUE(attribute(made.trace).empty());
  const auto& ops = made.trace.operators;
  EXPECT_EQ(ops[0].self_ns, 50);
  EXPECT_EQ(ops[1].self_ns, 40);
  EXPECT_EQ(ops[2].self_ns, 10);
  EXPECT_EQ(ops[3].self_ns, 60);
  EXPECT_EQ(ops[0].attribution, Attribution::kLaunch);
  EXPECT_EQ(ops[3].attribution, Attribution::kAutograd);
  EXPECT_EQ(made.text(ops[3].scope), "head");
  EXPECT_EQ(made.trace.activities[0].op, middle);
}

TEST(Attribution, GeneratedKernelsBelongToTheModulesInTheNameOfTheirRange) {
  TraceBuilder made;
  const auto model = made.scope("Model", 5, 6);  // one node, which runs the compiled backward pass
  const auto one = made.generated("Model", "triton_a {layers.0/norm}", 0, 1);
  const auto set = made.generated("Model", "triton_b layers.0/{norm, mlp/0}", 0, 1);
  const auto itself = made.generated("Model", "{.}", 0, 1);
  const auto alone = made.generated("", "triton_c {., head}", 0, 1);
  made.launch(1, 0, position(0, 0, one));
  made.launch(2, 0, position(0, 0, set));
  made.launch(3, 0, position(0, 0, itself));
  made.launch(4, 0, position(0, 1, set, {5, 1}));  // in the backward pass
  made.launch(5, 0, position(0, 1, one, {5, 1}));
  made.launch(6, 0, position(0, 1, alone, {5, 1}));
  made.launch(7, 0, position(0, 0, alone));
  made.launch(8, 0, position(0, 0, model));
  made.trace.graph_nodes.push_back({42, position(0, 0, set)});  // captured in a CUDA graph
  for (std::uint32_t id = 1; id <= 8; ++id) made.activity(id, id, id + 1);
  made.launch(9, 0, position(1, 0), LaunchKind::kGraph);
  made.activity(9, 20, 21).graph_node = 42;
  EXPECT_TRUE(attribute(made.trace).empty());
  const std::vector<std::pair<std::string, Attribution>> expected{
      {"Model/layers.0/norm", Attribution::kLaunch},
      {"Model/layers.0/{norm, mlp/0}", Attribution::kFused},
      {"Model", Attribution::kLaunch},
      {"Model/layers.0/{norm, mlp/0}", Attribution::kFused},
      {"Model/layers.0/norm", Attribution::kAutograd},
      {"Model/{., head}", Attribution::kFused},
      {"{., head}", Attribution::kFused},
      {"Model", Attribution::kLaunch},
      {"Model/layers.0/{norm, mlp/0}", Attribution::kFused}};
  ASSERT_EQ(made.trace.activities.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(made.text(made.trace.activities[i].scope), expected[i].first) << i;
    EXPECT_EQ(made.trace.activities[i].attribution, expected[i].second) << i;
  }
  std::set<std::string> modules;
  for (const event::ScopePath& path : scope_paths(made.trace)) modules.insert(path.module);
  EXPECT_TRUE(modules.contains("Model/layers.*/{norm, mlp/*}"));
  EXPECT_TRUE(modules.contains("Model/layers.*/norm"));
  EXPECT_TRUE(modules.contains("Model/{., head}"));
}

TEST(Attribution, NamesOfGeneratedCalls) {
  for (const char* name : {"", "{", "}", "x}", "x{a}", "block", "a {b} c", "x/{a"})
    EXPECT_FALSE(GeneratedCall::parse(name)) << name;
  const auto library = GeneratedCall::parse("layers.0/{a, b/0}");
  ASSERT_TRUE(library);
  EXPECT_EQ(library->kernel, "");
  EXPECT_EQ(library->path(), "layers.0/{a, b/0}");
  const auto kernel = GeneratedCall::parse("cpp_fused_0 {layers.0/norm}");
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->kernel, "cpp_fused_0");
  EXPECT_EQ(kernel->path(), "layers.0/norm");
  EXPECT_FALSE(kernel->is_fused());
}

TEST(Attribution, GeneratedKernelsAreOperatorsInAPassThatRecordsThese) {
  TraceBuilder made;
  made.scope("Model", 5, 6);
  const auto outer = made.op("CompiledFunction", 0, 100, position(0, 0));
  made.op("aten::addmm", 10, 40, position(0, 0, made.generated("Model", "{head}", 9, 41)), outer);
  const auto set = made.generated("Model", "cpp_fused_0 {a, b}", 50, 80);
  const auto node = made.op("CompiledFunctionBackward", 200, 300, position(0, 1, -1, {5, 1}));
  made.generated("", "cpp_fused_1 {a}", 210, 230);
  made.generated("", "cpp_fused_2 {a}", 400, 410);
  EXPECT_TRUE(attribute(made.trace).empty());
  const auto& ops = made.trace.operators;
  ASSERT_EQ(ops.size(), 6u);
  EXPECT_EQ(made.text(ops[1].scope), "Model/head");
  EXPECT_EQ(made.text(ops[3].name), "cpp_fused_0");
  EXPECT_EQ(made.text(ops[3].scope), "Model/{a, b}");
  EXPECT_EQ(ops[3].attribution, Attribution::kFused);
  EXPECT_EQ(ops[3].parent, outer);
  EXPECT_EQ(ops[3].position.range, set);
  EXPECT_EQ(ops[3].self_ns, 30);
  EXPECT_EQ(ops[0].self_ns, 40);
  EXPECT_EQ(ops[4].parent, node);
  EXPECT_EQ(made.text(ops[4].scope), "Model/a");
  EXPECT_EQ(ops[4].attribution, Attribution::kAutograd);
  EXPECT_EQ(ops[2].self_ns, 80);
  EXPECT_EQ(ops[5].parent, -1);
}

TEST(Attribution, GeneratedKernelsAreNoOperatorsInOtherPasses) {
  TraceBuilder made;
  made.generated("Model", "cpp_fused_0 {a}", 50, 80);
  attribute(made.trace);
  EXPECT_TRUE(made.trace.operators.empty());
}

TEST(Attribution, OperatorsWithoutAnEndGetTheirParents) {
  TraceBuilder made;
  const auto outer = made.op("outer", 0, 100, position(0, 0));
  made.op("open", 40, -1, position(0, 0), outer);
  made.op("alone", 200, -1, position(0, 0));
  made.op("turned", 300, 250, position(0, 0));
  made.op("own parent", 400, 410, position(0, 0), 4);
  const auto dropped_records = attribute(made.trace);
  EXPECT_EQ(lost(dropped_records, "without an end"), 2);
  EXPECT_EQ(lost(dropped_records, "end before they start"), 1);
  const auto& ops = made.trace.operators;
  EXPECT_EQ(ops[1].end_ns, 100);
  EXPECT_EQ(ops[1].self_ns, 60);
  EXPECT_EQ(ops[0].self_ns, 40);
  EXPECT_EQ(ops[2].end_ns, 200);
  EXPECT_EQ(ops[3].self_ns, 0);
  EXPECT_EQ(ops[4].self_ns, 10);
}

}  // namespace
}  // namespace kymo::analysis
