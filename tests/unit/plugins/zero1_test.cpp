// SPDX-License-Identifier: Apache-2.0
#include "training/zero1.hpp"

#include <gmock/gmock.h>
#include <torch/optim/lbfgs.h>

#include <limits>
#include <stdexcept>

#include "training/flat_layout.hpp"
#include "unit/plugins/sharded_case.hpp"
#include "unit/plugins/thread_ranks.hpp"

namespace kymo::training {
namespace {

using namespace sharded_case;
using testing::ElementsAre;
using torch::optim::OptimizerParamGroup;

const Sizes kZero1Sizes{{17, 33}, {5}, {1}, {64, 9}, {129}};
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

TEST(FlatLayout, AlignsEachTensorAndPadsToEqualParts) {
  const Tensors tensors = parameters({{17}, {3, 5}, {1}});
  const FlatLayout layout(tensors, 3);
  EXPECT_EQ(layout.numel() % 3, 0);
  EXPECT_GE(layout.numel(), 17 + 15 + 1);
  const at::Tensor buffer = layout.make_buffer();
  EXPECT_EQ(layout.numel(), buffer.numel());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const at::Tensor view = layout.view(buffer, i);
    EXPECT_EQ(view.sizes(), tensors[i].sizes());
    EXPECT_EQ(view.storage_offset() * 8 % 128, 0);
    view.fill_(static_cast<double>(i + 1));
  }
  EXPECT_EQ(buffer.sum().item<double>(), 17 * 1 + 15 * 2 + 1 * 3) << "views do not overlap";
  EXPECT_EQ(layout.shard(buffer, 1).numel(), layout.numel() / 3);
  EXPECT_EQ(layout.shard(buffer, 1).storage_offset(), layout.numel() / 3);
  EXPECT_EQ(FlatLayout(tensors).numel(), layout.view(buffer, 2).storage_offset() + 1)
      << "a single part needs no padding";
}

TEST(FlatLayout, RejectsWhatDoesNotFit) {
  const auto message = [](const char* text) {
    return testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(text));
  };
  EXPECT_THAT([] { FlatLayout({}, 2); }, message("at least one tensor"));
  EXPECT_THAT([] { FlatLayout(parameters({{3}}), 0); }, message("at least one part"));
  EXPECT_THAT([] { FlatLayout({at::zeros({3}), at::zeros({3}, at::kDouble)}); }, message("one type and device"));
  EXPECT_THAT([] { FlatLayout({at::zeros({8}).slice(0, 0, 8, 2)}); }, message("is not dense"));
}

TEST(SplitByBytes, KeepsTheOrderAndTheLimitAndTypesApart) {
  const Tensors tensors{at::zeros({10}), at::zeros({10}), at::zeros({50}), at::zeros({1}), at::zeros({1}, at::kDouble)};
  std::vector<std::size_t> counts;
  for (const auto& list : split_by_bytes(tensors, 100)) counts.push_back(list.size());
  EXPECT_THAT(counts, ElementsAre(2, 1, 1, 1));
  EXPECT_TRUE(split_by_bytes(tensors, 100)[1][0].is_same(tensors[2]));
  EXPECT_EQ(split_by_bytes(tensors, kNoLimit).size(), 2u);
}

struct Zero1Setting {
  Kind kind;
  int ranks;
  double bucket_bytes;
};

std::vector<Zero1Setting> zero1_settings() {
  std::vector<Zero1Setting> all;
  for (const Kind& kind : kinds())
    for (const int ranks : {1, 2, 3, 4}) all.push_back({kind, ranks, ranks == 3 ? 0.5 : ranks == 4 ? 2000 : kNoLimit});
  all.push_back({kinds().front(), 7, kNoLimit});
  return all;
}

class Zero1LikeUnsharded : public testing::TestWithParam<Zero1Setting> {};

