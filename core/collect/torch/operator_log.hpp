// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "collect/collector.hpp"

namespace kymo::collect {

/// What a pass wants of LibTorch's operator calls.
enum class OperatorDetail {
  kNames,  ///< only which calls are open, numbered; nothing is kept of those that ended
  kRows,   ///< each call as an event::Operator, within setting.how.memory_bytes
};

/// Watches all operator calls of the process and all that the autograd engine does about a backward node (its hooks and
/// what adds up gradients included), on all threads, through one global callback of LibTorch. LibTorch calls plain
/// functions, so what they write to belongs to the process; one watch at a time. `setting.standpoint` must be set.
/// Throws std::logic_error if a watch is on.
void watch_operators(const PassSetting& setting, OperatorDetail detail);

/// Touches memory that the next calls will be kept in. By the thread that begins and ends watches, outside timed
/// stretches.
void warm_operators() noexcept;

/// Ends the watch, removes the callback and moves the calls into record.trace.operators, by number; those still open
/// have no end. What went beyond the bound is a loss under the name of `source`. Without a watch it does nothing.
void end_operators(event::PassRecord& record, const char* source);

/// Number of the innermost call that is open on this thread; -1 if there is none, if it is one that could not be kept,
/// or without a watch.
std::int64_t open_operator() noexcept;

/// Its name, valid until it ends.
std::string_view open_operator_name() noexcept;

}  // namespace kymo::collect
