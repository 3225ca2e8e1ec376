// SPDX-License-Identifier: Apache-2.0
#include "training/sharded_optimizer.hpp"

#include <gmock/gmock.h>
#include <torch/optim/lbfgs.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>

#include "training/flat_layout.hpp"
#include "unit/plugins/sharded_case.hpp"
#include "unit/plugins/thread_ranks.hpp"

namespace kymo::training {
namespace {

using namespace sharded_case;
using testing::ElementsAre;
using torch::optim::OptimizerParamGroup;

const Sizes kUneven{{17, 33}, {5}, {1}, {64, 9}, {128}, {3, 3, 3}};

TEST(BalancedOwners, LargestFirstToTheLeastLoaded) {
  std::vector<std::int64_t> load(3);
  EXPECT_THAT(balanced_owners({1, 5, 3, 5, 2}, load), ElementsAre(0, 0, 2, 1, 2));
  EXPECT_THAT(load, ElementsAre(6, 5, 5));
  EXPECT_THAT(balanced_owners({4}, load), ElementsAre(1)) << "what was owned before counts";
}

TEST(BalancedOwners, MoreRanksThanItems) {
  std::vector<std::int64_t> load(5);
  EXPECT_THAT(balanced_owners({7, 9}, load), ElementsAre(1, 0));
  EXPECT_THAT(load, ElementsAre(9, 7, 0, 0, 0));
}

TEST(BalancedOwners, OneHugeItemHasARankToItself) {
  std::vector<std::int64_t> load(3);
  const std::vector<int> owners = balanced_owners({10, 10, 1000, 10, 10}, load);
  EXPECT_EQ(owners[2], 0);
  EXPECT_THAT(load, ElementsAre(1000, 20, 20));
}

TEST(BalancedOwners, StaysWithinGrahamsBound) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const int ranks = 1 + static_cast<int>(random() % 8);
    std::vector<std::int64_t> sizes(random() % 40);
    for (std::int64_t& size : sizes) size = static_cast<std::int64_t>(random() % 1000);
    std::vector<std::int64_t> load(static_cast<std::size_t>(ranks)), again = load;
    const std::vector<int> owners = balanced_owners(sizes, load);
    EXPECT_EQ(owners, balanced_owners(sizes, again));
    const std::int64_t total = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    EXPECT_EQ(std::accumulate(load.begin(), load.end(), std::int64_t{0}), total);
    // No assignment is better than the mean or the largest item; list scheduling exceeds the mean by less than one
    // item.
    const std::int64_t largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
    EXPECT_LE(*std::max_element(load.begin(), load.end()), total / ranks + largest);
    EXPECT_LE(*std::max_element(load.begin(), load.end()) - *std::min_element(load.begin(), load.end()), largest);
  }
  std::vector<std::int64_t> none;
  EXPECT_THROW(balanced_owners({1}, none), std::invalid_argument);
}

struct Setting {
  Kind kind;
  int ranks;
  bool flat;
  int pieces = 1;
};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const Kind& kind : kinds())
    for (const int ranks : {1, 2, 3, 4}) all.push_back({kind, ranks, ranks != 3, ranks % 3 + 1});
  all.push_back({kinds().front(), 9, true});  // more ranks than parameters
  all.push_back({kinds().front(), 9, false});
  all.push_back({kinds().front(), 2, true, 50});  // more pieces than parameters
  return all;
}

class ShardedLikeUnsharded : public testing::TestWithParam<Setting> {};

/// A second group with another learning rate after 4 steps, and a schedule from the third step on.
template <typename Add, typename SetRate, typename Step>
void train(Tensors& all, int ranks, Add add, SetRate set_rate, Step step) {
  for (int i = 0; i < 8; ++i) {
    if (i == 2) set_rate(5e-3);
    if (i == 4) {
      const Tensors later = parameters(kLater);
      add(later);
      all.insert(all.end(), later.begin(), later.end());
    }
    set_mean_gradients(all, i, ranks);
    step();
  }
}

Tensors train_unsharded(const Setting& setting) {
  Tensors all = parameters(kUneven);
  std::vector<std::unique_ptr<torch::optim::Optimizer>> groups;  // LibTorch's Adagrad cannot add groups later
  groups.push_back(make_optimizer(setting.kind.make, OptimizerParamGroup(all)));
  train(
      all, setting.ranks,
      [&](const Tensors& later) {
        groups.push_back(make_optimizer(setting.kind.make, OptimizerParamGroup(later)));
        groups.back()->param_groups().front().options().set_lr(0.03);
      },
      [&](double rate) { groups.front()->param_groups().front().options().set_lr(rate); },
      [&] {
        for (auto& group : groups) group->step();
      });
  return all;
}

