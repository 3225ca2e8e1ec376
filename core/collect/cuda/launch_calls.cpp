// SPDX-License-Identifier: Apache-2.0
#include "collect/cuda/launch_calls.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace kymo::collect {
namespace {

using event::LaunchKind;

// Since CUPTI 13.2; the headers of this build may be older.
constexpr std::uint32_t kCupti132 = 130200;
constexpr CUpti_CallbackId kGraphLaunchWithArguments = 819;
constexpr CUpti_CallbackId kMemcpyWithAttributesAsync = 837;
constexpr CUpti_CallbackId kMemcpyWithAttributesAsyncPtsz = 838;
constexpr CUpti_CallbackId kMemcpy3DWithAttributesAsync = 839;
constexpr CUpti_CallbackId kMemcpy3DWithAttributesAsyncPtsz = 840;

// For calls with several versions, the one that current runtimes and headers use, for both default stream modes.
constexpr LaunchCall kCalls[] = {
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, LaunchKind::kKernel},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, LaunchKind::kKernel},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, LaunchKind::kKernel},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, LaunchKind::kKernel},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernelMultiDevice, LaunchKind::kKernel},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, LaunchKind::kKernel},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, LaunchKind::kKernel},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, LaunchKind::kGraph},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, LaunchKind::kGraph},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoH_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoHAsync_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoD_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoA_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoA_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2D_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DUnaligned_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3D_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoA_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoAAsync_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeer, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DPeer, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DPeerAsync, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoAAsync_v2_ptsz, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyAtoHAsync_v2_ptsz, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2_ptsz, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2_ptsz, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync_ptsz, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DPeerAsync_ptsz, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_ptsz, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync_ptsz, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2_ptsz, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync_v2, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DBatchAsync_v2_ptsz, LaunchKind::kMemcpy},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8Async, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16Async, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32Async, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16_v2, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8_v2, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16_v2, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32_v2, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2_ptds, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16_v2_ptds, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32_v2_ptds, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8_v2_ptds, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16_v2_ptds, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32_v2_ptds, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async_ptsz, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8Async_ptsz, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D16Async_ptsz, LaunchKind::kMemset},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32Async_ptsz, LaunchKind::kMemset},
    {kGraphLaunchWithArguments, LaunchKind::kGraph, kCupti132},
    {kMemcpyWithAttributesAsync, LaunchKind::kMemcpy, kCupti132},
    {kMemcpyWithAttributesAsyncPtsz, LaunchKind::kMemcpy, kCupti132},
    {kMemcpy3DWithAttributesAsync, LaunchKind::kMemcpy, kCupti132},
    {kMemcpy3DWithAttributesAsyncPtsz, LaunchKind::kMemcpy, kCupti132},
};
constexpr CUpti_CallbackId kLastCall = std::ranges::max_element(kCalls, {}, &LaunchCall::call)->call;

constexpr std::array<LaunchKind, kLastCall + 1> kinds_by_call() {
  std::array<LaunchKind, kLastCall + 1> kinds{};
  for (const LaunchCall& each : kCalls) kinds[each.call] = each.kind;
  return kinds;
}
constexpr auto kKindByCall = kinds_by_call();

}  // namespace

std::vector<LaunchCall> launch_calls(std::uint32_t cupti_version) {
  std::vector<LaunchCall> calls;
  std::ranges::copy_if(kCalls, std::back_inserter(calls),
                       [=](const LaunchCall& each) { return each.cupti_version <= cupti_version; });
  return calls;
}

LaunchKind kind_of_launch(CUpti_CallbackId call) noexcept {
  return call < kKindByCall.size() ? kKindByCall[call] : LaunchKind::kKernel;
}

}  // namespace kymo::collect
