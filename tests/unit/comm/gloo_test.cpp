// SPDX-License-Identifier: Apache-2.0
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <chrono>
#include <kymo/communicator.hpp>
#include <thread>

#include "unit/comm/ranks.hpp"

namespace {

using kymo::comm::Backend;
using kymo::comm::make_communicator;
using kymo::comm::Reduction;

constexpr std::int64_t kElements = 1003;

/// Integers with sums up to 40, which are exact in every type.
at::Tensor numbers(int rank, at::ScalarType type, std::int64_t count = kElements) {
  return (at::arange(count).remainder(7) + rank).to(type);
}

at::Tensor sum_of_all(int size, at::ScalarType type, std::int64_t count = kElements) {
  at::Tensor sum = at::zeros({count}, type);
  for (int rank = 0; rank < size; ++rank) sum += numbers(rank, type, count);
  return sum;
}

class GlooOn : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, GlooOn, testing::Values(1, 2, 3, 4), testing::PrintToStringParamName());

constexpr at::ScalarType kTypes[] = {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16,
                                     at::kInt,   at::kLong,   at::kChar, at::kByte};

TEST_P(GlooOn, AllReduceSumsInEveryType) {
  on_ranks(GetParam(), [](RankHost& host) {
    const auto all = make_communicator(host.context(), Backend::kGloo);
    EXPECT_EQ(all->rank(), host.rank());
    EXPECT_EQ(all->size(), host.size());
    for (const at::ScalarType type : kTypes) {
      at::Tensor tensor = numbers(host.rank(), type);
      all->all_reduce(tensor, Reduction::kSum)->wait();
      EXPECT_TRUE(at::equal(tensor, sum_of_all(host.size(), type))) << c10::toString(type);

      const at::Tensor input = numbers(host.rank(), type);
      at::Tensor output = at::full_like(input, 3);
      all->all_reduce(output, input, Reduction::kSum)->wait();
      EXPECT_TRUE(at::equal(output, sum_of_all(host.size(), type))) << c10::toString(type);
      EXPECT_TRUE(at::equal(input, numbers(host.rank(), type))) << "the input was changed";
    }
  });
}

TEST_P(GlooOn, TheAverageIsTheSameInEveryBit) {
  on_ranks(GetParam(), [](RankHost& host) {
    const auto all = make_communicator(host.context(), Backend::kGloo);
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
      at::manual_seed(static_cast<std::uint64_t>(5 + host.rank()));
      at::Tensor mine = at::randn({kElements}, at::kFloat).to(type);
      at::Tensor everyone = at::empty({host.size(), kElements}, type);
      all->all_gather(everyone, mine)->wait();
      all->all_reduce(mine, Reduction::kAverage)->wait();
      const double tolerance = type == at::kBFloat16 ? 3e-2 : type == at::kHalf ? 4e-3 : 1e-6;
      EXPECT_TRUE(at::allclose(mine.to(at::kDouble), everyone.to(at::kDouble).mean(0), tolerance, tolerance))
          << c10::toString(type);

      at::Tensor results = at::empty({host.size(), kElements}, type);
      all->all_gather(results, mine)->wait();
      for (int rank = 0; rank < host.size(); ++rank) EXPECT_TRUE(at::equal(results[rank], mine)) << "rank " << rank;
    }
  });
}

TEST_P(GlooOn, ReduceScatterAndAllGatherArePartsOfEachOther) {
  on_ranks(GetParam(), [](RankHost& host) {
    const auto all = make_communicator(host.context(), Backend::kGloo);
    const std::int64_t count = 101;
    for (const at::ScalarType type : kTypes) {
      const at::Tensor input = numbers(host.rank(), type, count * host.size());
      const at::Tensor sum = sum_of_all(host.size(), type, count * host.size());
      at::Tensor part = at::empty({count}, type);
      all->reduce_scatter(part, input, Reduction::kSum)->wait();
      EXPECT_TRUE(at::equal(part, sum.narrow(0, host.rank() * count, count))) << c10::toString(type);
      EXPECT_TRUE(at::equal(input, numbers(host.rank(), type, count * host.size()))) << "the input was changed";

      at::Tensor whole = at::empty({host.size(), count}, type);
      all->all_gather(whole, part)->wait();
      EXPECT_TRUE(at::equal(whole.view({-1}), sum)) << c10::toString(type);
    }
  });
}

