// SPDX-License-Identifier: Apache-2.0
// The Communicator on NCCL over all GPUs of the machine: one process per GPU, forked before CUDA is initialized.
#include <ATen/ATen.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <kymo/communicator.hpp>
#include <kymo/torch.hpp>

#include "gpu/machine.hpp"
#include "unit/comm/ranks.hpp"

namespace {

using kymo::comm::Backend;
using kymo::comm::Communicator;
using kymo::comm::make_communicator;
using kymo::comm::Reduction;
using testing::HasSubstr;

constexpr std::int64_t kElements = 100003;
constexpr at::ScalarType kTypes[] = {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16,
                                     at::kInt,   at::kLong,   at::kChar, at::kByte};

/// Queried in a child process, because this process must not initialize CUDA.
int gpu_count() {
  static const int count = [] {
    const pid_t child = fork();
    if (child == 0) _exit(c10::cuda::device_count());
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  }();
  return count;
}

at::Tensor numbers(int rank, at::ScalarType type, std::int64_t count = kElements) {
  return (at::arange(count).remainder(3) + rank).to(type).to(at::kCUDA);
}

at::Tensor sum_of_all(int size, at::ScalarType type, std::int64_t count = kElements) {
  at::Tensor sum = numbers(0, type, count);
  for (int rank = 1; rank < size; ++rank) sum += numbers(rank, type, count);
  return sum;
}

/// Runs all collectives with every dtype, on the stream that the options select.
void communicate_everything(RankHost& host, const kymo::comm::Options& options) {
  const kymo::Context ctx = host.context();
  kymo::libtorch::select_device(ctx);
  const auto all = make_communicator(ctx, Backend::kNccl, options);
  const int rank = host.rank();
  const int size = host.size();
  for (const at::ScalarType type : kTypes) {
    SCOPED_TRACE(c10::toString(type));
    at::Tensor tensor = numbers(rank, type);
    all->all_reduce(tensor, Reduction::kSum)->wait();
    EXPECT_TRUE(at::equal(tensor, sum_of_all(size, type)));

    at::Tensor output = at::full_like(tensor, 3);
    const at::Tensor input = numbers(rank, type);
    all->all_reduce(output, input, Reduction::kSum)->wait();
    EXPECT_TRUE(at::equal(output, sum_of_all(size, type)));
    EXPECT_TRUE(at::equal(input, numbers(rank, type)));

    const std::int64_t count = 1001;
    at::Tensor part = at::empty({count}, input.options());
    all->reduce_scatter(part, numbers(rank, type, count * size), Reduction::kSum)->wait();
    EXPECT_TRUE(at::equal(part, sum_of_all(size, type, count * size).narrow(0, rank * count, count)));
    at::Tensor whole = at::empty({size, count}, input.options());
    all->all_gather(whole, part)->wait();
    EXPECT_TRUE(at::equal(whole.view({-1}), sum_of_all(size, type, count * size)));
    all->all_gather(whole, whole[rank])->wait();
    EXPECT_TRUE(at::equal(whole.view({-1}), sum_of_all(size, type, count * size)));

    for (int root = 0; root < size; ++root) {
      tensor = numbers(rank, type);
      all->broadcast(tensor, root)->wait();
      EXPECT_TRUE(at::equal(tensor, numbers(root, type)));
    }
  }
  all->barrier();
  for (const ReportedCall& call : host.calls())
    EXPECT_NE(call.stream, nullptr) << "reported as device work, even on the default stream";
}

class OnAllGpus : public testing::Test {
 protected:
  void SetUp() override {
    if (!kymo::machine::has_gpu()) GTEST_SKIP() << "no GPU";
    ASSERT_GT(gpu_count(), 0);
  }
  static void on_gpus(const std::function<void(RankHost&)>& body) { on_ranks(gpu_count(), body, KYMO_CUDA); }
};

class OnSeveralGpus : public OnAllGpus {
 protected:
  void SetUp() override {
    OnAllGpus::SetUp();
    if (!IsSkipped() && !HasFatalFailure() && gpu_count() < 2) GTEST_SKIP() << "fewer than two GPUs";
  }
};

TEST_F(OnAllGpus, EveryCollectiveInEveryType) {
  on_gpus([](RankHost& host) { communicate_everything(host, {}); });
}

TEST_F(OnAllGpus, TheSameOnTheCurrentStream) {
  on_gpus([](RankHost& host) { communicate_everything(host, {.own_stream = false}); });
}

TEST_F(OnAllGpus, TheAverageIsTheSameInEveryBit) {
  on_gpus([](RankHost& host) {
    const kymo::Context ctx = host.context();
    kymo::libtorch::select_device(ctx);
    const auto all = make_communicator(ctx, Backend::kNccl);
    for (const at::ScalarType type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
      at::manual_seed(static_cast<std::uint64_t>(5 + host.rank()));
      at::Tensor mine = at::randn({kElements}, at::TensorOptions(at::kCUDA)).to(type);
      at::Tensor everyone = at::empty({host.size(), kElements}, mine.options());
      all->all_gather(everyone, mine)->wait();
      all->all_reduce(mine, Reduction::kAverage)->wait();
      const double tolerance = type == at::kBFloat16 ? 3e-2 : type == at::kHalf ? 4e-3 : 1e-5;
      EXPECT_TRUE(at::allclose(mine.to(at::kDouble), everyone.to(at::kDouble).mean(0), tolerance, tolerance))
          << c10::toString(type);
      all->all_gather(everyone, mine)->wait();
      for (int rank = 0; rank < host.size(); ++rank) EXPECT_TRUE(at::equal(everyone[rank], mine)) << "rank " << rank;
    }
  });
}

TEST_F(OnAllGpus, AGroupIsOneLaunchAndTwoCommunicatorsStayApart) {
  on_gpus([](RankHost& host) {
    const kymo::Context ctx = host.context();
    kymo::libtorch::select_device(ctx);
    const auto world = make_communicator(ctx, Backend::kNccl);
    const auto other = make_communicator(ctx, Backend::kNccl, {.name = "other"});
    std::vector<at::Tensor> tensors;
    std::vector<std::unique_ptr<kymo::comm::Work>> works;
    {
      const Communicator::Group group(*world);
      for (int i = 0; i < 30; ++i) {
        tensors.push_back(numbers(host.rank() + i, at::kFloat, 100 + i));
        works.push_back(world->all_reduce(tensors.back(), Reduction::kSum));
        if (i == 7) {
          EXPECT_THROW(works.back()->wait(), std::logic_error) << "wait() before the end of the group";
        }
      }
    }
    works.push_back(
        other->all_reduce(tensors.emplace_back(numbers(host.rank() + 30, at::kFloat, 130)), Reduction::kSum));
    for (const auto& work : works) work->wait();
    for (int i = 0; i <= 30; ++i) {
      const at::Tensor expected = sum_of_all(host.size(), at::kFloat, 100 + i) + i * host.size();
      EXPECT_TRUE(at::equal(tensors[static_cast<std::size_t>(i)], expected)) << i;
    }
    world->barrier();
    for (const ReportedCall& call : host.calls()) {
      EXPECT_EQ(call.ends, 1);
      EXPECT_NE(call.stream, nullptr);
    }
    EXPECT_EQ(host.calls().back().operation, std::uint32_t{KYMO_BARRIER});
    EXPECT_EQ(host.calls().back().sequence, 30u);
    EXPECT_THAT(world->description(), HasSubstr("NCCL 2."));
  });
}

// The tensor is produced by kernels that are still running, and modified right after the call; both must be ordered on
// the current stream.
TEST_F(OnAllGpus, KeepsTheOrderOfTheCurrentStream) {
  on_gpus([](RankHost& host) {
    const kymo::Context ctx = host.context();
    kymo::libtorch::select_device(ctx);
    const auto all = make_communicator(ctx, Backend::kNccl);
    const at::Tensor busy = at::rand({3000, 3000}, at::TensorOptions(at::kCUDA));
    for (int round = 0; round < 20; ++round) {
      at::Tensor slow = busy;
      for (int i = 0; i < 4; ++i) slow = slow.matmul(busy).clamp(0, 1);
      at::Tensor tensor = slow.flatten().mul(0).add(host.rank() + round);
      const auto work = all->all_reduce(tensor, Reduction::kSum);
      work->wait();
      tensor.add_(1);
      const float expected = static_cast<float>(host.size() * round + host.size() * (host.size() - 1) / 2 + 1);
      EXPECT_TRUE(tensor.eq(expected).all().item<bool>()) << round;
      EXPECT_TRUE(work->done());
      // Only the call holds this tensor, and nobody waits for it.
      all->all_reduce(at::ones({1 << 20}, at::TensorOptions(at::kCUDA)), Reduction::kSum);
    }
  });
}

TEST_F(OnAllGpus, ReplaysTheCollectivesOfAGraph) {
  on_gpus([](RankHost& host) {
    const kymo::Context ctx = host.context();
    kymo::libtorch::select_device(ctx);
    for (const bool own_stream : {true, false}) {
      const auto all = make_communicator(ctx, Backend::kNccl, {.name = "graph", .own_stream = own_stream});
      const c10::cuda::CUDAStreamGuard side(c10::cuda::getStreamFromPool());
      const at::Tensor input = numbers(host.rank(), at::kFloat), sum = at::zeros_like(input);
      const at::Tensor whole = at::empty({host.size(), kElements}, input.options());
      const auto calls = [&] {
        std::vector<std::unique_ptr<kymo::comm::Work>> works;
        {
          const Communicator::Group group(*all);
          works.push_back(all->all_reduce(sum, input, Reduction::kSum));
        }
        works.push_back(all->all_gather(whole, input));
        for (const auto& work : works) work->wait();
        sum.add_(1);
        return works;
      };
      calls();  // connects the ranks
      all->barrier();
      at::cuda::CUDAGraph graph;
      graph.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
      const auto captured = calls();
      EXPECT_THROW(all->barrier(), std::logic_error);
      graph.capture_end();
      EXPECT_THROW(captured.front()->done(), std::logic_error);
      const auto expect_results = [&](int of) {
        const int size = host.size();
        EXPECT_TRUE(sum.eq(size * of + size * (size - 1) / 2 + 1).all().item<bool>());
        for (int rank = 0; rank < size; ++rank) EXPECT_TRUE(whole[rank].eq(rank + of).all().item<bool>());
      };
      for (int i = 0; i < 3; ++i) {
        input.fill_(host.rank() + i);
        graph.replay();
        expect_results(i);
      }
      input.fill_(host.rank() + 7);
      calls();
      expect_results(7);
      all->barrier();
    }
  });
}

TEST_F(OnAllGpus, RejectsTensorsOfTheHost) {
  on_gpus([](RankHost& host) {
    kymo::libtorch::select_device(host.context());
    const auto all = make_communicator(host.context(), Backend::kNccl);
    EXPECT_THROW(all->all_reduce(at::ones({3}), Reduction::kSum), std::invalid_argument);
    const at::Tensor matrix = at::ones({3, 4}, at::TensorOptions(at::kCUDA));
    EXPECT_THROW(all->all_reduce(matrix.t(), Reduction::kSum), std::invalid_argument);
  });
}

TEST_F(OnAllGpus, TwoRanksOnOneGpuHearWhyNot) {
  on_ranks(
      2,
      [](RankHost& host) {
        host.use_first_gpu();
        kymo::libtorch::select_device(host.context());
        try {
          make_communicator(host.context(), Backend::kNccl, {.deadline = std::chrono::seconds(60)});
          ADD_FAILURE() << "NCCL did not report an error";
        } catch (const std::runtime_error& error) {
          EXPECT_THAT(error.what(), HasSubstr("uplicate GPU"));
        }
      },
      KYMO_CUDA);
}

TEST_F(OnSeveralGpus, APeerThatDiesEndsInAnError) {
  on_gpus([](RankHost& host) {
    kymo::libtorch::select_device(host.context());
    auto all = make_communicator(host.context(), Backend::kNccl, {.deadline = std::chrono::seconds(5)});
    at::Tensor tensor = at::ones({1 << 20}, at::TensorOptions(at::kCUDA));
    all->all_reduce(tensor, Reduction::kSum)->wait();
    all->barrier();
    if (host.rank() == host.size() - 1) _exit(0);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW(
        {
          all->all_reduce(tensor, Reduction::kSum);
          all->barrier();
        },
        std::runtime_error);
    EXPECT_THROW(all->all_reduce(tensor, Reduction::kSum), std::runtime_error) << "a call after a failure";
    all.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
    for (const ReportedCall& call : host.calls()) EXPECT_EQ(call.ends, 1);
  });
}

TEST_F(OnSeveralGpus, ACancelledRunDoesNotWait) {
  on_gpus([](RankHost& host) {
    kymo::libtorch::select_device(host.context());
    auto all = make_communicator(host.context(), Backend::kNccl);
    all->barrier();
    if (host.rank() > 0) return sleep(8), void();
    host.cancelled = true;
    EXPECT_THROW(all->barrier(), std::runtime_error);
    all.reset();
  });
}

}  // namespace
