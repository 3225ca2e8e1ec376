// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

/// Files below /proc, read between two steps: only their first bytes, without streams.
namespace kymo::worker {

/// The first bytes of a file, or an empty string.
std::string begin_of(const std::filesystem::path& file);

/// Calls visit(id, text) for each thread of this process with the first bytes of its file `proc`/self/task/ID/`name`,
/// which are empty if the thread ended or there is no such file.
void for_each_thread(const std::filesystem::path& proc, const std::string& name,
                     const std::function<void(std::int64_t, const std::string&)>& visit);

}  // namespace kymo::worker
