// SPDX-License-Identifier: Apache-2.0
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/library.h>
#include <torch/types.h>

#include <memory>
#include <thread>
#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>
#include <vector>

#include "unit/collect/torch/torch_test.hpp"

namespace kymo::collect {
namespace {

using event::Collective;
using event::CollectiveOperation;
using measure::Pass;

/// Records as those of a Work object of c10d, which backends begin and end on any thread.
class BackendCall {
 public:
  explicit BackendCall(const char* name, std::vector<at::Tensor> inputs = {}) : record_(at::RecordScope::USER_SCOPE) {
    if (!record_.isActive()) return;
    record_._setAsync();
    const std::vector<c10::IValue> values(inputs.begin(), inputs.end());
    record_.before(name, c10::ArrayRef<const c10::IValue>(values.data(), values.size()));
  }
  void end() { record_.end(); }

 private:
  at::RecordFunction record_;
};

class CollectivesTest : public TorchTest {
 protected:
  std::string communicator(const Collective& call) const { return record_.trace.texts.text(call.communicator); }
  std::vector<Collective> finish() {
    record_ = disarm();
    expect_nothing_left();
    return record_.trace.collectives;
  }
  event::PassRecord record_;
};

TEST_F(CollectivesTest, OfNcclHaveTheirGroup) {
  for (const Pass pass : {Pass::kTrace, Pass::kOps, Pass::kMemory}) {
    arm(pass);
    {
      const auto info = std::make_shared<torch::ParamCommsDebugInfo>(
          std::tuple<std::string, std::string>("tensor_parallel", ""), 1, "all_reduce", 6, 6, at::kBFloat16,
          std::vector<std::int64_t>{}, std::vector<std::int64_t>{}, 0, 1, 4);
      const c10::DebugInfoGuard guard(c10::DebugInfoKind::PARAM_COMMS_INFO, info);
      BackendCall("nccl:all_reduce", {torch::zeros({2, 3}, at::kBFloat16)}).end();
      BackendCall("nccl:_all_gather_base", {torch::zeros({5})}).end();
      BackendCall("nccl:send", {torch::zeros({1})}).end();
    }
    BackendCall("my range: all_reduce", {torch::zeros({9})}).end();
    BackendCall("nccl:unknown operation", {torch::zeros({9})}).end();
    const auto calls = finish();
    ASSERT_EQ(calls.size(), 3u);
    EXPECT_EQ(calls[0].operation, CollectiveOperation::kAllReduce);
    EXPECT_TRUE(calls[0].on_device);
    EXPECT_EQ(calls[0].bytes, 12);
    EXPECT_EQ(calls[0].dtype, "bf16");
    EXPECT_EQ(calls[0].group_ranks, 4);
    EXPECT_EQ(communicator(calls[0]), "tensor_parallel");
    EXPECT_EQ(calls[0].position.step, 7);
    EXPECT_EQ(calls[0].position.phase, 2);
    EXPECT_GE(calls[0].returned_ns, calls[0].enqueue_ns);
    EXPECT_EQ(calls[1].operation, CollectiveOperation::kAllGather);
    EXPECT_EQ(calls[1].bytes, 4 * 5 * 4) << "the parts of all ranks";
    EXPECT_EQ(calls[1].sequence, 1);
    EXPECT_EQ(calls[2].operation, CollectiveOperation::kSend);
    EXPECT_EQ(communicator(calls[2]), "tensor_parallel point to point");
    EXPECT_EQ(calls[2].sequence, 0);
  }
}

TEST_F(CollectivesTest, ThatABackendBeginsLaterBelongToTheirOperators) {
  arm(Pass::kOps);
  execution_context_.phase = 1;
  const auto call = [](const char* name) {  // as the operators of c10d
    at::RecordFunction record(at::RecordScope::FUNCTION);
    record.before(name);
  };
  call("c10d::_reduce_scatter_base_");
  call("c10d::broadcast_");
  execution_context_.phase = 2;
  std::thread([] {
    BackendCall scatter("gloo:all_reduce", {torch::zeros({4})});
    BackendCall part("gloo:all_reduce", {torch::zeros({4})});  // an operator may make several calls
    BackendCall("gloo:broadcast", {torch::zeros({4})}).end();
    part.end();
    scatter.end();
  }).join();
  const auto calls = finish();
  ASSERT_EQ(calls.size(), 3u);
  for (const Collective& each : calls) {
    EXPECT_EQ(each.position.phase, 1);
    EXPECT_FALSE(each.on_device);
    EXPECT_EQ(each.group_ranks, -1);
    EXPECT_EQ(communicator(each), "");
  }
  EXPECT_EQ(calls[0].operation, CollectiveOperation::kReduceScatter);
  EXPECT_EQ(calls[1].operation, CollectiveOperation::kReduceScatter);
  EXPECT_EQ(calls[2].operation, CollectiveOperation::kBroadcast);
  EXPECT_LE(calls[0].enqueue_ns, calls[2].enqueue_ns);
}

TEST_F(CollectivesTest, ThatOutliveThePass) {
  arm(Pass::kTrace);
  BackendCall open("gloo:all_reduce", {torch::zeros({4})});
  auto calls = finish();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].returned_ns, -1);
  arm(Pass::kTrace);
  BackendCall next("gloo:barrier");
  open.end();  // not the call of this pass
  calls = finish();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].operation, CollectiveOperation::kBarrier);
  EXPECT_EQ(calls[0].returned_ns, -1);
}

}  // namespace
}  // namespace kymo::collect
