// SPDX-License-Identifier: Apache-2.0
// Failures of the ranks of a run: a rank that is missing, dies, disagrees, or passes an invalid tensor.
#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <kymo/communicator.hpp>
#include <stdexcept>
#include <thread>

#include "unit/comm/ranks.hpp"
#include "unit/comm/shared_count.hpp"
#include "unit/hang.hpp"

namespace {

using kymo::comm::Backend;
using kymo::comm::make_communicator;
using kymo::comm::Reduction;
using testing::HasSubstr;
using Seconds = std::chrono::duration<double>;

/// The one-line message of the std::runtime_error (or its subclass) that `act` throws.
template <typename Error = std::runtime_error, typename Act>
std::string message_of(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

const kymo::comm::Options kPatient{.deadline = kymo::kHang};

/// Makes communicators, so that LibTorch is loaded and the ranks are connected. Returns a time in which the ranks make
/// another one on a machine as busy as this.
std::chrono::seconds enough_to_join(RankHost& host) {
  const auto first = make_communicator(host.context(), Backend::kGloo, {.name = "first", .deadline = kymo::kHang});
  first->barrier();
  const auto start = std::chrono::steady_clock::now();
  make_communicator(host.context(), Backend::kGloo, {.name = "second", .deadline = kymo::kHang})->barrier();
  return std::chrono::ceil<std::chrono::seconds>(20 * (std::chrono::steady_clock::now() - start)) +
         std::chrono::seconds(1);
}

TEST(JoinedRendezvous, NamesTheRankThatIsMissing) {
  SharedCount ready;
  on_ranks(3, [&](RankHost& host) {
    const std::chrono::seconds deadline = enough_to_join(host);
    if (host.rank() == 1) return;
    ready.add();
    ready.wait_for(2);
    const auto start = std::chrono::steady_clock::now();
    const std::string why =
        message_of([&] { make_communicator(host.context(), Backend::kGloo, {.deadline = deadline}); });
    EXPECT_LT(Seconds(std::chrono::steady_clock::now() - start).count(), kymo::kHang_s);
    // Rank 0 exits first, and with it the store that the others query.
    if (host.rank() == 0) {
      EXPECT_THAT(why, HasSubstr("rank 1 is missing from the 3 ranks of communicator 'world'"));
    }
  });
}

TEST(JoinedRendezvous, NamesRankZeroWhereNobodyAnswers) {
  on_ranks(2, [](RankHost& host) {
    if (host.rank() == 0) return;
    const std::string why =
        message_of([&] { make_communicator(host.context(), Backend::kGloo, {.deadline = std::chrono::seconds(1)}); });
    EXPECT_THAT(why, HasSubstr("rank 0 of 2 is missing"));
    EXPECT_THAT(why, HasSubstr("127.0.0.1:"));
  });
}

TEST(JoinedRendezvous, EndsWhenTheRunIsCancelled) {
  on_ranks(2, [](RankHost& host) {
    if (host.rank() == 1) return;
    std::thread cancel([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      host.cancelled = true;
    });
    EXPECT_THAT(message_of([&] { make_communicator(host.context(), Backend::kGloo); }), HasSubstr("cancelled"));
    cancel.join();
  });
}

TEST(JoinedRendezvous, RejectsWithoutAnAddress) {
  RankHost host(0, 2, 0);
  EXPECT_THAT(message_of([&] { make_communicator(host.context(), Backend::kGloo); }),
              HasSubstr("no rendezvous address"));
}

TEST(Failure, AnotherRankThatDies) {
  on_ranks(3, [](RankHost& host) {
    const auto all = make_communicator(host.context(), Backend::kGloo, kPatient);
    at::Tensor tensor = at::ones({1000});
    all->all_reduce(tensor, Reduction::kSum)->wait();
    if (host.rank() == 2) _exit(0);
    const std::string why = message_of([&] {
      for (int i = 0; i < 3; ++i) all->all_reduce(tensor, Reduction::kSum)->wait();
    });
    EXPECT_THAT(why, HasSubstr("of communicator 'world' on rank " + std::to_string(host.rank()) + " failed"));
    EXPECT_THROW(all->barrier(), std::runtime_error) << "a call after a failure";
    for (const ReportedCall& call : host.calls()) EXPECT_EQ(call.ends, 1);
  });
}

TEST(Failure, ACallThatOnlySomeRanksMakeEndsAtTheDeadline) {
  SharedCount ended;
  on_ranks(2, [&](RankHost& host) {
    const auto all = make_communicator(host.context(), Backend::kGloo, {.deadline = enough_to_join(host)});
    at::Tensor tensor = at::ones({1000});
    if (host.rank() == 1) return ended.wait_for(1);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_NE(message_of([&] { all->all_reduce(tensor, Reduction::kSum)->wait(); }), "");
    ended.add();
    EXPECT_LT(Seconds(std::chrono::steady_clock::now() - start).count(), kymo::kHang_s);
  });
}

TEST(Failure, ACancelledRunDoesNotWait) {
  SharedCount ended;
  on_ranks(2, [&](RankHost& host) {
    auto all = make_communicator(host.context(), Backend::kGloo, kPatient);
    at::Tensor tensor = at::ones({1000});
    const auto start = std::chrono::steady_clock::now();
    if (host.rank() == 1) return ended.wait_for(1);
    const auto work = all->all_reduce(tensor, Reduction::kSum);
    EXPECT_FALSE(work->done());
    host.cancelled = true;
    EXPECT_THAT(message_of([&] { work->wait(); }), HasSubstr("cancelled while waiting for all_reduce 0"));
    all.reset();
    EXPECT_LT(Seconds(std::chrono::steady_clock::now() - start).count(), kymo::kHang_s);
    ended.add();
    EXPECT_EQ(host.calls().at(0).ends, 1);
  });
}

TEST(Rejected, TensorsThatDoNotFit) {
  on_ranks(1, [](RankHost& host) {
    const auto all = make_communicator(host.context(), Backend::kGloo);
    const at::Tensor good = at::ones({4, 6});
    const auto rejected = [](const auto& act) { return message_of<std::invalid_argument>(act); };
    EXPECT_THAT(rejected([&] { all->all_reduce(good.t(), Reduction::kSum); }), HasSubstr("not contiguous"));
    EXPECT_THAT(rejected([&] { all->all_reduce(at::Tensor(), Reduction::kSum); }), HasSubstr("undefined"));
    EXPECT_THAT(rejected([&] { all->all_reduce(good.to_sparse(), Reduction::kSum); }), HasSubstr("sparse"));
    EXPECT_THAT(rejected([&] { all->all_reduce(at::ones({3}, at::kBool), Reduction::kSum); }), HasSubstr("Bool"));
    EXPECT_THAT(rejected([&] { all->all_reduce(at::ones({3}, at::kInt), Reduction::kAverage); }), HasSubstr("average"));
    EXPECT_THAT(rejected([&] { all->all_reduce(at::ones({24}), good, Reduction::kSum); }), HasSubstr("shape"));
    EXPECT_THAT(rejected([&] { all->all_reduce(at::ones({4, 6}, at::kHalf), good, Reduction::kSum); }),
                HasSubstr("same dtype"));
    EXPECT_THAT(rejected([&] { all->reduce_scatter(at::ones({5}), good, Reduction::kSum); }), HasSubstr("chunks"));
    EXPECT_THAT(rejected([&] { all->all_gather(at::ones({5}), good); }), HasSubstr("chunks"));
    const at::Tensor line = at::ones({8});
    EXPECT_THAT(rejected([&] { all->all_reduce(line.narrow(0, 0, 5), line.narrow(0, 2, 5), Reduction::kSum); }),
                HasSubstr("overlap"));
    EXPECT_TRUE(host.calls().empty()) << "a refused call was reported";
    all->all_reduce(good, Reduction::kSum)->wait();
  });
}

TEST(JoinedRendezvous, RanksMustAgreeOnTheBackend) {
  on_ranks(2, [](RankHost& host) {
    RankHost gpu(host.rank(), 2, host.context().rendezvous().port, KYMO_CUDA);
    const Backend backend = host.rank() == 0 ? Backend::kGloo : Backend::kNccl;
    if (host.rank() == 0) {
      EXPECT_THAT(message_of<std::invalid_argument>([&] { make_communicator(gpu.context(), backend, kPatient); }),
                  HasSubstr("must use the same backend"));
    } else {
      EXPECT_ANY_THROW(make_communicator(gpu.context(), backend, kPatient)) << "rank 0 may have left with the store";
    }
  });
}

}  // namespace
