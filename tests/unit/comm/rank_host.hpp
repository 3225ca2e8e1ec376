// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kymo_plugin.h>

#include <atomic>
#include <cstdint>
#include <kymo/context.hpp>
#include <mutex>
#include <string>
#include <vector>

/// A reported call.
struct ReportedCall {
  std::uint32_t operation = 0;
  std::uint64_t bytes = 0;
  void* stream = nullptr;
  std::string communicator;
  std::uint64_t sequence = 0;
  int ends = 0;
};

/// A host for one rank of a run that records the reported collectives.
class RankHost {
 public:
  RankHost(int rank, int size, std::uint16_t port, std::int32_t device = KYMO_CPU) {
    placement_ = {sizeof placement_,    rank, size, rank, device, device == KYMO_CUDA ? rank : 0, "127.0.0.1",
                  size > 1 ? port : 0u, 0};
    host_.size = sizeof host_;
    host_.abi_major = KYMO_ABI_MAJOR;
    host_.abi_minor = KYMO_ABI_MINOR;
    host_.placement = [](kymo_context* ctx) -> const kymo_placement* { return &self(ctx).placement_; };
    host_.cancelled = [](kymo_context* ctx) -> std::int32_t { return self(ctx).cancelled ? 1 : 0; };
    host_.collective_begin = [](kymo_context* ctx, const kymo_collective* call) { return self(ctx).begin(*call); };
    host_.collective_end = [](kymo_context* ctx, std::uint64_t handle) { self(ctx).end(handle); };
  }
  RankHost(const RankHost&) = delete;
  RankHost& operator=(const RankHost&) = delete;

  kymo::Context context() { return {&host_, reinterpret_cast<kymo_context*>(this)}; }
  int rank() const { return placement_.rank; }
  int size() const { return placement_.world_size; }
  /// All ranks on the first GPU.
  void use_first_gpu() { placement_.device_index = 0; }
  /// Without the rendezvous calls that precede a communicator's own calls.
  std::vector<ReportedCall> calls() {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<ReportedCall> found;
    for (const ReportedCall& call : calls_)
      if (call.communicator.find(" rendezvous") == std::string::npos) found.push_back(call);
    return found;
  }

  std::atomic<bool> cancelled{false};

 private:
  static RankHost& self(kymo_context* ctx) { return *reinterpret_cast<RankHost*>(ctx); }

  std::uint64_t begin(const kymo_collective& call) {
    const std::lock_guard<std::mutex> lock(mutex_);
    calls_.push_back(
        {call.operation, call.bytes, call.stream, call.communicator ? call.communicator : "", call.sequence, 0});
    return calls_.size();
  }
  void end(std::uint64_t handle) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++calls_.at(handle - 1).ends;
  }

  kymo_placement placement_{};
  kymo_host host_{};
  std::mutex mutex_;
  std::vector<ReportedCall> calls_;
};
