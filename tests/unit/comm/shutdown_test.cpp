// SPDX-License-Identifier: Apache-2.0
// Coordinated shutdown: ranks that end together or not. All must get the same answer, because destroying a communicator
// waits for the other ranks.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "rendezvous.hpp"
#include "unit/comm/ranks.hpp"
#include "unit/comm/shared_count.hpp"
#include "unit/hang.hpp"

namespace {

using kymo::comm::Backend;
using kymo::comm::coordinated_shutdown;
using kymo::comm::join_rendezvous;
using std::chrono::milliseconds;
using Seconds = std::chrono::duration<double>;

kymo::comm::JoinedRendezvous join(RankHost& host) {
  return join_rendezvous(host.context(), Backend::kGloo, {.deadline = kymo::kHang});
}

TEST(CoordinatedShutdown, SucceedsWhenAllJoin) {
  SharedCount answered;
  on_ranks(3, [&](RankHost& host) {
    const auto rendezvous = join(host);
    std::this_thread::sleep_for(milliseconds(100 * host.rank()));
    EXPECT_TRUE(coordinated_shutdown(rendezvous, 3, kymo::kHang));
    answered.add();
    if (host.rank() == 0) answered.wait_for(3);  // it serves the store
  });
}

TEST(CoordinatedShutdown, FailsForAllWhenOneIsMissing) {
  SharedCount answered;
  on_ranks(3, [&](RankHost& host) {
    const auto rendezvous = join(host);
    const auto start = std::chrono::steady_clock::now();
    if (host.rank() == 1) return;
    EXPECT_FALSE(coordinated_shutdown(rendezvous, 3, milliseconds(300)));
    EXPECT_LT(Seconds(std::chrono::steady_clock::now() - start).count(), kymo::kHang_s);
    answered.add();
    if (host.rank() == 0) answered.wait_for(2);  // it serves the store
  });
}

TEST(CoordinatedShutdown, FailsForOneThatComesTooLate) {
  SharedCount answered;
  on_ranks(2, [&](RankHost& host) {
    const auto rendezvous = join(host);
    if (host.rank() == 1) answered.wait_for(1);
    EXPECT_FALSE(coordinated_shutdown(rendezvous, 2, milliseconds(100)));
    answered.add();
    if (host.rank() == 0) answered.wait_for(2);  // it serves the store
  });
}

TEST(CoordinatedShutdown, FailsWithoutTheStore) {
  on_ranks(2, [](RankHost& host) {
    const auto rendezvous = join(host);
    // Rank 0 destroys the store that the other rank still uses for its rendezvous.
    if (host.rank() == 0) return rendezvous.store->wait({"met"});
    rendezvous.store->set("met", std::string("yes"));
    EXPECT_ANY_THROW(while (rendezvous.store->check({"met"})) std::this_thread::sleep_for(milliseconds(1)));
    EXPECT_FALSE(coordinated_shutdown(rendezvous, 2, kymo::kHang));
  });
}

TEST(CoordinatedShutdown, OfOneRankAlwaysSucceeds) {
  on_ranks(1, [](RankHost& host) {
    EXPECT_TRUE(coordinated_shutdown(join_rendezvous(host.context(), Backend::kGloo, {}), 1, milliseconds(0)));
  });
}

}  // namespace
