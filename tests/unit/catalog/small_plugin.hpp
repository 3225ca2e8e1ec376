// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <elf.h>
#include <kymo_note.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace kymo::catalog::test {

template <typename Part>
inline void append_bytes(std::string& bytes, const Part& part) {
  bytes.append(reinterpret_cast<const char*>(&part), sizeof part);
}

/// The headers of a shared library and its notes, of which the second is the kymo note. `alignment` of the notes: 4
/// or 8.
inline std::string small_plugin(std::uint64_t alignment) {
  const auto pad = [&](std::string& notes) { notes.resize((notes.size() + alignment - 1) / alignment * alignment); };
  const auto append_note = [&](std::string& notes, std::string_view name, Elf64_Word type, std::string_view content) {
    append_bytes(notes,
                 Elf64_Nhdr{static_cast<Elf64_Word>(name.size()), static_cast<Elf64_Word>(content.size()), type});
    notes += name;
    pad(notes);
    notes += content;
    pad(notes);
  };
  const kymo_note note{KYMO_NOTE_MAGIC, sizeof(kymo_note), 1, 2, "libtorch", "2.11.0", "13.0", "gcc 12.2.0", "cxx11"};
  std::string content;
  append_bytes(content, note);
  std::string notes;
  append_note(notes, {"GNU", 4}, NT_GNU_BUILD_ID, "12345678");
  append_note(notes, {KYMO_NOTE_NAME, sizeof KYMO_NOTE_NAME}, KYMO_NOTE_TYPE, content);

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
#if defined(__x86_64__)
  header.e_machine = EM_X86_64;
#else
  header.e_machine = EM_AARCH64;
#endif
  header.e_type = ET_DYN;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  Elf64_Phdr other{};
  other.p_type = PT_LOAD;
  Elf64_Phdr segment{};
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof header + 2 * sizeof segment;
  segment.p_filesz = notes.size();
  segment.p_align = alignment;
  std::string bytes;
  append_bytes(bytes, header);
  append_bytes(bytes, other);
  append_bytes(bytes, segment);
  return bytes + notes;
}

}  // namespace kymo::catalog::test
