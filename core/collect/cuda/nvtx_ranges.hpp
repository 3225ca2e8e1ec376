// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Phases and scopes for whoever listens by NVTX: Nsight Systems, Nsight Compute and the like.
namespace kymo::collect {

/// True if a tool has put itself into this process's environment.
bool nvtx_is_wanted();
/// Ranges nest on their thread.
void nvtx_begin(const char* name);
void nvtx_end();

}  // namespace kymo::collect