TEST_P(ShardedLikeUnsharded, AfterStepsWithAGroupAddedLater) {
  const Setting& setting = GetParam();
  const Tensors expected = train_unsharded(setting);
  std::vector<std::vector<std::int64_t>> owned(static_cast<std::size_t>(setting.ranks));
  ThreadRanks::run(setting.ranks, [&](comm::Communicator& communicator) {
    Tensors all = parameters(kUneven);
    ShardedOptimizer sharded(all, setting.kind.make, communicator, {.flat = setting.flat, .pieces = setting.pieces});
    const auto owns = [&](const at::Tensor& parameter) {
      const std::vector<at::Tensor> all_owned = sharded.owned_parameters();
      return std::any_of(all_owned.begin(), all_owned.end(),
                         [&](const at::Tensor& one) { return one.is_same(parameter); });
    };
    std::vector<bool> owned_first;
    for (const at::Tensor& parameter : all) owned_first.push_back(owns(parameter));
    train(
        all, setting.ranks,
        [&](const Tensors& later) {
          auto options = default_settings(setting.kind.make);
          options->set_lr(0.03);
          sharded.add_param_group(OptimizerParamGroup(later, std::move(options)));
        },
        [&](double rate) { sharded.param_groups().front().options().set_lr(rate); }, [&] { sharded.step(); });
    EXPECT_LE(difference(all, expected), 1e-12);
    for (std::size_t i = 0; i < owned_first.size(); ++i) EXPECT_EQ(owns(all[i]), owned_first[i]);
    std::vector<std::int64_t>& mine = owned[static_cast<std::size_t>(communicator.rank())];
    for (std::size_t i = 0; i < all.size(); ++i)
      if (owns(all[i])) mine.push_back(static_cast<std::int64_t>(i));
    std::int64_t elements = 0, state = 0;
    for (const at::Tensor& parameter : sharded.owned_parameters()) elements += parameter.numel();
    for (const at::Tensor& tensor : sharded.state_tensors())
      state += tensor.dim() > 0 || tensor.scalar_type() == at::kDouble ? tensor.numel() : 0;
    EXPECT_EQ(state, setting.kind.state_per_element * elements) << "of its own parameters alone";
  });
  std::multiset<std::int64_t> everyone;
  for (const auto& mine : owned) everyone.insert(mine.begin(), mine.end());
  std::multiset<std::int64_t> each;
  for (std::size_t i = 0; i < kUneven.size() + kLater.size(); ++i) each.insert(static_cast<std::int64_t>(i));
  EXPECT_EQ(everyone, each) << "every parameter has one owner";
}

INSTANTIATE_TEST_SUITE_P(Kinds, ShardedLikeUnsharded, testing::ValuesIn(settings()), [](const auto& made) {
  return made.param.kind.name + "_" + std::to_string(made.param.ranks) + (made.param.flat ? "_flat_" : "_in_place_") +
         std::to_string(made.param.pieces);
});

TEST(ShardedOptimizer, DividesStateEvenly) {
  Sizes sizes(64, {100});
  ThreadRanks::run(4, [&](comm::Communicator& communicator) {
    ShardedOptimizer sharded(parameters(sizes), kinds().front().make, communicator, {});
    EXPECT_NEAR(static_cast<double>(bytes_of(sharded.state_tensors())) / (2 * 64 * 100 * 8), 0.25, 0.0025);
  });
}

TEST(ShardedOptimizer, PiecesAreOfAboutEqualSizeForEveryOwner) {
  ThreadRanks::run(2, [&](comm::Communicator& communicator) {
    const Tensors all = parameters(Sizes(16, {10}));
    ShardedOptimizer sharded(all, kinds().front().make, communicator, {.flat = true, .pieces = 4});
    const std::vector<at::Tensor> buffers = sharded.parameter_buffers();
    EXPECT_EQ(buffers.size(), 8u) << "one of each owner in each piece";
    for (const at::Tensor& buffer : buffers) EXPECT_EQ(buffer.nbytes(), buffers.front().nbytes());
    set_mean_gradients(all, 0, 2);
    Tensors before;
    for (const at::Tensor& parameter : all) before.push_back(parameter.clone());
    sharded.update(2);
    int changed = 0;
    for (std::size_t i = 0; i < all.size(); ++i) changed += all[i].equal(before[i]) ? 0 : 1;
    EXPECT_EQ(changed, 2) << "this rank's part of one piece";
  });
}

TEST(ShardedOptimizer, RejectsLessThanOnePiece) {
  ThreadRanks::run(1, [&](comm::Communicator& communicator) {
    EXPECT_THROW(ShardedOptimizer(parameters(kUneven), kinds().front().make, communicator, {.flat = true, .pieces = 0}),
                 std::invalid_argument);
  });
}