TEST_P(GlooOn, PartsMayLieInTheirWhole) {
  on_ranks(GetParam(), [](RankHost& host) {
    const auto all = make_communicator(host.context(), Backend::kGloo);
    const std::int64_t count = 64;
    const at::Tensor sum = sum_of_all(host.size(), at::kFloat, count * host.size());
    at::Tensor whole = numbers(host.rank(), at::kFloat, count * host.size());
    const at::Tensor own = whole.narrow(0, host.rank() * count, count);
    all->reduce_scatter(own, whole, Reduction::kAverage)->wait();
    EXPECT_TRUE(at::allclose(own, sum.narrow(0, host.rank() * count, count) / host.size()));
    all->all_gather(whole, own)->wait();
    EXPECT_TRUE(at::allclose(whole, sum / host.size()));
  });
}

TEST_P(GlooOn, BroadcastFromEveryRoot) {
  on_ranks(GetParam(), [](RankHost& host) {
    const auto all = make_communicator(host.context(), Backend::kGloo);
    for (int root = 0; root < host.size(); ++root) {
      at::Tensor parameter = numbers(host.rank(), at::kBFloat16).requires_grad_(true);
      all->broadcast(parameter, root)->wait();
      EXPECT_TRUE(at::equal(parameter, numbers(root, at::kBFloat16)));
    }
    EXPECT_THROW(all->broadcast(at::ones({1}), host.size()), std::invalid_argument);
  });
}

TEST_P(GlooOn, ReduceToEveryRoot) {
  on_ranks(GetParam(), [](RankHost& host) {
    const auto all = make_communicator(host.context(), Backend::kGloo);
    for (int root = 0; root < host.size(); ++root) {
      at::Tensor tensor = numbers(host.rank(), at::kFloat);
      all->reduce(tensor, Reduction::kSum, root)->wait();
      EXPECT_TRUE(host.rank() != root || at::equal(tensor, sum_of_all(host.size(), at::kFloat)));
      tensor = numbers(host.rank(), at::kDouble);
      all->reduce(tensor, Reduction::kAverage, root)->wait();
      EXPECT_TRUE(host.rank() != root || at::allclose(tensor, sum_of_all(host.size(), at::kDouble) / host.size()));
    }
    EXPECT_THROW(all->reduce(at::ones({1}), Reduction::kSum, -1), std::invalid_argument);
    EXPECT_THROW(all->reduce(at::ones({1}, at::kInt), Reduction::kAverage, 0), std::invalid_argument);
  });
}

TEST_P(GlooOn, GatherAndScatterAreInverse) {
  on_ranks(GetParam(), [](RankHost& host) {
    const auto all = make_communicator(host.context(), Backend::kGloo);
    for (const at::ScalarType type : kTypes)
      for (int root = 0; root < host.size(); ++root) {
        const bool is_root = host.rank() == root;
        const at::Tensor input = numbers(host.rank(), type);
        const at::Tensor whole = is_root ? at::empty({host.size(), kElements}, type) : at::Tensor();
        all->gather(whole, input, root)->wait();
        for (int rank = 0; is_root && rank < host.size(); ++rank)
          EXPECT_TRUE(at::equal(whole[rank], numbers(rank, type)));
        const at::Tensor output = at::zeros({kElements}, type);
        all->scatter(output, whole, root)->wait();
        EXPECT_TRUE(at::equal(output, input)) << c10::toString(type);
      }
    EXPECT_THROW(all->gather(at::ones({host.size() + 1}), at::ones({1}), host.rank()), std::invalid_argument);
  });
}

TEST_P(GlooOn, AllToAllExchangesChunks) {
  on_ranks(GetParam(), [](RankHost& host) {
    const auto all = make_communicator(host.context(), Backend::kGloo);
    const std::int64_t count = 37;
    const at::Tensor input = at::arange(count * host.size()) + 1000 * host.rank();
    const at::Tensor output = at::zeros_like(input);
    all->all_to_all(output, input)->wait();
    for (int rank = 0; rank < host.size(); ++rank)
      EXPECT_TRUE(at::equal(output.narrow(0, rank * count, count),
                            at::arange(host.rank() * count, (host.rank() + 1) * count) + 1000 * rank));
    EXPECT_THROW(all->all_to_all(input, input), std::invalid_argument);
    EXPECT_THROW(all->all_to_all(at::ones({1}), at::ones({2})), std::invalid_argument);
  });
}

