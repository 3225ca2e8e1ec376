// SPDX-License-Identifier: Apache-2.0
// Includes the plugin itself, because its exchange is internal; tested here with identical ranks and with unused
// parameters.
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <kymo/communicator.hpp>
#include <memory>
#include <string>
#include <vector>

#include "ddp_bucketed.cpp"
#include "unit/plugins/fake_host.hpp"

namespace {

using testing::Each;
using testing::Field;

/// Ranks that all do the same as this one, so that a mean is unchanged. Records every call and how often each was
/// waited for.
class FakeCommunicator final : public kymo::comm::Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  kymo::comm::Backend backend() const override { return kymo::comm::Backend::kGloo; }

  using WorkPointer = std::unique_ptr<kymo::comm::Work>;
  WorkPointer all_reduce(const at::Tensor& tensor, kymo::comm::Reduction) override {
    return begin("all_reduce", tensor);
  }
  WorkPointer all_reduce(const at::Tensor& output, const at::Tensor& input, kymo::comm::Reduction) override {
    output.copy_(input);
    return begin("all_reduce", output);
  }
  WorkPointer reduce_scatter(const at::Tensor& output, const at::Tensor&, kymo::comm::Reduction) override {
    return begin("reduce_scatter", output);
  }
  WorkPointer all_gather(const at::Tensor& output, const at::Tensor&) override { return begin("all_gather", output); }
  WorkPointer broadcast(const at::Tensor& tensor, int) override { return begin("broadcast", tensor); }
  void barrier() override {}
  std::string description() const override { return "ranks that agree"; }

  struct Call {
    std::string operation;
    at::Tensor tensor;
    bool in_group = false;
  };
  std::vector<Call> calls;
  int waits = 0, groups = 0;

 private:
  struct FakeWork final : kymo::comm::Work {
    explicit FakeWork(FakeCommunicator& owner) : owner_(owner) {}
    void wait() override { ++owner_.waits; }
    bool done() override { return true; }
    FakeCommunicator& owner_;
  };

  WorkPointer begin(const char* operation, const at::Tensor& tensor) {
    calls.push_back({operation, tensor, grouped_});
    return std::make_unique<FakeWork>(*this);
  }
  void begin_group() override { grouped_ = true, ++groups; }
  void end_group() override { grouped_ = false; }

  bool grouped_ = false;
};

class BucketedExchange : public testing::TestWithParam<bool> {
 protected:
  BucketedExchange() {
    for (int i = 0; i < 4; ++i) parameters_.push_back(at::ones({32}, at::kDouble).requires_grad_(true));
  }
  /// Two parameters of 256 bytes per bucket: {3, 2} and {1, 0}.
  Bucketed exchange() { return Bucketed{{ctx_, parameters_, &communicator_, {}}, 512.0 / 1048576.0, GetParam()}; }
  std::size_t calls() const { return communicator_.calls.size(); }
  /// Number of calls for a full bucket.
  std::size_t per_bucket() const { return GetParam() ? 1 : 2; }

  FakeHost host_;
  kymo::Context ctx_{host_.host(), host_.handle()};
  FakeCommunicator communicator_;
  std::vector<at::Tensor> parameters_;
};

INSTANTIATE_TEST_SUITE_P(Storage, BucketedExchange, testing::Values(true, false),
                         [](const auto& storage) { return storage.param ? "views" : "separate"; });

TEST_P(BucketedExchange, StartsABucketOnceItIsComplete) {
  Bucketed bucketed = exchange();
  for (int step = 0; step < 2; ++step) {
    communicator_.calls.clear();
    bucketed.begin_step();
    (parameters_[3] * 3).sum().backward();
    EXPECT_EQ(calls(), 0u);
    (parameters_[2] * 2).sum().backward();
    EXPECT_EQ(calls(), per_bucket());
    (parameters_[1] + parameters_[0]).sum().backward();
    EXPECT_EQ(calls(), 2 * per_bucket());
    bucketed.finish_step();
    EXPECT_EQ(calls(), 2 * per_bucket()) << "a bucket was sent twice";
    EXPECT_EQ(communicator_.waits, static_cast<int>(calls()) * (step + 1));
    EXPECT_TRUE(at::equal(parameters_[3].grad(), at::ones({32}, at::kDouble) * 3))
        << "gradients of two steps were added up";
  }
}

TEST_P(BucketedExchange, KeepsTheOrderOfBucketsWhateverComesFirst) {
  Bucketed bucketed = exchange();
  bucketed.begin_step();
  (parameters_[0] + parameters_[1]).sum().backward();
  EXPECT_EQ(calls(), 0u) << "the second bucket overtook the first";
  (parameters_[2] + parameters_[3]).sum().backward();
  ASSERT_EQ(calls(), 2 * per_bucket());
  bucketed.finish_step();
  const void* first = communicator_.calls.front().tensor.storage().data();
  EXPECT_EQ(first, parameters_[3].grad().storage().data());
}

TEST_P(BucketedExchange, SendsZerosForWhatTheLossDoesNotDependOn) {
  Bucketed bucketed = exchange();
  bucketed.begin_step();
  (parameters_[2] * 5).sum().backward();
  EXPECT_EQ(calls(), 0u);
  bucketed.finish_step();
  EXPECT_EQ(calls(), 2 * per_bucket()) << "the other ranks would wait for ever";
  for (int i : {0, 1, 3}) EXPECT_TRUE(at::equal(parameters_[i].grad(), at::zeros({32}, at::kDouble))) << i;
  EXPECT_TRUE(at::equal(parameters_[2].grad(), at::ones({32}, at::kDouble) * 5));
}

TEST_P(BucketedExchange, SendsAlternatingTypesInBucketsOfTheirOwn) {
  for (const int i : {0, 2}) parameters_[i] = at::ones({32}, at::kFloat).requires_grad_(true);
  Bucketed bucketed = exchange();
  bucketed.begin_step();
  (parameters_[3].sum() + parameters_[2].sum()).backward();
  EXPECT_EQ(calls(), 0u);
  (parameters_[1] * 2).sum().backward();
  EXPECT_EQ(calls(), per_bucket()) << "both of one type are ready";
  (parameters_[0] * 3).sum().backward();
  bucketed.finish_step();
  EXPECT_EQ(calls(), 2 * per_bucket());
  EXPECT_EQ(communicator_.calls.front().tensor.scalar_type(), at::kDouble);
  EXPECT_EQ(communicator_.calls.back().tensor.scalar_type(), at::kFloat);
  EXPECT_TRUE(at::equal(parameters_[0].grad(), at::ones({32}) * 3));
}

TEST_P(BucketedExchange, GroupsCallsOfSeparateGradients) {
  Bucketed bucketed = exchange();
  bucketed.begin_step();
  bucketed.finish_step();
  EXPECT_EQ(communicator_.groups, GetParam() ? 0 : 2);
  EXPECT_THAT(communicator_.calls, Each(Field(&FakeCommunicator::Call::in_group, !GetParam())));
}

}  // namespace