TEST_P(Zero1LikeUnsharded, AfterStepsWithAGroupAddedLater) {
  const auto& [kind, ranks, bucket_bytes] = GetParam();
  const auto settings_of_later = [&kind = kind] {
    auto options = default_settings(kind.make);
    options->set_lr(0.03);
    return options;
  };
  Tensors expected = parameters(kZero1Sizes);
  std::vector<std::unique_ptr<torch::optim::Optimizer>> whole;
  whole.push_back(make_optimizer(kind.make, OptimizerParamGroup(expected)));
  constexpr int kSteps = 8, kAddedAfter = 4;
  for (int step = 0; step < kSteps; ++step) {
    if (step == kAddedAfter) {
      const Tensors later = parameters(kLater);
      whole.push_back(make_optimizer(kind.make, OptimizerParamGroup(later, settings_of_later())));
      expected.insert(expected.end(), later.begin(), later.end());
    }
    set_mean_gradients(expected, step, ranks);
    for (auto& one : whole) one->step();
  }

  ThreadRanks::run(
      ranks, [&, &kind = kind, bucket_bytes = bucket_bytes, ranks = ranks](comm::Communicator& communicator) {
        Tensors all = parameters(kZero1Sizes);
        Zero1 zero(OptimizerParamGroup(all), kind.make, communicator, {.bucket_bytes = bucket_bytes, .overlap = false});
        for (int step = 0; step < kSteps; ++step) {
          if (step == kAddedAfter) {
            const Tensors later = parameters(kLater);
            zero.add_group(OptimizerParamGroup(later, settings_of_later()));
            all.insert(all.end(), later.begin(), later.end());
          }
          zero.begin_step();
          for (std::size_t i = 0; i < all.size(); ++i) {
            const at::Tensor own = gradient(all[i], i, step, communicator.rank());
            if (step % 2 == 0)
              all[i].mutable_grad() = own;  // replaced: it is copied into its bucket
            else
              all[i].mutable_grad().copy_(own);
          }
          zero.finish_step();
          zero.update();
          zero.gather_parameters();
        }
        EXPECT_LE(difference(all, expected), 1e-12);
        std::int64_t state = 0;
        for (const at::Tensor& tensor : zero.state_tensors())
          if (tensor.dim() > 0) state += static_cast<std::int64_t>(tensor.nbytes());
        EXPECT_EQ(state, kind.state_per_element * zero.owned_bytes());
        EXPECT_EQ(zero.owned_bytes() * ranks, bytes_of(zero.parameter_buffers()));
      });
}

INSTANTIATE_TEST_SUITE_P(Kinds, Zero1LikeUnsharded, testing::ValuesIn(zero1_settings()), [](const auto& made) {
  return made.param.kind.name + "_" + std::to_string(made.param.ranks);
});

TEST(Zero1, HoldsOnePartOfTheState) {
  const Sizes sizes{{1000, 33}, {777}, {200, 200}};
  std::int64_t whole = 0;
  for (const at::Tensor& parameter : parameters(sizes)) whole += 2 * static_cast<std::int64_t>(parameter.nbytes());
  for (const int ranks : {2, 3, 4})
    ThreadRanks::run(ranks, [&](comm::Communicator& communicator) {
      Zero1 zero(OptimizerParamGroup(parameters(sizes)), kinds().front().make, communicator, {});
      const double share = static_cast<double>(bytes_of(zero.state_tensors())) / static_cast<double>(whole);
      EXPECT_NEAR(share * ranks, 1, 0.01);
    });
}

/// Two layers and a loss; the first weight is used twice.
at::Tensor training_loss_of(const Tensors& weights, const at::Tensor& input) {
  const at::Tensor hidden = at::tanh(at::matmul(at::tanh(at::matmul(input, weights[0])), weights[0]) + weights[1]);
  return at::matmul(hidden, weights[2]).square().mean();
}

Tensors trained_parameters() {
  Tensors all = parameters({{6, 6}, {6}, {6, 2}});
  for (at::Tensor& one : all) one.requires_grad_(true);
  return all;
}

