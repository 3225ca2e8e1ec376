// SPDX-License-Identifier: Apache-2.0
#include "supervisor/file_sender.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"

namespace kymo::supervisor {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kPieceBytes = 1u << 20;
constexpr std::size_t kMaxWaitingBytes = 4 * kPieceBytes;

}  // namespace

FileSender::FileSender(FramedLink& link) : link_(link) {
  link_.on_drained([this] { pump(); });
}

void FileSender::send(follower_protocol::WorkerOutput output, const fs::path& file) {
  queue_.emplace_back(std::move(output), file);
  pump();
}

void FileSender::begin_next() {
  auto [output, file] = std::move(queue_.front());
  queue_.pop_front();
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  stream_ = std::ifstream(file, std::ios::binary);
  output.file_bytes = failed || !stream_ ? -1 : static_cast<std::int64_t>(size);
  missing_bytes_ = std::max<std::int64_t>(output.file_bytes, 0);
  sending_ = file;
  worker_ = output.worker;
  link_.send(output);
}

void FileSender::pump() {
  while (link_.open() && link_.waiting_bytes() < kMaxWaitingBytes) {
    if (missing_bytes_ == 0) {
      if (queue_.empty()) return;
      begin_next();
    } else {
      std::string piece(std::min<std::size_t>(kPieceBytes, static_cast<std::size_t>(missing_bytes_)), '\0');
      if (!stream_.read(piece.data(), static_cast<std::streamsize>(piece.size())))
        throw Error("the rank file " + quote(sending_.string()) + " cannot be read to its end");
      missing_bytes_ -= static_cast<std::int64_t>(piece.size());
      link_.send(follower_protocol::FilePart{worker_, ""}, piece);
    }
    if (missing_bytes_ > 0) continue;
    std::error_code ignored;
    stream_.close();
    fs::remove(sending_, ignored);
  }
}

}  // namespace kymo::supervisor