TEST(ShardedOptimizer, SendsOneMessageAnOwnerOrOneAParameter) {
  ThreadRanks::run(2, [&](comm::Communicator& communicator) {
    auto& rank = dynamic_cast<ThreadRanks::Rank&>(communicator);
    for (const bool flat : {true, false}) {
      const Tensors all = parameters(kUneven);
      ShardedOptimizer sharded(all, kinds().front().make, communicator, {.flat = flat});
      EXPECT_EQ(rank.calls["broadcast"], 0) << "nothing is sent before a step";
      EXPECT_EQ(sharded.parameter_buffers().size(), flat ? 2u : 0u);
      set_mean_gradients(all, 0, 2);
      sharded.update(0);
      EXPECT_EQ(rank.calls["broadcast"], 0);
      sharded.begin_broadcast(0);
      sharded.finish_broadcast();
      EXPECT_EQ(rank.calls["broadcast"], flat ? 2 : 6);
      rank.calls.clear();
    }
  });
}

TEST(ShardedOptimizer, UpdatesTiedParametersOnceAndLeavesThoseWithoutGradient) {
  ThreadRanks::run(2, [&](comm::Communicator& communicator) {
    const Tensors all = parameters({{4}, {6}});
    const at::Tensor untouched = all[1].clone();
    const Tensors alone = parameters({{4}});
    torch::optim::SGD plain(alone, torch::optim::SGDOptions(0.1));
    ShardedOptimizer sharded({all[0], all[1], all[0]},
                             optimizer_factory<torch::optim::SGD>(torch::optim::SGDOptions(0.1)), communicator, {});
    EXPECT_EQ(sharded.param_groups().front().params().size(), 2u);
    all[0].mutable_grad() = at::ones_like(all[0]);
    alone[0].mutable_grad() = at::ones_like(all[0]);
    sharded.step();
    plain.step();
    EXPECT_TRUE(at::equal(all[0], alone[0]));
    EXPECT_TRUE(at::equal(all[1], untouched));
  });
}

TEST(ShardedOptimizer, KeepsTensorsAndTransposedLayouts) {
  ThreadRanks::run(2, [&](comm::Communicator& communicator) {
    const at::Tensor transposed = values({3, 5}, 1).t().detach().requires_grad_(true);
    const at::Tensor shared = transposed, expected = transposed.detach().clone();
    ShardedOptimizer sharded(Tensors{transposed, values({2}, 2)}, kinds().front().make, communicator, {});
    EXPECT_EQ(transposed.strides(), at::IntArrayRef({1, 5}));
    EXPECT_TRUE(transposed.requires_grad());
    EXPECT_TRUE(at::equal(shared, expected));
    (transposed * 2).sum().backward();
    sharded.step();
    EXPECT_FALSE(at::equal(transposed, expected));
    EXPECT_TRUE(at::equal(shared, transposed));
  });
}

TEST(ShardedOptimizer, RunsTheClosureOnceWithGradients) {
  ThreadRanks::run(2, [&](comm::Communicator& communicator) {
    const at::Tensor parameter = values({4}, 3).requires_grad_(true);
    ShardedOptimizer sharded(Tensors{parameter}, optimizer_factory<torch::optim::SGD>(torch::optim::SGDOptions(0.5)),
                             communicator, {});
    const at::Tensor before = parameter.detach().clone();
    int calls = 0;
    const c10::NoGradGuard no_gradients;
    const at::Tensor loss = sharded.step([&] {
      ++calls;
      sharded.zero_grad();
      const at::Tensor made = (parameter * parameter).sum();
      made.backward();
      return made;
    });
    EXPECT_EQ(calls, 1);
    EXPECT_NEAR(loss.item<double>(), (before * before).sum().item<double>(), 1e-12);
    EXPECT_LT(parameter.detach().abs().max().item<double>(), 1e-12) << "p - 0.5 * 2p";
  });
}

TEST(ShardedOptimizer, TakesGroupsThroughTheBaseClass) {
  ThreadRanks::run(3, [&](comm::Communicator& communicator) {
    const Tensors first = parameters({{4}}), later = parameters({{5}, {6}});
    const Tensors alone = parameters({{5}, {6}});
    const OptimizerFactory make = optimizer_factory<torch::optim::SGD>(torch::optim::SGDOptions(0.1));
    ShardedOptimizer sharded(first, make, communicator, {});
    torch::optim::Optimizer& as_base = sharded;
    as_base.add_param_group(OptimizerParamGroup(later));
    torch::optim::SGD plain(alone, torch::optim::SGDOptions(0.1));
    set_mean_gradients(later, 0, 3);
    set_mean_gradients(alone, 0, 3);
    as_base.step();
    plain.step();
    EXPECT_EQ(difference(later, alone), 0);
  });
}

