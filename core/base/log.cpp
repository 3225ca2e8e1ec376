// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace kymo::log {
namespace {

std::atomic<Level> lowest_level = Level::kInfo;

struct Label {
  std::string_view name;
  std::string_view color;  // control sequence of terminals (ECMA-48, SGR)
};

Label label_of(Level level) {
  switch (level) {
    case Level::kDebug:
      return {"debug", "\033[36m"};
    case Level::kInfo:
      return {"info", "\033[32m"};
    case Level::kWarning:
      return {"warning", "\033[1;33m"};
    case Level::kError:
      return {"error", "\033[1;31m"};
  }
  return {"info", ""};
}

bool has_colors() {
  const char* terminal = std::getenv("TERM");
  return std::getenv("NO_COLOR") == nullptr && terminal != nullptr && std::string_view(terminal) != "dumb" &&
         isatty(STDERR_FILENO) == 1;
}

}  // namespace

void set_level(Level level) { lowest_level = level; }

void write(Level level, std::string_view message) {
  if (level < lowest_level) return;
  static const bool colored = has_colors();
  const auto [name, color] = label_of(level);
  std::string line = "kymo: ";
  if (colored) line += color;
  line += name;
  if (colored) line += "\033[m";
  line.append(": ").append(visible(message)).append("\n");
  // One call, so that lines of several threads and processes do not mix.
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace kymo::log
