// SPDX-License-Identifier: Apache-2.0
#include "supervisor/remote_process.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "supervisor/scratch.hpp"

namespace kymo::supervisor {
namespace fs = std::filesystem;
namespace messages = follower_protocol;

namespace {

constexpr double kStallTimeout_s = 60;  ///< a transfer without data for this long is abandoned

}  // namespace

struct RemoteProcess::Transfer {
  fs::path file;
  fs::path part() const { return file.string() + ".part"; }
  std::ofstream stream;
  std::int64_t missing_bytes = -1;  ///< -1: not announced yet
  std::int64_t moved = 0;           ///< counts received messages, to detect a stalled transfer
  std::int64_t moved_before = -1;
  double moved_s = 0;
};

RemoteProcess::RemoteProcess(FollowerHub& hub, int rank, std::size_t plan_index, const std::string& token)
    : hub_(hub), rank_(rank), plan_index_(plan_index), worker_(0) {
  if (const std::string reason = hub.lost(rank); !reason.empty())
    throw Error("rank " + std::to_string(rank) + " is lost: " + reason);
  worker_ = hub.attach(*this);
  hub_.send(rank_, messages::Start{worker_, plan_index, token});
}

RemoteProcess::~RemoteProcess() {
  hub_.send(rank_, messages::WorkerRequest{"forget", worker_});
  hub_.detach(worker_);
}

void RemoteProcess::localize(measure::protocol::Assignment& assignment) const {
  const messages::Plan& plan = hub_.plan_of_rank(rank_);
  assignment.local_rank = plan.local_rank;
  assignment.device_index = plan.gpu;
  assignment.what.plugin_file = plan.plugins.at(plan.plugin_of_run.at(plan_index_)).file;
  assignment.rank_file = (fs::path(plan.folder) / rank_file_name(assignment.run_id, rank_, assignment.pass)).string();
}

void RemoteProcess::begin_pass(std::int64_t run_id, measure::Pass pass) {
  memory_.reset();
  hub_.send(rank_, messages::Begin{worker_, run_id, pass});
}

void RemoteProcess::announce(pid_t pid) {
  pid_ = pid;
  hub_.send(rank_, messages::Announce{worker_, pid});
}

std::string RemoteProcess::host() const { return hub_.host_of_rank(rank_); }

void RemoteProcess::kill() {
  if (!end_) hub_.send(rank_, messages::WorkerRequest{"kill", worker_});
}

std::optional<WorkerEnd> RemoteProcess::poll_end() {
  end_seen_ = end_.has_value();
  return end_;
}

std::optional<RankProcess::MemoryUse> RemoteProcess::memory_use(std::int64_t) {
  return std::exchange(memory_, std::nullopt);
}

void RemoteProcess::collect(const fs::path& rank_file) {
  if (!hub_.lost(rank_).empty()) return;
  transfer_ = std::make_unique<Transfer>();
  transfer_->file = rank_file;
  hub_.send(rank_, messages::WorkerRequest{"collect", worker_});
}

bool RemoteProcess::collected(double now_s) {
  if (!transfer_) return true;
  if (transfer_->moved != transfer_->moved_before) {
    transfer_->moved_before = transfer_->moved;
    transfer_->moved_s = now_s;
  } else if (now_s - transfer_->moved_s > kStallTimeout_s) {
    give_up("no data for " + std::to_string(static_cast<int>(kStallTimeout_s)) + " s");
  }
  return !transfer_;
}

ProcessOutput RemoteProcess::take_output() { return std::exchange(output_, {}); }

void RemoteProcess::ended(const messages::Ended& message) {
  if (end_) return;
  end_ = message.end;
  memory_ = MemoryUse{message.peak_bytes, std::nullopt};
}

void RemoteProcess::memory(const messages::Memory& message) { memory_ = message.use; }

void RemoteProcess::output(const messages::WorkerOutput& message) {
  if (!transfer_ || transfer_->missing_bytes >= 0) throw Error("received a file that was not requested");
  output_ = {message.stdout_text, message.stderr_text};
  ++transfer_->moved;
  transfer_->missing_bytes = message.file_bytes;
  if (message.file_bytes < 0) return transfer_.reset();
  transfer_->stream.open(transfer_->part(), std::ios::binary | std::ios::trunc);
  if (!transfer_->stream)
    return give_up("cannot write " + quote(transfer_->part().string()) + ": " + std::strerror(errno));
  if (message.file_bytes == 0) complete();
}

void RemoteProcess::received(const messages::FilePart& part) {
  if (!transfer_ || transfer_->missing_bytes < 0) return;  // of an abandoned transfer
  const auto bytes = static_cast<std::int64_t>(part.payload.size());
  if (bytes > transfer_->missing_bytes) throw Error("received more bytes than announced");
  ++transfer_->moved;
  transfer_->missing_bytes -= bytes;
  transfer_->stream.write(part.payload.data(), bytes);
  if (!transfer_->stream)
    return give_up("cannot write " + quote(transfer_->part().string()) + ": " + std::strerror(errno));
  if (transfer_->missing_bytes == 0) complete();
}

void RemoteProcess::complete() {
  transfer_->stream.close();
  std::error_code failed;
  fs::rename(transfer_->part(), transfer_->file, failed);
  if (!transfer_->stream || failed) return give_up("cannot write " + quote(transfer_->file.string()));
  transfer_.reset();
}

void RemoteProcess::lost(const std::string& reason) {
  if (!end_) end_ = WorkerEnd{{}, false, "", reason};
  end_->lost = reason;
  if (transfer_) give_up(reason);
}

void RemoteProcess::give_up(const std::string& reason) {
  log::error("the rank file of rank " + std::to_string(rank_) + " was not received: " + reason);
  std::error_code ignored;
  fs::remove(transfer_->part(), ignored);
  transfer_.reset();
}

}  // namespace kymo::supervisor
