// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kymo::log {

enum class Level { kDebug, kInfo, kWarning, kError };

/// Drops lines below this level. The default is kInfo.
void set_level(Level level);

/// Writes a line to stderr, in color only on a terminal. Any thread.
void write(Level level, std::string_view message);

inline void debug(std::string_view message) { write(Level::kDebug, message); }
inline void info(std::string_view message) { write(Level::kInfo, message); }
inline void warning(std::string_view message) { write(Level::kWarning, message); }
inline void error(std::string_view message) { write(Level::kError, message); }

}  // namespace kymo::log
