// SPDX-License-Identifier: Apache-2.0
// Coordinated shutdown: ranks that end together or not. All must get the same answer, because destroying a communicator
// waits for the other ranks.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "meeting.hpp"
#include "unit/comm/ranks.hpp"

namespace {

using kymo::comm::Backend;
using kymo::comm::meet;
using kymo::comm::part_together;
using std::chrono::milliseconds;
using Seconds = std::chrono::duration<double>;

/// Rank 0 serves the store until the others have queried it.
void stay(const RankHost& host) {
  if (host.rank() == 0) std::this_thread::sleep_for(std::chrono::seconds(3));
}

TEST(Parting, IsTogetherWhenAllCome) {
  on_ranks(3, [](RankHost& host) {
    const auto meeting = meet(host.context(), Backend::kGloo, {});
    std::this_thread::sleep_for(milliseconds(100 * host.rank()));
    EXPECT_TRUE(part_together(meeting, 3, std::chrono::seconds(30)));
    stay(host);
  });
}

TEST(Parting, IsNotTogetherForAnyWhereOneIsMissing) {
  on_ranks(3, [](RankHost& host) {
    const auto meeting = meet(host.context(), Backend::kGloo, {});
    const auto start = std::chrono::steady_clock::now();
    if (host.rank() != 1) {
      EXPECT_FALSE(part_together(meeting, 3, milliseconds(300)));
      EXPECT_LT(Seconds(std::chrono::steady_clock::now() - start).count(), 10);
    }
    stay(host);
  });
}

TEST(Parting, IsNotTogetherForOneThatComesTooLate) {
  on_ranks(2, [](RankHost& host) {
    const auto meeting = meet(host.context(), Backend::kGloo, {});
    if (host.rank() == 1) std::this_thread::sleep_for(milliseconds(1500));
    EXPECT_FALSE(part_together(meeting, 2, milliseconds(100)));
    stay(host);
  });
}

TEST(Parting, IsNotTogetherWithoutTheStore) {
  on_ranks(2, [](RankHost& host) {
    const auto meeting = meet(host.context(), Backend::kGloo, {});
    // Rank 0 destroys the store that the other rank still uses for its rendezvous.
    if (host.rank() == 0) return meeting.store->wait({"met"});
    meeting.store->set("met", std::string("yes"));
    std::this_thread::sleep_for(milliseconds(1500));
    EXPECT_FALSE(part_together(meeting, 2, milliseconds(100)));
  });
}

TEST(Parting, OfOneRankIsAlwaysTogether) {
  on_ranks(1, [](RankHost& host) {
    EXPECT_TRUE(part_together(meet(host.context(), Backend::kGloo, {}), 1, milliseconds(0)));
  });
}

}  // namespace