/// The update equals that of one optimizer, and a rank holds the master weights of its own parameters only.
TEST(ShardedOptimizer, HoldsMasterWeightsOfItsOwnParameters) {
  for (const bool flat : {true, false})
    ThreadRanks::run(2, [&](comm::Communicator& communicator) {
      const WithMasters ours, alone;
      ShardedOptimizer sharded(ours.parameters, WithMasters::factory(), communicator, {.flat = flat, .pieces = 2},
                               ours.masters);
      const auto whole =
          make_optimizer(WithMasters::factory(), torch::optim::OptimizerParamGroup(alone.parameters), alone.masters);
      for (int step = 0; step < 3; ++step) {
        for (const WithMasters* side : {&ours, &alone}) side->set_gradients(step);
        sharded.step();
        whole->step();
      }
      expect_equal_bits(ours.parameters, alone.parameters);
      std::size_t held = 0;
      for (const at::Tensor& tensor : sharded.state_tensors()) held += tensor.nbytes();
      std::size_t expected = 0;  // 3 values and a step count, or 2 of parameters without a master weight
      for (const at::Tensor& parameter : sharded.owned_parameters())
        expected += parameter.numel() * (parameter.scalar_type() == at::kFloat ? 8 : 12) + 4;
      EXPECT_EQ(held, expected);
    });
}

/// By the sizes of the parameters alone, the fp32 one would be as large as the other two.
TEST(ShardedOptimizer, CountsMasterWeightsInTheLoadOfARank) {
  ThreadRanks::run(2, [&](comm::Communicator& communicator) {
    Tensors all{at::zeros({100})}, masters{at::Tensor()};
    for (int i = 0; i < 2; ++i) {
      all.push_back(at::zeros({100}, at::kBFloat16));
      masters.push_back(at::zeros({100}));
    }
    const ShardedOptimizer sharded(all, WithMasters::factory(), communicator, {}, masters);
    EXPECT_EQ(sharded.owned_parameters().size(), communicator.rank() == 0 ? 2u : 1u);
    EXPECT_EQ(sharded.owned_parameters().back().scalar_type(), at::kBFloat16);
  });
}

TEST(ShardedOptimizer, RejectsMasterWeightsOfOtherOptimizers) {
  ThreadRanks::run(1, [&](comm::Communicator& communicator) {
    const WithMasters made;
    const OptimizerFactory sgd = optimizer_factory<torch::optim::SGD>(torch::optim::SGDOptions(0.1));
    const auto message = [](const char* text) {
      return testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr(text));
    };
    EXPECT_THAT([&] { ShardedOptimizer(made.parameters, sgd, communicator, {}, made.masters); },
                message("does not use master weights; use FusedAdamW"));
    EXPECT_THAT([&] { ShardedOptimizer(made.parameters, WithMasters::factory(), communicator, {}, {made.masters[0]}); },
                message("there are 1 master weights for 5 parameters"));
  });
}

TEST(ShardedOptimizer, RejectsWhatItCannotDo) {
  ThreadRanks::run(1, [&](comm::Communicator& communicator) {
    const OptimizerFactory make = kinds().front().make;
    const Tensors all = parameters(kUneven);
    EXPECT_THROW(
        ShardedOptimizer(all, optimizer_factory<torch::optim::LBFGS>(torch::optim::LBFGSOptions(1)), communicator, {}),
        std::invalid_argument);
    EXPECT_THROW(ShardedOptimizer(all, nullptr, communicator, {}), std::invalid_argument);
    EXPECT_THROW(ShardedOptimizer(Tensors{values({6}, 0).slice(0, 0, 6, 2)}, make, communicator, {}),
                 std::invalid_argument);
    EXPECT_THROW(ShardedOptimizer(Tensors{values({6}, 0).requires_grad_(true) * 2}, make, communicator, {}),
                 std::invalid_argument);
    AdamWSetting clipped;
    clipped.max_norm = 1;
    EXPECT_THAT([&] { ShardedOptimizer(all, optimizer_factory<FusedAdamW>(clipped), communicator, {}); },
                testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("norm of all gradients")));
    ShardedOptimizer sharded(all, make, communicator, {});
    EXPECT_THROW(
        sharded.add_param_group(OptimizerParamGroup({values({2}, 1)}, std::make_unique<AdamWSetting>(clipped))),
        std::invalid_argument);
    EXPECT_THROW(sharded.add_param_group(OptimizerParamGroup({values({2}, 1), all[2]})), std::invalid_argument);
    EXPECT_EQ(sharded.param_groups().size(), 1u);
  });
}

}  // namespace
}  // namespace kymo::training
