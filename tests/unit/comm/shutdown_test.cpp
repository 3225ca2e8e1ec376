// SPDX-License-Identifier: Apache-2.0
// Coordinated shutdown: ranks that end together or not. All must get the same answer, because destroying a communicator
// waits for the other ranks.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "rendezvous.hpp"
#include "unit/comm/ranks.hpp"
#include "unit/hang.hpp"

namespace {

using kymo::comm::Backend;
using kymo::comm::coordinated_shutdown;
using kymo::comm::join_rendezvous;
using std::chrono::milliseconds;
using Seconds = std::chrono::duration<double>;

/// Rank 0 serves the store until the others have queried it.
void stay(const RankHost& host) {
  if (host.rank() == 0) std::this_thread::sleep_for(std::chrono::seconds(3));
}

TEST(CoordinatedShutdown, SucceedsWhenAllJoin) {
  on_ranks(3, [](RankHost& host) {
    const auto rendezvous = join_rendezvous(host.context(), Backend::kGloo, {});
    std::this_thread::sleep_for(milliseconds(100 * host.rank()));
    EXPECT_TRUE(coordinated_shutdown(rendezvous, 3, kymo::kHang));
    stay(host);
  });
}

TEST(CoordinatedShutdown, FailsForAllWhenOneIsMissing) {
  on_ranks(3, [](RankHost& host) {
    const auto rendezvous = join_rendezvous(host.context(), Backend::kGloo, {});
    const auto start = std::chrono::steady_clock::now();
    if (host.rank() != 1) {
      EXPECT_FALSE(coordinated_shutdown(rendezvous, 3, milliseconds(300)));
      EXPECT_LT(Seconds(std::chrono::steady_clock::now() - start).count(), kymo::kHang_s);
    }
    stay(host);
  });
}

TEST(CoordinatedShutdown, FailsForOneThatComesTooLate) {
  on_ranks(2, [](RankHost& host) {
    const auto rendezvous = join_rendezvous(host.context(), Backend::kGloo, {});
    if (host.rank() == 1) std::this_thread::sleep_for(milliseconds(1500));
    EXPECT_FALSE(coordinated_shutdown(rendezvous, 2, milliseconds(100)));
    stay(host);
  });
}

TEST(CoordinatedShutdown, FailsWithoutTheStore) {
  on_ranks(2, [](RankHost& host) {
    const auto rendezvous = join_rendezvous(host.context(), Backend::kGloo, {});
    // Rank 0 destroys the store that the other rank still uses for its rendezvous.
    if (host.rank() == 0) return rendezvous.store->wait({"met"});
    rendezvous.store->set("met", std::string("yes"));
    std::this_thread::sleep_for(milliseconds(1500));
    EXPECT_FALSE(coordinated_shutdown(rendezvous, 2, milliseconds(100)));
  });
}

TEST(CoordinatedShutdown, OfOneRankAlwaysSucceeds) {
  on_ranks(1, [](RankHost& host) {
    EXPECT_TRUE(coordinated_shutdown(join_rendezvous(host.context(), Backend::kGloo, {}), 1, milliseconds(0)));
  });
}

}  // namespace
