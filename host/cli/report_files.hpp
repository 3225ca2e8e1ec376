// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "report/document.hpp"
#include "store/results.hpp"

namespace kymo::cli {

/// Limits for files that are part of an HTML report.
inline constexpr std::int64_t kMaxEmbeddedEvents = 50'000;     ///< per pass of a run, all ranks together
inline constexpr std::int64_t kMaxEmbeddedBytes = 16'000'000;  ///< per file, before compression
inline constexpr std::int64_t kMaxEmbeddedTotal = 48'000'000;  ///< all files of a report, before compression

/// Makes the files that the HTML report offers to save: what `kymo export` writes for the passes of a chart, or the
/// command if that is more than the limits.
class ReportFiles {
 public:
  explicit ReportFiles(const store::ResultsDatabase& database) : database_(database) {}

  /// Perfetto traces for a timeline, memory snapshots for an area chart.
  std::vector<report::Attachment> operator()(const report::Chart& chart);

 private:
  void add_files(std::vector<report::Attachment>& files, const report::RecordedPass& pass, bool memory);

  const store::ResultsDatabase& database_;
  std::int64_t embedded_ = 0;
};

}  // namespace kymo::cli