TEST_P(GlooOn, MessagesGoAroundARing) {
  on_ranks(GetParam(), [](RankHost& host) {
    const auto all = make_communicator(host.context(), Backend::kGloo);
    EXPECT_THROW(all->send(at::ones({1}), host.rank()), std::invalid_argument);
    EXPECT_THROW(all->receive(at::ones({1}), host.size()), std::invalid_argument);
    if (host.size() == 1) return;
    const int next = (host.rank() + 1) % host.size(), last = (host.rank() + host.size() - 1) % host.size();
    at::Tensor sum = numbers(host.rank(), at::kFloat), passed = sum.clone();
    for (int i = 1; i < host.size(); ++i) {  // a whole all-reduce in size() − 1 messages
      const at::Tensor received = at::empty_like(passed);
      const auto sent = all->send(passed, next);
      const auto arrived = all->receive(received, last);
      arrived->wait();
      sent->wait();
      EXPECT_TRUE(arrived->done());
      sum += received;
      passed = received;
    }
    EXPECT_TRUE(at::equal(sum, sum_of_all(host.size(), at::kFloat)));
  });
}

TEST(Gloo, MessagesAreNumberedBySenderAndReceiver) {
  on_ranks(3, [](RankHost& host) {
    {
      const auto all = make_communicator(host.context(), Backend::kGloo);
      at::Tensor tensor = at::zeros({4});
      if (host.rank() == 0) {
        all->send(tensor, 2)->wait();
        all->send(tensor, 1)->wait();
      } else {
        all->receive(tensor, 0)->wait();
      }
      if (host.rank() == 0) all->send(tensor, 2)->wait();
      if (host.rank() == 2) all->receive(tensor, 0)->wait();
      all->all_reduce(tensor, Reduction::kSum)->wait();
    }
    const auto calls = host.calls();
    const auto last = host.rank() == 1 ? calls.at(0) : calls.at(host.rank() == 0 ? 2 : 1);
    EXPECT_EQ(last.communicator, host.rank() == 1 ? "world rank 0 to 1" : "world rank 0 to 2");
    EXPECT_EQ(last.sequence, host.rank() == 1 ? 0u : 1u);
    EXPECT_EQ(last.operation, std::uint32_t{host.rank() == 0 ? KYMO_SEND : KYMO_RECEIVE});
    EXPECT_EQ(last.bytes, 16u);
    EXPECT_EQ(last.ends, 1);
    EXPECT_EQ(calls.back().operation, std::uint32_t{KYMO_ALL_REDUCE});
    EXPECT_EQ(calls.back().sequence, 0u);
  });
}

TEST_P(GlooOn, GroupsAndTwoCommunicators) {
  on_ranks(GetParam(), [](RankHost& host) {
    const auto world = make_communicator(host.context(), Backend::kGloo);
    const auto other = make_communicator(host.context(), Backend::kGloo, {.name = "gradients of 'all'"});
    std::vector<at::Tensor> tensors;
    std::vector<std::unique_ptr<kymo::comm::Work>> works;
    {
      const kymo::comm::Communicator::Group group(*world);
      for (int i = 0; i < 20; ++i) {
        tensors.push_back(numbers(host.rank() + i, at::kFloat, 10 + i));
        works.push_back(world->all_reduce(tensors.back(), Reduction::kSum));
      }
    }
    for (int i = 20; i < 40; ++i) {
      tensors.push_back(numbers(host.rank() + i, at::kFloat, 10 + i));
      works.push_back((i % 2 ? world : other)->all_reduce(tensors.back(), Reduction::kSum));
    }
    for (const auto& work : works) {
      work->wait();
      EXPECT_TRUE(work->done());
    }
    for (int i = 0; i < 40; ++i) {
      const at::Tensor expected = sum_of_all(host.size(), at::kFloat, 10 + i) + i * host.size();
      EXPECT_TRUE(at::equal(tensors[static_cast<std::size_t>(i)], expected)) << i;
    }
  });
}

