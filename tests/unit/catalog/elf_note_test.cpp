// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <kymo_plugin.h>

#include <cstddef>
#include <cstring>
#include <random>

#include "base/error.hpp"
#include "base/file.hpp"
#include "catalog/plugin_file.hpp"
#include "fixture.hpp"
#include "small_plugin.hpp"

namespace kymo::catalog::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ElfNote : public InFolder {
 protected:
  std::string read_bytes(const std::string& bytes) {
    write_file(folder_ / "file.so", bytes);
    return message_of([&] { read_note(folder_ / "file.so"); });
  }
};

TEST_F(ElfNote, ReadsWhatTheFacadeWrote) {
  const kymo_note note = read_note(plugin("probe"));
  EXPECT_EQ(note.abi_major, KYMO_ABI_MAJOR);
  EXPECT_EQ(note.abi_minor, KYMO_ABI_MINOR);
  EXPECT_STREQ(note.framework, "");
  EXPECT_STREQ(note.cuda_version, "");
  EXPECT_THAT(note.compiler, ::testing::AnyOf(StartsWith("gcc "), StartsWith("clang ")));
  EXPECT_STREQ(note.cxx_abi, "cxx11");
}

TEST_F(ElfNote, ReadsWhatCWrote) { EXPECT_STREQ(read_note(plugin("raw_valid")).compiler, "cc"); }

TEST_F(ElfNote, FindsTheNoteAfterOthersOfEitherAlignment) {
  for (const std::uint64_t alignment : {4, 8}) {
    write_file(folder_ / "file.so", small_plugin(alignment));
    EXPECT_STREQ(read_note(folder_ / "file.so").framework_version, "2.11.0") << alignment;
  }
}

TEST_F(ElfNote, RejectsWhatIsNoPlugin) {
  EXPECT_THAT(read_bytes(""), HasSubstr("not an ELF file"));
  EXPECT_THAT(read_bytes("\x7f"
                         "ELF"),
              HasSubstr("not an ELF file"));
  EXPECT_THAT(read_bytes("#!/bin/sh\necho a plugin has more than sixty-four bytes of ELF header in front of it\n"),
              HasSubstr("not an ELF file"));
  EXPECT_THAT(message_of([&] { read_note(folder_); }), HasSubstr("not a regular file"));
  EXPECT_THAT(message_of([&] { read_note(folder_ / "absent.so"); }), HasSubstr("No such file"));
  EXPECT_THAT(message_of([] { read_note(plugin("no_note")); }), HasSubstr("no kymo note"));
  EXPECT_THAT(message_of([] { read_note(plugin("short_note")); }), HasSubstr("40 bytes long, expected 120 bytes"));
  EXPECT_THAT(message_of([] { read_note(plugin("wrong_magic")); }), HasSubstr("wrong magic"));
}

TEST_F(ElfNote, RejectsOtherMachinesAndKinds) {
  const std::string whole = read_file(plugin("raw_valid"));
  std::string other = whole;
  other[EI_CLASS] = ELFCLASS32;
  EXPECT_THAT(read_bytes(other), HasSubstr("different machine architecture"));
  other = whole;
  other[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_RISCV);
  EXPECT_THAT(read_bytes(other), HasSubstr("different machine architecture"));
  other = whole;
  other[offsetof(Elf64_Ehdr, e_type)] = ET_REL;
  EXPECT_THAT(read_bytes(other), HasSubstr("not a shared library"));
}

TEST_F(ElfNote, SurvivesSizesThatLie) {
  const std::string whole = read_file(plugin("raw_valid"));
  const auto with = [&](std::size_t at, std::uint64_t value, std::size_t bytes) {
    std::string changed = whole;
    std::memcpy(changed.data() + at, &value, bytes);
    return read_bytes(changed);
  };
  EXPECT_THAT(with(offsetof(Elf64_Ehdr, e_phoff), ~0ull - 8, 8), HasSubstr("truncated"));
  EXPECT_THAT(with(offsetof(Elf64_Ehdr, e_phoff), whole.size() - 1, 8), HasSubstr("truncated"));
  EXPECT_THAT(with(offsetof(Elf64_Ehdr, e_phnum), 0, 2), HasSubstr("no kymo note"));
  EXPECT_THAT(with(offsetof(Elf64_Ehdr, e_phentsize), 1, 2), HasSubstr("header is damaged"));
  const std::size_t note = whole.find(std::string("kymo\0\0\0\0KYMOPLG", 15));
  ASSERT_NE(note, std::string::npos);
  EXPECT_THAT(with(note - 12, 0xffffffff, 4), HasSubstr("no kymo note")) << "size of the note's name";
  EXPECT_THAT(with(note - 8, 0xffffffff, 4), HasSubstr("no kymo note")) << "size of the note's content";
  EXPECT_THAT(with(note + 16, 1, 4), HasSubstr("wrong size"));
  EXPECT_THAT(with(note + 8 + offsetof(kymo_note, compiler), 0x1b5b1b5b1b5b1b5b, 8), HasSubstr("damaged"))
      << "control characters";
}

TEST_F(ElfNote, SurvivesEveryTruncation) {
  const std::string whole = read_file(plugin("raw_valid"));
  int rejected = 0;
  for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 400) {
    write_file(folder_ / "file.so", whole.substr(0, size));
    try {
      read_note(folder_ / "file.so");  // the headers and the note may lie before the truncation
    } catch (const Error&) {
      ++rejected;
    }
  }
  EXPECT_GT(rejected, 0);
}

// Half of the flipped bytes are in the headers and notes that the reader parses. The result must always be a note or an
// Error.
TEST_F(ElfNote, SurvivesAThousandFlippedBytes) {
  const std::string whole = read_file(plugin("raw_valid"));
  std::mt19937 random(20240229);
  int rejected = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string changed = whole;
    const std::size_t end = i % 2 == 0 ? 1024 : whole.size();
    changed[random() % end] ^= static_cast<char>(1 + random() % 255);
    if (i % 4 == 0) changed[random() % end] = static_cast<char>(0xff);
    write_file(folder_ / "file.so", changed);
    try {
      const kymo_note note = read_note(folder_ / "file.so");
      EXPECT_NE(std::memchr(note.framework, 0, sizeof note.framework), nullptr);
      EXPECT_NE(std::memchr(note.compiler, 0, sizeof note.compiler), nullptr);
    } catch (const Error& problem) {
      ++rejected;
      EXPECT_EQ(std::string(problem.what()).find('\n'), std::string::npos);
    }
  }
  EXPECT_GT(rejected, 20) << "flips in headers are noticed";
}

}  // namespace
}  // namespace kymo::catalog::test
