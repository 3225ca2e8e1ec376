// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "catalog/plugin_file.hpp"

namespace kymo::catalog {
namespace {

constexpr std::uint64_t kMaxNoteBytes = 1 << 20;  // notes are small; a larger size indicates damage
#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
#else
#error "unsupported machine: add its ELF machine id here"
#endif

/// A file that is read only at the requested ranges.
class Bytes {
 public:
  explicit Bytes(const std::filesystem::path& file)
      : file_(file), fd_(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat facts{};
    if (fd_ < 0 || fstat(fd_, &facts) != 0) {
      const int reason = errno;
      release();
      throw PluginRejected(file, std::string("cannot read it: ") + std::strerror(reason));
    }
    if (!S_ISREG(facts.st_mode)) {
      release();
      throw PluginRejected(file, "it is not a regular file");
    }
    size_ = static_cast<std::uint64_t>(facts.st_size);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { release(); }

  /// False if the range is not entirely inside the file.
  bool read(std::uint64_t offset, void* to, std::uint64_t count) const {
    if (offset > size_ || count > size_ - offset) return false;
    auto* at = static_cast<char*>(to);
    while (count > 0) {
      const ssize_t got = pread(fd_, at, count, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      offset += static_cast<std::uint64_t>(got);
      count -= static_cast<std::uint64_t>(got);
    }
    return true;
  }
  const std::filesystem::path& file() const { return file_; }

 private:
  void release() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  std::filesystem::path file_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

Elf64_Ehdr read_header(const Bytes& bytes) {
  Elf64_Ehdr header{};
  if (!bytes.read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    throw PluginRejected(bytes.file(), "it is not an ELF file; a plugin is a shared library (.so)");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != kMachine) {
    throw PluginRejected(bytes.file(), "it was built for a different machine architecture");
  }
  if (header.e_type != ET_DYN)
    throw PluginRejected(bytes.file(), "it is not a shared library; build it with kymo_add_plugin");
  if (header.e_phnum > 0 && header.e_phentsize != sizeof(Elf64_Phdr))
    throw PluginRejected(bytes.file(), "its ELF header is damaged");
  return header;
}

/// Finds the kymo note in one note segment. Sizes come from the file, so each is checked before use.
std::optional<std::vector<char>> find_in(const std::vector<char>& segment, std::uint64_t alignment) {
  const auto padded = [alignment](std::uint64_t size) { return (size + alignment - 1) / alignment * alignment; };
  std::uint64_t at = 0;
  while (at + sizeof(Elf64_Nhdr) <= segment.size()) {
    Elf64_Nhdr note{};
    std::memcpy(&note, segment.data() + at, sizeof note);
    const std::uint64_t name_at = at + sizeof note;
    const std::uint64_t content_at = at + padded(sizeof note + note.n_namesz);
    const std::uint64_t end = content_at + note.n_descsz;  // the sizes are 32-bit, so these sums cannot overflow
    if (end > segment.size()) return std::nullopt;
    const std::string_view name(segment.data() + name_at, note.n_namesz);
    if (note.n_type == KYMO_NOTE_TYPE && name == std::string_view(KYMO_NOTE_NAME, sizeof KYMO_NOTE_NAME)) {
      return std::vector<char>(segment.begin() + static_cast<std::ptrdiff_t>(content_at),
                               segment.begin() + static_cast<std::ptrdiff_t>(end));
    }
    at = content_at + padded(note.n_descsz);
  }
  return std::nullopt;
}

/// Text fields are zero-terminated and printable; anything else indicates damage and must not appear in messages.
template <std::size_t size>
bool is_clean(const char (&field)[size]) {
  if (!std::memchr(field, 0, size)) return false;
  for (const char c : std::string_view(field)) {
    if (c < 0x20 || c > 0x7e) return false;
  }
  return true;
}

kymo_note checked(const Bytes& bytes, const std::vector<char>& content) {
  kymo_note note{};
  if (content.size() < sizeof note) {
    throw PluginRejected(bytes.file(), "its kymo note is " + std::to_string(content.size()) + " bytes long, expected " +
                                           std::to_string(sizeof note) + " bytes");
  }
  std::memcpy(&note, content.data(), sizeof note);
  if (std::memcmp(note.magic, KYMO_NOTE_MAGIC, sizeof note.magic) != 0)
    throw PluginRejected(bytes.file(), "its kymo note has a wrong magic number");
  if (note.size < sizeof note || note.size > content.size())
    throw PluginRejected(bytes.file(), "its kymo note contains a wrong size");
  if (!is_clean(note.framework) || !is_clean(note.framework_version) || !is_clean(note.cuda_version) ||
      !is_clean(note.compiler) || !is_clean(note.cxx_abi)) {
    throw PluginRejected(bytes.file(), "its kymo note is damaged");
  }
  return note;
}

}  // namespace

kymo_note read_note(const std::filesystem::path& file) {
  const Bytes bytes(file);
  const Elf64_Ehdr header = read_header(bytes);
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    // An offset that wraps around refers outside the file or to bytes that are not a note; both are handled.
    if (!bytes.read(header.e_phoff + i * sizeof segment, &segment, sizeof segment))
      throw PluginRejected(file, "it is truncated");
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMaxNoteBytes) continue;
    std::vector<char> notes(segment.p_filesz);
    if (!bytes.read(segment.p_offset, notes.data(), notes.size())) throw PluginRejected(file, "it is truncated");
    if (const auto content = find_in(notes, segment.p_align == 8 ? 8 : 4)) return checked(bytes, *content);
  }
  throw PluginRejected(file, "it has no kymo note; build it with kymo_add_plugin and KYMO_EXPORT_WORKLOADS");
}

}  // namespace kymo::catalog
