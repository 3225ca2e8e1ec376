// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kymo::cli {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// Facts about this machine stored with an invocation: host, cpu, cores, memory_bytes, kernel, os, driver, torch, cuda,
/// kymo, and the environment variables that affect results. Unavailable facts are omitted.
Facts machine_facts();

}  // namespace kymo::cli
