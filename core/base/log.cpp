// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>

#include "base/text.hpp"

namespace kymo::log {
namespace {

spdlog::logger& logger() {
  static const auto instance = [] {
    const auto colour = std::getenv("NO_COLOR") ? spdlog::color_mode::never : spdlog::color_mode::automatic;
    auto made = std::make_shared<spdlog::logger>("kymo", std::make_shared<spdlog::sinks::stderr_color_sink_mt>(colour));
    made->set_pattern("kymo: %^%l%$: %v");
    return made;
  }();
  return *instance;
}

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

void set_level(Level level) { logger().set_level(to_spdlog(level)); }

void write(Level level, std::string_view message) { logger().log(to_spdlog(level), "{}", visible(message)); }

}  // namespace kymo::log
