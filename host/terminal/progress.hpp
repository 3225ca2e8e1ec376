// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "supervisor/supervisor.hpp"

namespace kymo::terminal {

/// One line: "[####......] 3/12 transformer_lm size=small | step 4/15 | 1 min 20 s left", truncated to `columns`
/// characters.
std::string progress_line(const supervisor::ProgressView& view, std::size_t columns);

/// Shows progress on stderr: a bar on a terminal, otherwise one plain line per finished run.
class Progress {
 public:
  /// `finished_line(index)` describes the run that just finished; it is called only if stderr is not a terminal.
  explicit Progress(std::function<std::string(std::size_t index)> finished_line);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const supervisor::ProgressView& view);
  /// Removes the bar, or writes the lines of the remaining finished runs.
  void finish(std::size_t runs_made);

 private:
  void report_finished(std::size_t before);

  std::function<std::string(std::size_t)> finished_line_;
  bool terminal_ = false;
  bool drawn_ = false;
  std::size_t reported_ = 0;  // runs whose line has been printed
};

}  // namespace kymo::terminal
