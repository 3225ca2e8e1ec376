// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/graph_hold.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <optional>
#include <stdexcept>

namespace kymo::collect {
namespace {

/// The stream of a graph launch, or nothing for calls whose parameters this build does not know.
std::optional<cudaStream_t> stream_of(CUpti_CallbackId call, const void* params) {
  // A null stream is the default stream of the variant that was called.
  switch (call) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch: {
      const CUstream stream = static_cast<const cuGraphLaunch_params*>(params)->hStream;
      return stream ? stream : CU_STREAM_LEGACY;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz: {
      const CUstream stream = static_cast<const cuGraphLaunch_ptsz_params*>(params)->hStream;
      return stream ? stream : CU_STREAM_PER_THREAD;
    }
    default:
      return std::nullopt;
  }
}

/// A graph that is launched while its stream is captured becomes part of another graph and is not executed.
bool is_executed(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusNone;
}

}  // namespace

void GraphHold::begin_launch(CUpti_CallbackId call, const void* params) noexcept {
  if (!usable_) return;
  const std::optional<cudaStream_t> stream = stream_of(call, params);
  if (!stream || !is_executed(*stream)) return;
  std::thread::id nobody;
  if (!holder_.compare_exchange_strong(nobody, std::this_thread::get_id())) return;
  try {
    hold_.block(*stream);
  } catch (const std::runtime_error&) {  // this stream cannot wait; its graph begins at once, as without kymo
    usable_ = false;
    holder_ = std::thread::id();
  }
}

void GraphHold::end_launch() noexcept {
  if (holder_ != std::this_thread::get_id()) return;
  if (!hold_.release()) usable_ = false;
  holder_ = std::thread::id();
}

}  // namespace kymo::collect