void expect_training_like_one_process(bool overlap, double bucket_bytes) {
  constexpr int kRanks = 3, kSteps = 6;
  Tensors expected = trained_parameters();
  const auto whole = make_optimizer(kinds().front().make, OptimizerParamGroup(expected));
  for (int step = 0; step < kSteps; ++step) {
    whole->zero_grad();
    training_loss_of(expected, values({2 * kRanks, 6}, step)).backward();
    whole->step();
  }
  ThreadRanks::run(kRanks, [&](comm::Communicator& communicator) {
    auto& rank = dynamic_cast<ThreadRanks::Rank&>(communicator);
    const Tensors all = trained_parameters();
    Zero1 zero(OptimizerParamGroup(all), kinds().front().make, communicator,
               {.bucket_bytes = bucket_bytes, .overlap = overlap});
    const int buckets = static_cast<int>(zero.parameter_buffers().size());
    for (int step = 0; step < kSteps; ++step) {
      zero.begin_step();
      if (overlap)
        for (const at::Tensor& used : {all[0], all[0], all[2]}) zero.await_parameter(used);
      EXPECT_EQ(rank.calls["all_gather"], overlap ? buckets * (step + 1) : buckets * step);
      training_loss_of(all, values({2 * kRanks, 6}, step).narrow(0, 2 * communicator.rank(), 2)).backward();
      EXPECT_EQ(rank.calls["reduce_scatter"], overlap ? buckets * (step + 1) : buckets * step);
      zero.finish_step();
      EXPECT_EQ(rank.calls["reduce_scatter"], buckets * (step + 1));
      zero.update();
      if (!overlap || step + 1 == kSteps) zero.gather_parameters();
    }
    const c10::NoGradGuard no_gradients;
    EXPECT_LE(difference(all, expected), 1e-9);
  });
}

TEST(Zero1, TrainsLikeOneProcess) { expect_training_like_one_process(false, kNoLimit); }
TEST(Zero1, TrainsLikeOneProcessInBuckets) { expect_training_like_one_process(false, 100); }
TEST(Zero1, ReducesInBackwardAndGathersInForward) { expect_training_like_one_process(true, 100); }
TEST(Zero1, ReducesOneBucketFromTheLastHook) { expect_training_like_one_process(true, kNoLimit); }

TEST(Zero1, ReducesBucketsOfUnusedParametersAtTheEnd) {
  ThreadRanks::run(2, [&](comm::Communicator& communicator) {
    auto& rank = dynamic_cast<ThreadRanks::Rank&>(communicator);
    Tensors all = trained_parameters();
    all.push_back(values({9}, 5).requires_grad_(true));  // the first bucket, which backward never completes
    Zero1 zero(OptimizerParamGroup(all), optimizer_factory<torch::optim::SGD>(torch::optim::SGDOptions(0.1)),
               communicator, {.bucket_bytes = 100, .overlap = true});
    const at::Tensor before = all[3].detach().clone();
    for (int step = 0; step < 2; ++step) {
      zero.begin_step();
      training_loss_of(all, values({2, 6}, communicator.rank())).backward();
      EXPECT_EQ(rank.calls["reduce_scatter"], 4 * step) << "one order on all ranks";
      zero.finish_step();
      EXPECT_EQ(rank.calls["reduce_scatter"], 4 * (step + 1));
      zero.update();
      zero.gather_parameters();
    }
    EXPECT_TRUE(at::equal(all[3].detach(), before));
  });
}

TEST(Zero1, RejectsASecondBackwardPassWithOverlap) {
  ThreadRanks::run(1, [&](comm::Communicator& communicator) {
    const Tensors all = trained_parameters();
    Zero1 zero(OptimizerParamGroup(all), kinds().front().make, communicator, {});
    zero.begin_step();
    training_loss_of(all, values({2, 6}, 0)).backward();
    EXPECT_THROW(training_loss_of(all, values({2, 6}, 0)).backward(), std::logic_error);
    zero.begin_step();
    EXPECT_NO_THROW(training_loss_of(all, values({2, 6}, 0)).backward());
  });
}

TEST(Zero1, TakesItsHooksAway) {
  ThreadRanks::run(1, [&](comm::Communicator& communicator) {
    auto& rank = dynamic_cast<ThreadRanks::Rank&>(communicator);
    const Tensors all = trained_parameters();
    {
      const Zero1 gone(OptimizerParamGroup(all), kinds().front().make, communicator, {});
    }
    training_loss_of(all, values({2, 6}, 0)).backward();
    EXPECT_EQ(rank.calls["reduce_scatter"], 0);
  });
}

