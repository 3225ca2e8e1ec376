// SPDX-License-Identifier: Apache-2.0
#include "nccl_session.hpp"

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace kymo::comm {
namespace {

constexpr const char* kIdKey = "nccl id";

/// Rank 0 creates the unique id and shares it through the store.
ncclUniqueId share_id(const Context& ctx, const JoinedRendezvous& rendezvous, Clock::time_point end) {
  ncclUniqueId id{};
  if (ctx.rank() == 0) {
    if (const ncclResult_t result = ncclGetUniqueId(&id); result != ncclSuccess)
      throw std::runtime_error("NCCL initialization failed: " + to_string(result));
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&id);
    rendezvous.store->set(kIdKey, std::vector<std::uint8_t>(bytes, bytes + sizeof id));
    return id;
  }
  for (Backoff backoff; !rendezvous.store->check({kIdKey}); backoff.sleep(ctx, "NCCL on rank 0"))
    if (Clock::now() > end)
      throw std::runtime_error("timed out waiting for rank 0 to initialize NCCL for communicator '" + rendezvous.name +
                               "'");
  const std::vector<std::uint8_t> bytes = rendezvous.store->get(kIdKey);
  if (bytes.size() != sizeof id)
    throw std::runtime_error("rank 0 uses another version of NCCL: its unique id has a different size");
  std::memcpy(&id, bytes.data(), sizeof id);
  return id;
}

/// State of ncclCommInitRankConfig(), which runs on its own thread.
struct Joining {
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  bool abandoned = false;  ///< the constructor no longer waits
  ncclResult_t result = ncclSuccess;
  std::string error_text;
  ncclComm_t comm = nullptr;
};

void join_ranks(const std::shared_ptr<Joining>& joining, const ncclUniqueId& id, ncclConfig_t config, int rank,
                int size, int device) {
  ncclComm_t comm = nullptr;
  ncclResult_t result = cudaSetDevice(device) == cudaSuccess ? ncclCommInitRankConfig(&comm, size, id, rank, &config)
                                                             : ncclUnhandledCudaError;
  while (result == ncclInProgress) {  // NCCL_COMM_BLOCKING=0 overrides the setting
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (const ncclResult_t query = ncclCommGetAsyncError(comm, &result); query != ncclSuccess) result = query;
  }
  const std::string error_text = result == ncclSuccess ? "" : to_string(result);
  const std::lock_guard<std::mutex> lock(joining->mutex);
  if (joining->abandoned && comm && result == ncclSuccess) {
    ncclCommAbort(comm);
    comm = nullptr;
  }
  joining->result = result;
  joining->error_text = error_text;
  joining->comm = comm;
  joining->ended = true;
  joining->changed.notify_all();
}

}  // namespace

std::string to_string(ncclResult_t result) {
  const char* detail = ncclGetLastError(nullptr);
  const std::string last = detail ? first_line(detail) : "";
  return ncclGetErrorString(result) + (last.empty() ? "" : " (" + last + ")");
}

void check_cuda(cudaError_t result, const char* what) {
  if (result != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(result));
}

// A non-blocking communicator would provide timeouts, but with NCCL 2.28 each of its calls launches from a new thread,
// which is slow for small messages and prevents attributing the kernel to the calling thread. The communicator is
// therefore blocking, and only joining, which waits for other ranks, runs on a thread that can be abandoned when the
// deadline passes.
NcclSession::NcclSession(const Context& ctx, const JoinedRendezvous& rendezvous, const Options& options)
    : ctx_(ctx), rendezvous_(rendezvous), deadline_(options.deadline) {
  const Clock::time_point end = Clock::now() + deadline_;
  const ncclUniqueId id = share_id(ctx, rendezvous, end);
  const auto joining = std::make_shared<Joining>();
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  if (options.max_blocks > 0) config.maxCTAs = options.max_blocks;
  std::thread([joining, id, config, rank = ctx.rank(), size = ctx.world_size(), device = ctx.device_index()] {
    join_ranks(joining, id, config, rank, size, device);
  }).detach();

  std::unique_lock<std::mutex> lock(joining->mutex);
  while (!joining->changed.wait_for(lock, std::chrono::milliseconds(50), [&] { return joining->ended; })) {
    const bool late = Clock::now() > end;
    if (!late && !ctx.cancelled()) continue;
    joining->abandoned = true;
    throw std::runtime_error(
        "NCCL could not connect the ranks of communicator '" + rendezvous.name +
        "': " + (late ? "timed out after " + std::to_string(deadline_.count()) + " s" : "the run was cancelled"));
  }
  if (joining->result != ncclSuccess) {
    if (joining->comm) ncclCommAbort(joining->comm);
    throw std::runtime_error("NCCL could not connect the ranks of communicator '" + rendezvous.name + "' from rank " +
                             std::to_string(ctx.rank()) + ", GPU " + std::to_string(ctx.device_index()) + ": " +
                             joining->error_text);
  }
  comm_ = joining->comm;
}

void NcclSession::check() {
  health_.check();
  ncclResult_t state = ncclSuccess;
  const ncclResult_t query = ncclCommGetAsyncError(comm_, &state);
  if (query == ncclSuccess && (state == ncclSuccess || state == ncclInProgress)) return;
  fail("NCCL failed on rank " + std::to_string(ctx_.rank()) + ": " + to_string(query != ncclSuccess ? query : state));
  health_.check();
}

void NcclSession::accept(ncclResult_t result, const std::string& call) {
  if (result == ncclInProgress) result = settle();
  if (result == ncclSuccess) return;
  fail(call + " failed: " + to_string(result));
  health_.check();
}

ncclResult_t NcclSession::settle() {
  const Clock::time_point end = Clock::now() + deadline_;
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress) {
    if (const ncclResult_t query = ncclCommGetAsyncError(comm_, &state); query != ncclSuccess) return query;
    if (Clock::now() > end || ctx_.cancelled()) return state;
    std::this_thread::yield();
  }
  return state;
}

void NcclSession::fail(const std::string& why) noexcept {
  if (health_.failed()) return;
  try {
    health_.fail(why);
  } catch (...) {  // out of memory for the message; abort the communicator anyway
  }
  if (comm_) ncclCommAbort(comm_);
  comm_ = nullptr;
}

void NcclSession::close() noexcept {
  // ncclCommDestroy waits for the other ranks, and would block forever if one of them failed or hangs.
  constexpr std::chrono::seconds kCloseTimeout{1};
  if (health_.failed() || !comm_) return;
  const bool clean = coordinated_shutdown(rendezvous_, ctx_.world_size(), kCloseTimeout);
  try {
    health_.fail("the communicator was closed");
  } catch (...) {
  }
  clean ? ncclCommDestroy(comm_) : ncclCommAbort(comm_);
  comm_ = nullptr;
}

}  // namespace kymo::comm
