// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "export/target.hpp"
#include "store/results.hpp"

/// What the database holds, in the formats of other tools. Each function writes whole files or none, and throws
/// UsageError for what the database does not hold (naming the pass that would record it), Error for a file that cannot
/// be written. Where `file` is "-" it writes to standard output, and where it is empty to a file named after format,
/// run and rank in the current folder.
namespace kymo::exports {

/// What was written.
struct Written {
  std::filesystem::path file;
  std::vector<std::string> notes;  ///< what a reader of the file must know, a sentence each
};

/// A trace of the passes trace, ops or memory for Perfetto, chrome://tracing and Holistic Trace Analysis, a file per
/// rank: kernels and copies by stream, phases, scopes and operators by thread, calls into CUDA with arrows to what they
/// launched, memory as counters. Times are relative to the start of the run. Events are read page by page: a trace may
/// be larger than memory.
std::vector<Written> export_perfetto(const store::ResultsDatabase& database, const Choice& choice,
                                     const std::filesystem::path& file);

/// Most entries of a snapshot: PyTorch's viewer hides what goes beyond.
inline constexpr std::size_t kMostSnapshotEntries = 600'000;

/// The pass memory as a memory snapshot of PyTorch (a pickle of protocol 4), for its viewer and torch.cuda._memory_viz,
/// a file per rank: GPU memory is device 0 and the host's memory the next. If there are more than `most_entries` events
/// of a device, the last ones stay.
std::vector<Written> export_memory_viz(const store::ResultsDatabase& database, const Choice& choice,
                                       const std::filesystem::path& file,
                                       std::size_t most_entries = kMostSnapshotEntries);

/// A table or view, or what a query finds; exactly one of them is set. `choice` narrows a table that has the columns
/// for it.
struct CsvRequest {
  std::string query;
  std::string table;
  Choice choice;
};

/// CSV (RFC 4180) with a header; text that a spreadsheet would take for a formula is prefixed with '. Without a file to
/// standard output. Tables are read page by page.
Written export_csv(const store::ResultsDatabase& database, const CsvRequest& request,
                   const std::filesystem::path& file);

}  // namespace kymo::exports
