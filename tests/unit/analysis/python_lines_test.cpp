// SPDX-License-Identifier: Apache-2.0
#include "analysis/python_lines.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "analysis/derive.hpp"
#include "trace_fixture.hpp"

namespace kymo::analysis {
namespace {

using event::LineTotal;

constexpr std::int32_t kForward = 0;
constexpr std::int32_t kBackward = 1;

/// A pass with stacks of user and library frames.
struct PythonLines : ::testing::Test {
  TraceBuilder build;
  event::PassRecord record;

  PythonLines() {
    event::Memory& memory = record.memory_trace;
    memory.frames = {{"/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", 0, "Module._call_impl", 1775},
                     {"/home/me/model.py", 0, "Model.forward", 7},
                     {"/home/me/train.py", 0, "<module>", 30}};
    memory.stacks = {{0, 1, 2}, {2}, {0}};
  }

  static event::Position at(std::int32_t step, std::int32_t phase, std::int32_t stack,
                            event::AutogradPosition node = {}) {
    event::Position position = TraceBuilder::position(step, phase, -1, node);
    position.stack = stack;
    return position;
  }

  /// Calls and time by "line kind", with "backward" for work of the backward pass that follows from a line.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> totals(std::int64_t warmup = 0) {
    record.trace = std::move(build.trace);
    attribute(record.trace);
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> result;
    for (const LineTotal& total : line_totals(record, warmup)) {
      std::string key = total.file == event::kNoText ? "unknown" : std::to_string(total.line);
      key += std::string(" ") + total.kind + (total.of_forward ? " backward" : "");
      EXPECT_TRUE(result.emplace(key, std::pair(total.calls, total.total_ns)).second) << key;
    }
    return result;
  }
};

using Expected = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;

TEST_F(PythonLines, CountsOperatorsForTheInnermostLineOfTheUser) {
  const std::int64_t outer = build.op("aten::linear", 0, 100, at(1, kForward, 0));
  build.op("aten::addmm", 10, 50, at(1, kForward, 0), outer);
  build.op("aten::_local_scalar_dense", 200, 230, at(1, kForward, 1));
  build.op("aten::mul", 300, 310, at(1, kForward, 2));   // no frame of the user
  build.op("aten::mul", 320, 330, at(1, kForward, -1));  // no stack
  build.op("aten::mul", 400, 500, at(0, kForward, 0));   // warm-up
  EXPECT_EQ(totals(1), (Expected{{"7 operator", {2, 100}}, {"30 host read", {1, 30}}, {"unknown operator", {2, 20}}}));
}

TEST_F(PythonLines, GivesTheBackwardPassTheLastStackOfItsNode) {
  // The first operator with a number creates no node; thread 2 has the same number.
  build.trace.node_stacks = {{{5, 1}, 1}, {{5, 1}, 0}, {{5, 2}, 1}};
  build.op("MulBackward0", 0, 100, at(1, kBackward, -1, {5, 1}));
  build.op("aten::mul", 200, 210, at(1, kBackward, 1, {5, 1}));  // computed again, with a stack of its own
  build.op("AddBackward0", 300, 350, at(1, kBackward, -1, {6, 1}));
  build.op("AccumulateGrad", 400, 440, at(1, kBackward, -1));
  EXPECT_EQ(totals(),
            (Expected{{"7 operator backward", {1, 100}}, {"30 operator", {1, 10}}, {"unknown operator", {2, 90}}}));
}

TEST_F(PythonLines, CountsWorkOfTheGpuForTheLineOfItsLaunch) {
  build.trace.node_stacks = {{{5, 1}, 0}};
  build.launch(1, 0, at(0, kForward, 0));
  build.launch(2, 10, at(0, kBackward, -1, {5, 1}));
  build.launch(3, 20, at(0, kForward, 1), event::LaunchKind::kMemcpy);
  build.launch(4, 30, at(0, kForward, 1), event::LaunchKind::kMemcpy);
  build.activity(1, 100, 150);
  build.activity(2, 200, 260);
  build.activity(3, 300, 305, "memcpy device to host", event::ActivityKind::kMemcpy);
  build.activity(4, 400, 408, "memcpy host to device", event::ActivityKind::kMemcpy);
  build.activity(9, 500, 510);  // of an unknown step
  EXPECT_EQ(
      totals(),
      (Expected{
          {"7 kernel", {1, 50}}, {"7 kernel backward", {1, 60}}, {"30 copy to host", {1, 5}}, {"30 memcpy", {1, 8}}}));
}

TEST_F(PythonLines, HasNoRowsWithoutStacks) {
  record.memory_trace = {};
  build.op("aten::mul", 0, 10, at(1, kForward, -1));
  EXPECT_TRUE(totals().empty());
}

TEST(LibraryCode, IsThatOfTorchKymoAndPython) {
  for (const char* file :
       {"/venv/lib/python3.12/site-packages/torch/_tensor.py",
        "/usr/lib/python3/dist-packages/torch/autograd/function.py",
        "/venv/lib/python3.12/site-packages/triton/runtime/jit.py",
        "/venv/lib/python3.12/site-packages/kymo_trace/_steps.py", "/opt/kymo/python/kymo_trace/_calls.py",
        "/usr/lib/python3.11/contextlib.py", "/tmp/torchinductor_me/ab/cabc.py", "<frozen runpy>", "<eval_with_key>.3"})
    EXPECT_TRUE(is_library_code(file)) << file;
  for (const char* file : {"/home/me/train.py", "/home/me/torch/train.py", "train.py", "<string>", "<stdin>",
                           "/venv/lib/python3.12/site-packages/transformers/models/llama/modeling_llama.py",
                           "/tmp/ipykernel_17/2834.py", "<ipython-input-3-5f>", "/home/me/kymo/train.py"})
    EXPECT_FALSE(is_library_code(file)) << file;
}

}  // namespace
}  // namespace kymo::analysis