TEST(Gloo, WorkThatNobodyWaitsForIsDoneAndReported) {
  on_ranks(2, [](RankHost& host) {
    auto all = make_communicator(host.context(), Backend::kGloo, {.name = "w"});
    at::Tensor seen = numbers(host.rank(), at::kFloat);
    all->all_reduce(seen, Reduction::kSum);
    all->all_reduce(numbers(host.rank(), at::kFloat), Reduction::kSum);  // only the call references this tensor
    at::Tensor part = at::empty({10}, at::kHalf);
    all->reduce_scatter(part, at::ones({20}, at::kHalf), Reduction::kAverage);
    all->all_gather(at::empty({20}, at::kHalf), part);
    all->broadcast(at::ones({3}), 1);
    all->all_reduce(at::empty({0}), Reduction::kSum)->wait();
    all->barrier();
    EXPECT_TRUE(at::equal(seen, sum_of_all(2, at::kFloat)));
    const std::vector<ReportedCall> calls = host.calls();
    ASSERT_EQ(calls.size(), 7u);
    const std::uint32_t operations[] = {KYMO_ALL_REDUCE, KYMO_ALL_REDUCE, KYMO_REDUCE_SCATTER, KYMO_ALL_GATHER,
                                        KYMO_BROADCAST,  KYMO_ALL_REDUCE, KYMO_BARRIER};
    const std::uint64_t bytes[] = {4 * kElements, 4 * kElements, 40, 40, 12, 0, 0};
    for (std::size_t i = 0; i < calls.size(); ++i) {
      EXPECT_EQ(calls[i].operation, operations[i]) << i;
      EXPECT_EQ(calls[i].bytes, bytes[i]) << i;
      EXPECT_EQ(calls[i].sequence, i);
      EXPECT_EQ(calls[i].communicator, "w");
      EXPECT_EQ(calls[i].stream, nullptr);
      EXPECT_EQ(calls[i].ends, 1) << i;
    }
  });
}

TEST(Gloo, TheSameNameAgainIsAnotherCommunicator) {
  on_ranks(2, [](RankHost& host) {
    for (int i = 0; i < 3; ++i) {
      const auto all = make_communicator(host.context(), Backend::kGloo);
      at::Tensor one = at::ones({1});
      all->all_reduce(one, Reduction::kSum)->wait();
      EXPECT_EQ(one.item<float>(), 2);
    }
    const std::vector<ReportedCall> calls = host.calls();
    ASSERT_EQ(calls.size(), 3u);
    EXPECT_EQ(calls[0].communicator, "world");
    EXPECT_EQ(calls[2].communicator, "world#3");
    EXPECT_EQ(calls[2].sequence, 0u);
  });
}

TEST(Gloo, DescribesItself) {
  on_ranks(1, [](RankHost& host) {
    const auto all = make_communicator(host.context(), Backend::kGloo);
    EXPECT_NE(all->description().find("Gloo of LibTorch 2."), std::string::npos) << all->description();
    EXPECT_NE(all->description().find("127.0.0.1"), std::string::npos) << all->description();
  });
}

TEST(Backends, AreChosenByNameAndDevice) {
  RankHost cpu(0, 1, 0);
  RankHost gpu(0, 1, 0, KYMO_CUDA);
  EXPECT_EQ(kymo::comm::backend_of("auto", cpu.context()), Backend::kGloo);
  EXPECT_EQ(kymo::comm::backend_of("auto", gpu.context()), Backend::kNccl);
  EXPECT_EQ(kymo::comm::backend_of("gloo", gpu.context()), Backend::kGloo);
  EXPECT_THROW(kymo::comm::backend_of("nccl", cpu.context()), std::invalid_argument);
  EXPECT_THROW(kymo::comm::backend_of("mpi", gpu.context()), std::invalid_argument);
  EXPECT_THROW(make_communicator(cpu.context(), Backend::kNccl), std::invalid_argument);
  for (const std::string& name : kymo::comm::backend_names())
    EXPECT_NO_THROW(kymo::comm::backend_of(name, gpu.context()));
}

}  // namespace
