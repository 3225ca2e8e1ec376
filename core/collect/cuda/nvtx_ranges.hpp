// SPDX-License-Identifier: Apache-2.0
#pragma once

/// NVTX ranges of phases and scopes, for tools such as Nsight Systems and Nsight Compute.
namespace kymo::collect {

/// Returns true if a tool has set an injection path in the environment of this process.
bool nvtx_is_wanted();
/// Begins a range. Ranges nest per thread.
void nvtx_begin(const char* name);
void nvtx_end();

}  // namespace kymo::collect
