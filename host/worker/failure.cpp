// SPDX-License-Identifier: Apache-2.0
#include "worker/failure.hpp"

#include <charconv>
#include <cstring>
#include <new>
#include <string_view>
#include <typeinfo>

#include "base/machine.hpp"
#include "base/utf8.hpp"

namespace kymo::worker {
namespace {

constexpr std::size_t kMaxDetailBytes = 600;

/// LibTorch's host allocator reports out of memory only through this text; it has no exception type of its own.
constexpr std::string_view kTorchHostAllocator = "DefaultCPUAllocator";
constexpr std::string_view kTorchHostRequest = "you tried to allocate ";
constexpr std::string_view kStandardAllocator = "std::bad_alloc";

bool is_host_allocation_failure(std::string_view message) {
  const bool torch =
      message.find(kTorchHostAllocator) != message.npos && message.find(kTorchHostRequest) != message.npos;
  return torch || message.find(kStandardAllocator) != message.npos;
}

std::optional<std::int64_t> requested_bytes(std::string_view message) {
  const std::size_t position = message.find(kTorchHostRequest);
  if (position == message.npos) return std::nullopt;
  std::int64_t bytes = 0;
  const char* end = message.data() + message.size();
  const auto [stop, error] = std::from_chars(message.data() + position + kTorchHostRequest.size(), end, bytes);
  return error == std::errc() ? std::optional<std::int64_t>(bytes) : std::nullopt;
}

event::OutOfMemory out_of_memory_info(const std::string& message, measure::DeviceKind device) {
  event::OutOfMemory oom;
  if (device == measure::DeviceKind::kCuda && !is_host_allocation_failure(message)) {
    oom.where = "device";  // sizes are added by the collectors
    return oom;
  }
  oom.where = "host";
  oom.requested_bytes = requested_bytes(message);
  oom.free_bytes = available_host_bytes();
  oom.peak_bytes = peak_resident_bytes();
  return oom;
}

}  // namespace

std::string first_line(std::string_view message) {
  return one_line(message.substr(0, message.find_first_of("\r\n")), kMaxDetailBytes);
}

kymo_status status_of(const std::exception& error) {
  // Compared by name: LibTorch's type is not available here, and the plugin may use another copy of it.
  const bool device = std::strstr(typeid(error).name(), "OutOfMemoryError") != nullptr;
  return device || dynamic_cast<const std::bad_alloc*>(&error) ? KYMO_OUT_OF_MEMORY : KYMO_FAILED;
}

measure::Outcome classify(kymo_status returned, const Reported& reported, measure::DeviceKind device) {
  using measure::RunStatus;
  const std::string message = first_line(reported.message);
  if (returned == KYMO_OK) return {};
  if (returned == KYMO_SKIPPED) {
    return {RunStatus::kSkipped,
            reported.skip_reason.empty() ? "the workload skipped without a reason" : first_line(reported.skip_reason)};
  }
  if (returned == KYMO_OUT_OF_MEMORY || (returned == KYMO_FAILED && is_host_allocation_failure(reported.message))) {
    return {.status = RunStatus::kOom,
            .detail = message.empty() ? "out of memory" : message,
            .out_of_memory = out_of_memory_info(reported.message, device)};
  }
  if (returned != KYMO_FAILED)
    return {RunStatus::kFailed, "the workload returned the unknown status " + std::to_string(returned)};
  return {RunStatus::kFailed, message.empty() ? "the workload failed without a message" : message};
}

}  // namespace kymo::worker
