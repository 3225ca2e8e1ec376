// SPDX-License-Identifier: Apache-2.0
// The reader of the note in a plugin file: no input makes it read outside the file or return text that is not in it.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "catalog/plugin_file.hpp"
#include "fuzz/fuzz.hpp"
#include "unit/catalog/small_plugin.hpp"

namespace kymo::fuzz {
namespace {

/// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("plugin", MFD_CLOEXEC)) { append(bytes); }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  void append(std::string_view bytes) {
    require(write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "an input can be written");
  }
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

std::optional<kymo_note> note_of(const MemoryFile& file) {
  try {
    return catalog::read_note(file.path());
  } catch (const catalog::PluginRejected& rejected) {
    require(std::string_view(rejected.what()).find('\n') == std::string_view::npos, "a message is one line");
    return std::nullopt;
  }
}

template <std::size_t size>
void require_text(const char (&field)[size]) {
  const std::size_t length = strnlen(field, size);
  require(length < size, "a text field of the note is terminated");
  for (std::size_t i = 0; i < length; ++i) require(field[i] >= 0x20 && field[i] <= 0x7e, "the note is printable");
}

}  // namespace
}  // namespace kymo::fuzz

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  using namespace kymo::fuzz;
  const std::vector<std::string> seeds{kymo::catalog::test::small_plugin(4), kymo::catalog::test::small_plugin(8)};
  for (const std::string& seed : seeds) require(note_of(MemoryFile(seed)).has_value(), "a valid file is accepted");
  write_seeds(*count, *arguments, seeds);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kymo::fuzz;
  const std::string_view bytes = as_text(data, size);
  MemoryFile file(bytes);
  const auto note = note_of(file);
  if (!note) return 0;
  const std::string_view content(reinterpret_cast<const char*>(&*note), sizeof *note);
  require(bytes.find(content) != std::string_view::npos, "the note is part of the file");
  require(std::memcmp(note->magic, KYMO_NOTE_MAGIC, sizeof note->magic) == 0, "the note has its magic number");
  require(note->size >= sizeof *note, "the note is complete");
  require_text(note->framework);
  require_text(note->framework_version);
  require_text(note->cuda_version);
  require_text(note->compiler);
  require_text(note->cxx_abi);
  file.append("more content");
  const auto again = note_of(file);
  require(again && std::memcmp(&*again, &*note, sizeof *note) == 0, "content after the note does not change it");
  return 0;
}
