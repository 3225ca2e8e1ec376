// SPDX-License-Identifier: Apache-2.0
// The journal of a process that was killed: whatever its files contain, what is read needs at most a few times their
// memory, and each step ends after it began. Most inputs get valid checksums, so that the contents of blocks are tried.
#include <cstdlib>
#include <cstring>

#include "base/error.hpp"
#include "base/file.hpp"
#include "fuzz/fuzz.hpp"
#include "store/journal_reader.hpp"
#include "unit/store/journal_fixture.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace kymo::fuzz {
namespace {

using namespace kymo::store;
namespace fs = std::filesystem;

/// A journal with one of its files replaced.
class Journal {
 public:
  Journal() : folder_(make_private_folder("kymo-fuzz")) {
    testing::write_journal(folder_ / "RUN-1-0-ops.kymo");
    steps_ = used(read_file(steps_file()));
    events_ = used(read_file(events_file()));
  }
  ~Journal() { fs::remove_all(folder_); }
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// The first byte of an input chooses the file that the rest replaces.
  std::vector<std::string> seeds() const { return {std::string(1, '\0') + steps_, std::string(1, '\1') + events_}; }

  void read(std::string_view input) const {
    if (input.empty()) return;
    const bool are_events = (input[0] & 1) == 1;
    write_bytes(steps_file(), are_events ? std::string_view(steps_) : input.substr(1));
    write_bytes(events_file(), are_events ? input.substr(1) : std::string_view(events_));
    const JournalContent journal = read_journal(steps_file());
    for (const event::Sample& sample : journal.record.samples) {
      require(sample.host_ns >= 0 && sample.start_ns >= 0, "a sample has a time in the run");
    }
    const std::size_t bytes = input.size() + steps_.size() + events_.size();
    const event::Trace& trace = journal.record.trace;
    require(trace.ranges.size() + trace.operators.size() + trace.collectives.size() <= bytes,
            "there are no more events than bytes");
  }

 private:
  static std::string used(const std::string& file) {
    const auto [at, head] = testing::blocks_of(file).back();
    return file.substr(0, at + kBlockHeadBytes + padded(head.bytes));
  }
  fs::path steps_file() const { return folder_ / "RUN-1-0-ops.kymo.steps"; }
  fs::path events_file() const { return folder_ / "RUN-1-0-ops.kymo.steps.events"; }

  fs::path folder_;
  std::string steps_, events_;
};

const Journal& journal() {
  static const Journal made;
  return made;
}

/// Sets the checksums of the blocks of an input.
void seal(std::uint8_t* data, std::size_t size) {
  std::string file(as_text(data + 1, size - 1));
  for (const auto& [at, head] : testing::blocks_of(file)) {
    if (head.bytes > file.size() - at - kBlockHeadBytes) break;
    testing::seal(file, at);
  }
  file.copy(reinterpret_cast<char*>(data + 1), size - 1);
}

}  // namespace
}  // namespace kymo::fuzz

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  if (std::filesystem::is_directory("/dev/shm")) setenv("TMPDIR", "/dev/shm", 0);  // in memory
  kymo::fuzz::write_seeds(*count, *arguments, kymo::fuzz::journal().seeds());
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  const std::size_t changed = LLVMFuzzerMutate(data, size, max_size);
  if (seed % 8 != 0 && changed > 1) kymo::fuzz::seal(data, changed);
  return changed;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kymo::fuzz::journal().read(kymo::fuzz::as_text(data, size));
  return 0;
}
