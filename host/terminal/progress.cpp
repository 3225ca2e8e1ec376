// SPDX-License-Identifier: Apache-2.0
#include "terminal/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/utf8.hpp"
#include "terminal/print.hpp"

namespace kymo::terminal {
namespace {

constexpr std::size_t kBarCells = 20;

std::string time_left(double seconds) {
  const auto whole = static_cast<long long>(seconds + 0.5);
  if (whole >= 3600) return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min left";
  if (whole >= 60) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s left";
  return std::to_string(whole) + " s left";
}

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string progress_line(const supervisor::ProgressView& view, std::size_t columns) {
  const double within = view.steps > 0 && view.step >= 0
                            ? std::min(1.0, static_cast<double>(view.step) / static_cast<double>(view.steps))
                            : 0;
  const double done = view.share_done >= 0 ? view.share_done
                      : view.run_count == 0
                          ? 0
                          : (static_cast<double>(view.run_index) + within) / static_cast<double>(view.run_count);
  const auto cells = std::min(kBarCells, static_cast<std::size_t>(done * kBarCells));
  std::string line = "[" + std::string(cells, '#') + std::string(kBarCells - cells, '.') + "] " +
                     (view.run_count == 0 ? "run " : "") + std::to_string(view.run_index + 1) +
                     (view.run_count == 0 ? "" : "/" + std::to_string(view.run_count)) + " " + visible(view.title);
  if (!view.stage.empty()) line += " | " + visible(view.stage);
  if (view.step >= 0)
    line += " " + std::to_string(view.step + 1) + (view.steps > 0 ? "/" + std::to_string(view.steps) : "");
  if (view.seconds_left >= 0) line += (view.may_end_earlier ? " | at most " : " | ") + time_left(view.seconds_left);
  return std::string(utf8_prefix(line, columns - 1));
}

Progress::Progress(std::function<std::string(std::size_t)> finished_line)
    : finished_line_(std::move(finished_line)), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void Progress::show(const supervisor::ProgressView& view) {
  if (!terminal_) return report_finished(view.run_index);
  drawn_ = true;
  std::fprintf(stderr, "\r%s\033[K", progress_line(view, terminal_columns()).c_str());
  std::fflush(stderr);
}

void Progress::report_finished(std::size_t before) {
  for (; reported_ < before; ++reported_) std::fprintf(stderr, "%s\n", finished_line_(reported_).c_str());
}

void Progress::finish(std::size_t runs_made) {
  if (!terminal_) report_finished(runs_made);
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

}  // namespace kymo::terminal