TEST(Zero1, RejectsWhatItCannotDo) {
  ThreadRanks::run(1, [&](comm::Communicator& communicator) {
    const OptimizerFactory make = kinds().front().make;
    const Tensors all = parameters(kZero1Sizes);
    const auto zero = [&](const Tensors& of, const OptimizerFactory& factory, double bucket_bytes) {
      return std::make_unique<Zero1>(OptimizerParamGroup(of), factory, communicator,
                                     Zero1::Options{.bucket_bytes = bucket_bytes});
    };
    EXPECT_THROW(zero(all, make, 0), std::invalid_argument);
    EXPECT_THROW(zero(all, make, std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
    EXPECT_THROW(zero(all, optimizer_factory<torch::optim::LBFGS>(torch::optim::LBFGSOptions(1)), 1e9),
                 std::invalid_argument);
    EXPECT_THROW(zero({values({6}, 0).slice(0, 0, 6, 2)}, make, 1e9), std::invalid_argument);
    const auto made = zero(all, make, 1e9);
    EXPECT_THROW(made->add_group(OptimizerParamGroup({values({2}, 1), all[2]})), std::invalid_argument);
    EXPECT_EQ(made->parameter_buffers().size(), 1u);
  });
}

/// The update equals that of one optimizer, and a rank holds the master weights of its parts only.
TEST(Zero1, HoldsMasterWeightsOfItsParts) {
  for (const double bucket_bytes : {kNoLimit, 100.0})
    for (const int ranks : {1, 2, 4})
      ThreadRanks::run(ranks, [&](comm::Communicator& communicator) {
        const WithMasters ours, alone;
        Zero1 zero(OptimizerParamGroup(ours.parameters), WithMasters::factory(), communicator,
                   {.bucket_bytes = bucket_bytes, .overlap = false}, ours.masters);
        const auto whole = make_optimizer(WithMasters::factory(), OptimizerParamGroup(alone.parameters), alone.masters);
        for (int step = 0; step < 3; ++step) {
          zero.begin_step();
          for (const WithMasters* side : {&ours, &alone}) side->set_gradients(step);
          zero.finish_step();
          zero.update();
          zero.gather_parameters();
          whole->step();
        }
        expect_equal_bits(ours.parameters, alone.parameters);
        std::int64_t held = 0, owned = 0;
        for (const at::Tensor& tensor : zero.state_tensors()) held += static_cast<std::int64_t>(tensor.nbytes());
        for (const at::Tensor& buffer : zero.parameter_buffers())
          owned += buffer.numel() / ranks * (buffer.scalar_type() == at::kFloat ? 8 : 12) + 4;
        EXPECT_EQ(held, owned);
      });
}

TEST(Zero1, RejectsMasterWeightsOfSomeParametersOfAType) {
  ThreadRanks::run(1, [&](comm::Communicator& communicator) {
    WithMasters made;
    made.masters[0] = at::Tensor();
    EXPECT_THAT(
        [&] { Zero1(OptimizerParamGroup(made.parameters), WithMasters::factory(), communicator, {}, made.masters); },
        testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("for all or for none of the type")));
  });
}

TEST(Zero1, TakesTiedParametersOnce) {
  ThreadRanks::run(2, [&](comm::Communicator& communicator) {
    const Tensors all = parameters({{40}, {6}}), alone = parameters({{40}});
    Zero1 zero(OptimizerParamGroup({all[0], all[1], all[0]}),
               optimizer_factory<torch::optim::SGD>(torch::optim::SGDOptions(0.1)), communicator, {.overlap = false});
    zero.begin_step();
    all[0].mutable_grad().fill_(1);
    zero.finish_step();
    zero.update();
    zero.gather_parameters();
    EXPECT_LE(difference({all[0]}, {alone[0] - 0.1}), 1e-15);
  });
}

}  // namespace
}  // namespace kymo::training
