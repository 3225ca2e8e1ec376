// SPDX-License-Identifier: Apache-2.0
#include "unit/comm/ranks.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <vector>

#include "base/tcp.hpp"

namespace {

[[noreturn]] void be_rank(int rank, int size, std::uint16_t port, std::int32_t device,
                          const std::function<void(RankHost&)>& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGPIPE, SIG_IGN);  // as in a worker
  RankHost host(rank, size, port, device);
  try {
    body(host);
  } catch (const std::exception& error) {
    ADD_FAILURE() << "rank " << rank << ": " << error.what();
  }
  std::fflush(nullptr);
  _exit(testing::Test::HasFailure() ? 1 : 0);
}

}  // namespace

void on_ranks(int size, const std::function<void(RankHost&)>& body, std::int32_t device) {
  const std::uint16_t port = kymo::free_port();
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (int rank = 0; rank < size; ++rank) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) be_rank(rank, size, port, device, body);
    children.push_back(child);
  }
  for (int rank = 0; rank < size; ++rank) {
    int status = 0;
    ASSERT_EQ(waitpid(children[static_cast<std::size_t>(rank)], &status, 0), children[static_cast<std::size_t>(rank)]);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "rank " << rank << " of " << size << " ended with status " << status;
  }
}
