// SPDX-License-Identifier: Apache-2.0
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <kymo/torch.hpp>
#include <stdexcept>

#include "training/flat_layout.hpp"
#include "training/gradient_hooks.hpp"
#include "training/trained_model.hpp"
#include "unit/plugins/fake_host.hpp"

namespace kymo::training {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Gradients : public testing::Test {
 protected:
  /// Creates a model and a batch, and records the order in which hooks fire.
  void use(const char* name) {
    model_ = make_model({name, 8, 50, "naive", {.dtype = at::kDouble}}, at::kCPU, 3);
    parameters_ = model_->trained();
    batch_ = model_->make_batch(4);
    at::Generator generator = libtorch_generator();
    model_->draw(batch_, generator);
  }
  void backward() { model_->loss(ctx_, batch_).backward(); }
  std::function<void(std::size_t)> remember() {
    return [this](std::size_t i) { fired_.push_back(i); };
  }
  std::vector<at::Tensor> expected() {
    drop_gradients(parameters_);
    backward();
    std::vector<at::Tensor> all;
    for (const at::Tensor& parameter : parameters_) all.push_back(parameter.grad().clone());
    drop_gradients(parameters_);
    return all;
  }
  static at::Generator libtorch_generator() { return libtorch::make_generator(at::kCPU, 4); }

  FakeHost host_;
  Context ctx_{host_.host(), host_.handle()};
  std::unique_ptr<TrainedModel> model_;
  std::vector<at::Tensor> parameters_;
  Batch batch_;
  std::vector<std::size_t> fired_;
};

TEST_F(Gradients, HooksFireOnceEachFromTheLastLayerOn) {
  use("toy");
  const GradientHooks hooks(parameters_, remember());
  backward();
  EXPECT_THAT(fired_, ElementsAre(2, 1, 0));
  backward();
  EXPECT_EQ(fired_.size(), 6u);
}

TEST_F(Gradients, HooksSeeTheWholeGradientOfASharedWeightOnce) {
  use("tied");
  ASSERT_EQ(parameters_.size(), 4u) << "the shared weight is listed twice";
  const std::vector<at::Tensor> whole = expected();
  const GradientHooks hooks(parameters_, [&](std::size_t i) {
    fired_.push_back(i);
    EXPECT_TRUE(at::equal(parameters_[i].grad(), whole[i])) << i;
  });
  backward();
  EXPECT_THAT(fired_, testing::UnorderedElementsAre(0, 1, 2, 3));
}

TEST_F(Gradients, HooksLeaveOutWhatIsNotTrainedOrNotUsed) {
  use("frozen");
  EXPECT_EQ(parameters_.size(), 2u);
  EXPECT_EQ(model_->parameters().size(), 4u);
  std::vector<at::Tensor> with_unused = parameters_;
  with_unused.push_back(at::ones({3}, at::kDouble).requires_grad_(true));
  const GradientHooks hooks(with_unused, remember());
  backward();
  EXPECT_THAT(fired_, ElementsAre(1, 0));
  EXPECT_FALSE(with_unused[2].grad().defined());
  EXPECT_TRUE(at::equal(gradient_or_zeros(with_unused[2]), at::zeros({3}, at::kDouble)));
  EXPECT_TRUE(with_unused[2].grad().defined());
}

TEST_F(Gradients, HooksEndWithTheirObject) {
  use("toy");
  {
    const GradientHooks hooks(parameters_, remember());
  }
  backward();
  EXPECT_THAT(fired_, IsEmpty());
}

TEST_F(Gradients, ExceptionOfAHookEndsTheBackwardPass) {
  use("toy");
  const GradientHooks hooks(parameters_, [](std::size_t) { throw std::runtime_error("the network is down"); });
  EXPECT_THAT([&] { backward(); },
              testing::ThrowsMessage<std::runtime_error>(testing::HasSubstr("the network is down")));
}

TEST_F(Gradients, LieInOneBufferWithoutCopies) {
  for (const char* name : {"toy", "tied", "frozen", "tiny"}) {
    use(name);
    const std::vector<at::Tensor> wanted = expected();
    FlatLayout flat(parameters_);
    flat.zero_gradients();
    const at::Tensor buffer = flat.gradients();
    const auto* begin = static_cast<const char*>(buffer.const_data_ptr());
    for (int step = 0; step < 3; ++step) {
      flat.zero_gradients();
      EXPECT_TRUE(flat.gradients().is_same(buffer));
      backward();
      for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const auto* at_byte = static_cast<const char*>(parameters_[i].grad().const_data_ptr());
        EXPECT_TRUE(at_byte >= begin && at_byte + parameters_[i].nbytes() <= begin + buffer.nbytes())
            << name << " " << i;
        EXPECT_EQ((at_byte - begin) % 128, 0);
        EXPECT_TRUE(at::equal(parameters_[i].grad(), wanted[i]))
            << name << " " << i << ": gradients of two steps were added up";
      }
    }
  }
}

TEST_F(Gradients, OfTheBufferReachTheParameters) {
  use("toy");
  FlatLayout flat(parameters_);
  flat.zero_gradients();
  backward();
  const at::Tensor before = parameters_[1].grad().clone();
  flat.gradients().mul_(2);
  EXPECT_TRUE(at::equal(parameters_[1].grad(), before * 2));
}

TEST_F(Gradients, AreViewsAgainAfterSomebodyDroppedThem) {
  use("toy");
  FlatLayout flat(parameters_);
  flat.zero_gradients();
  drop_gradients(parameters_);
  flat.zero_gradients();
  ASSERT_TRUE(parameters_[0].grad().defined());
  backward();
  EXPECT_TRUE(
      at::equal(flat.gradients().narrow(0, 0, parameters_[0].numel()).view_as(parameters_[0]), parameters_[0].grad()));
}

}  // namespace
}  // namespace kymo::training
