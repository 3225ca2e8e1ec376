// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kymo::terminal {

/// What a database knows about the position of a commit.
struct StoredCommit {
  std::string hash;
  std::string committed_at;          ///< ISO 8601, in UTC
  std::vector<std::string> parents;  ///< full hashes, also of commits that were not measured
};

/// Returns the indices of the commits in the order in which they follow each other: by time, but none before a parent
/// that is among them, because a rebase gives many commits the same time and clocks of machines differ. `known` are
/// hashes in the order of the repository; if it has all commits, that order is used. Equal times are ordered by hash.
std::vector<std::size_t> commit_order(const std::vector<StoredCommit>& commits,
                                      const std::vector<std::string>& known = {});

}  // namespace kymo::terminal
