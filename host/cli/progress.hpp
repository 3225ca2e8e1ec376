// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "supervisor/supervisor.hpp"

namespace kymo::cli {

/// One line: "[####......] 3/12 transformer_lm size=small | step 4/15 | 1 min 20 s left", cut to `columns` characters.
std::string progress_line(const supervisor::ProgressView& view, std::size_t columns);

/// Shows on stderr how far the runs are: a bar on a terminal, else one plain line per finished run.
class Progress {
 public:
  /// `finished_line(index)` describes the run that has just ended; it is asked only without a terminal.
  explicit Progress(std::function<std::string(std::size_t index)> finished_line);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const supervisor::ProgressView& view);
  /// Removes the bar, or writes the lines of the last runs.
  void finish(std::size_t runs_made);

 private:
  void report_finished(std::size_t before);

  std::function<std::string(std::size_t)> finished_line_;
  bool terminal_ = false;
  bool drawn_ = false;
  std::size_t reported_ = 0;  // runs that have their plain line
};

}  // namespace kymo::cli
