// SPDX-License-Identifier: Apache-2.0
#include <ATen/ThreadLocalState.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/library.h>
#include <torch/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/ParamCommsUtils.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
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

/// A backend that makes its calls on a thread of its own, as Gloo does.
class LaterBackend : public c10d::Backend {
 public:
  LaterBackend(int rank, int size) : Backend(rank, size) {}

  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors, const c10d::BroadcastOptions&) override {
    return later("gloo:broadcast", tensors);
  }
  c10::intrusive_ptr<c10d::Work> _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                      const c10d::ReduceScatterOptions&) override {
    later("gloo:all_reduce", {input});
    return later("gloo:all_reduce", {output});
  }
  c10::intrusive_ptr<c10d::Work> send(std::vector<at::Tensor>& tensors, int, int) override {
    return later("gloo:send", tensors);
  }
  c10::intrusive_ptr<c10d::Work> recv(std::vector<at::Tensor>& tensors, int, int) override {
    return later("gloo:recv", tensors);
  }
  c10::intrusive_ptr<c10d::Work> recvAnysource(std::vector<at::Tensor>& tensors, int) override {
    return later("gloo:recvAnySource", tensors);
  }
  /// Makes the calls, on another thread.
  void run() {
    std::thread([&] {
      for (const auto& call : calls_) call();
    }).join();
    calls_.clear();
  }

 private:
  c10::intrusive_ptr<c10d::Work> later(const char* name, std::vector<at::Tensor> inputs) {
    calls_.push_back(at::wrapPropagateTLSState([=] { BackendCall(name, inputs).end(); }));
    return c10::make_intrusive<c10d::Work>();
  }
  std::vector<std::function<void()>> calls_;
};

struct Grouped {
  Grouped(const char* name, int rank, int size)
      : backend(c10::make_intrusive<LaterBackend>(rank, size)),
        group(c10::make_intrusive<c10d::ProcessGroup>(rank, size)) {
    group->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::GLOO, backend);
    group->setGroupName(name);
  }
  c10::intrusive_ptr<LaterBackend> backend;
  c10::intrusive_ptr<c10d::ProcessGroup> group;
};

TEST_F(CollectivesTest, ThatABackendBeginsLaterBelongToTheirGroups) {
  const Grouped pair("pair", 1, 2);
  const Grouped all("all", 1, 4);
  for (const bool inference : {false, true})
    for (const Pass pass : {Pass::kTrace, Pass::kOps, Pass::kMemory}) {
      const c10::InferenceMode guard(inference);
      arm(pass);
      execution_context_.phase = 1;
      std::vector<at::Tensor> tensors{torch::zeros({4})};
      at::Tensor input = torch::zeros({8});
      pair.group->_reduce_scatter_base(tensors[0], input);
      execution_context_.phase = 2;
      all.group->broadcast(tensors);
      execution_context_.phase = 0;
      all.backend->run();
      pair.backend->run();
      const auto calls = finish();
      ASSERT_EQ(calls.size(), 3u);
      EXPECT_EQ(calls[0].operation, CollectiveOperation::kBroadcast);
      EXPECT_EQ(calls[0].position.phase, 2);
      EXPECT_EQ(calls[0].group_ranks, 4);
      EXPECT_EQ(communicator(calls[0]), "all");
      EXPECT_FALSE(calls[0].on_device);
      EXPECT_LE(calls[1].enqueue_ns, calls[0].enqueue_ns);
      for (const std::int64_t i : {1, 2}) {  // an operation of a group may make several calls
        const Collective& call = calls[static_cast<std::size_t>(i)];
        EXPECT_EQ(call.operation, CollectiveOperation::kReduceScatter);
        EXPECT_EQ(call.position.phase, 1);
        EXPECT_EQ(call.group_ranks, 2);
        EXPECT_EQ(communicator(call), "pair");
        EXPECT_EQ(call.sequence, i - 1);
      }
    }
}

TEST_F(CollectivesTest, MessagesAreNumberedBySenderAndReceiver) {
  arm(Pass::kTrace);
  const Grouped all("all", 1, 4);
  std::vector<at::Tensor> tensors{torch::zeros({4})};
  all.group->send(tensors, 3, 0);
  all.group->recv(tensors, 3, 0);
  all.group->send(tensors, 3, 7);
  all.group->send(tensors, 3, 0);
  all.group->recvAnysource(tensors, 0);
  all.backend->run();
  const auto calls = finish();
  std::vector<std::string> found;
  for (const Collective& each : calls)
    found.push_back(communicator(each) + " of " + std::to_string(each.group_ranks) + ": " +
                    std::to_string(each.sequence));
  EXPECT_EQ(found, (std::vector<std::string>{"all rank 1 to 3 of 2: 0", "all rank 3 to 1 of 2: 0",
                                             "all rank 1 to 3 tag 7 of 2: 0", "all rank 1 to 3 of 2: 1",
                                             "all point to point of 4: 0"}));
}

/// As NCCL does for calls that it makes together, and for errors.
class UnusualBackend : public c10d::Backend {
 public:
  UnusualBackend() : Backend(0, 2) {}
  c10::intrusive_ptr<c10d::Work> send(std::vector<at::Tensor>&, int, int) override { return nullptr; }
  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>&, const c10d::BroadcastOptions&) override {
    throw std::runtime_error("the other rank is gone");
  }
};

TEST_F(CollectivesTest, DoNotChangeWhatTheProgramReceives) {
  const auto group = c10::make_intrusive<c10d::ProcessGroup>(0, 2);
  group->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::GLOO, c10::make_intrusive<UnusualBackend>());
  group->setGroupName("unusual");
  std::vector<at::Tensor> tensors{torch::zeros({4})};
  arm(Pass::kTrace);
  EXPECT_FALSE(group->send(tensors, 1, 0));
  EXPECT_THROW(group->broadcast(tensors), std::runtime_error);
  BackendCall("gloo:all_reduce").end();
  const auto calls = finish();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(communicator(calls[0]), "") << "not the call that failed";
}

TEST_F(CollectivesTest, OfABackendWithoutAGroup) {
  arm(Pass::kOps);
  BackendCall("gloo:all_reduce", {torch::zeros({4})}).end();
  const auto calls = finish();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].group_ranks, -1);
  EXPECT_EQ(communicator(calls[0]), "");
}

TEST_F(CollectivesTest, GroupsThatAreUsedBetweenPasses) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("c10d::broadcast_", "");
  const Grouped all("all", 1, 4);
  std::vector<at::Tensor> tensors{torch::zeros({4})};
  arm(Pass::kTrace);
  EXPECT_TRUE(op.hasKernelForDispatchKey(c10::DispatchKey::BackendSelect));
  all.group->broadcast(tensors);
  finish();
  EXPECT_FALSE(op.hasKernelForDispatchKey(c10::DispatchKey::BackendSelect));
  all.group->broadcast(tensors);
  arm(Pass::kTrace);
  all.backend->run();
  const auto calls = finish();
  ASSERT_EQ(calls.size(), 2u);  // the positions of those of the earlier pass would be wrong
  for (const Collective& each : calls) EXPECT_EQ(communicator(each), "");
}

TEST_F(CollectivesTest, ThatEndRightAfterTheProgramWentOnAreComplete) {
  arm(Pass::kTrace);
  BackendCall call("gloo:all_reduce", {torch::zeros({1})});
  std::thread backend([&call] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    call.end();
  });
  const auto calls = finish();
  backend.join();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_GE(calls[0].returned_ns, calls[0].enqueue_ns + 1'000'000);
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
