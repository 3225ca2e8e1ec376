// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "export/target.hpp"
#include "store/results.hpp"

/// Export of database content to the formats of other tools. Each function writes complete files or none. Throws
/// UsageError if the database does not contain the data (naming the pass that records it), and Error if a file cannot
/// be written. If `file` is "-", the output goes to standard output; if it is empty, to a file in the current folder
/// named after format, run and rank.
namespace kymo::exports {

/// An exported file.
struct Written {
  std::filesystem::path file;
  std::vector<std::string> notes;  ///< notes for readers of the file, one sentence each
};

/// Exports the trace, ops or memory pass as a trace for Perfetto, chrome://tracing and Holistic Trace Analysis, one
/// file per rank: kernels and copies by stream; phases, scopes and operators by thread; CUDA API calls with flow arrows
/// to the work they launched; memory as counters. Times are relative to the start of the run. Events are read page by
/// page, because a trace may not fit in memory.
std::vector<Written> export_perfetto(const store::ResultsDatabase& database, const Choice& choice,
                                     const std::filesystem::path& file);

/// Maximum number of entries of a snapshot: PyTorch's viewer hides additional entries.
inline constexpr std::size_t kMaxSnapshotEntries = 600'000;

/// Exports the memory pass as a PyTorch memory snapshot (a pickle of protocol 4) for PyTorch's viewer and
/// torch.cuda._memory_viz, one file per rank. GPU memory is device 0 and host memory the next device. If a device has
/// more than `max_entries` events, the last ones are kept.
std::vector<Written> export_memory_viz(const store::ResultsDatabase& database, const Choice& choice,
                                       const std::filesystem::path& file,
                                       std::size_t max_entries = kMaxSnapshotEntries);

/// A table or view, or a query; exactly one of them is set. `choice` filters tables that have the corresponding
/// columns.
struct CsvRequest {
  std::string query;
  std::string table;
  Choice choice;
};

/// Exports CSV (RFC 4180) with a header; text that a spreadsheet would interpret as a formula is prefixed with '.
/// Without a file, the output goes to standard output. Tables are read page by page.
Written export_csv(const store::ResultsDatabase& database, const CsvRequest& request,
                   const std::filesystem::path& file);

}  // namespace kymo::exports
