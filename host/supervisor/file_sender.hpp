// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <utility>

#include "supervisor/follower_protocol.hpp"
#include "supervisor/framed_link.hpp"

namespace kymo::supervisor {

/// Sends files over a link one after the other in pieces, so that a large file needs little memory.
class FileSender {
 public:
  explicit FileSender(FramedLink& link);

  /// Announces the file together with the pass's output, sends its content, and removes it. A missing file is announced
  /// as missing.
  void send(follower_protocol::WorkerOutput output, const std::filesystem::path& file);

 private:
  void pump();
  void begin_next();

  FramedLink& link_;
  std::deque<std::pair<follower_protocol::WorkerOutput, std::filesystem::path>> queue_;
  std::ifstream stream_;
  std::int64_t missing_bytes_ = 0;  ///< remaining bytes of the current file
  std::filesystem::path sending_;
  std::int64_t worker_ = 0;  ///< whose file it is
};

}  // namespace kymo::supervisor
