// SPDX-License-Identifier: Apache-2.0
#include "collect/stacks/symbols.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <vector>

namespace kymo::collect {
namespace {

constexpr std::uint64_t kMaxTableBytes = 64 << 20;

struct Function {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t name = 0;  ///< offset in the names
};

struct Table {
  std::vector<Function> functions;  ///< sorted by begin
  std::string names;                ///< ends with a zero byte
};

/// Reads `bytes` bytes, or nothing if the range is not in the file or too long.
template <typename Container>
bool read(std::ifstream& file, std::uint64_t offset, std::uint64_t bytes, Container& to) {
  if (bytes > kMaxTableBytes) return false;
  to.resize(bytes / sizeof(to[0]));
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(
      file.read(reinterpret_cast<char*>(to.data()), static_cast<std::streamsize>(to.size() * sizeof(to[0]))));
}

Table read_table(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<Elf64_Ehdr> header;
  if (!read(file, 0, sizeof(Elf64_Ehdr), header) || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_ident[EI_CLASS] != ELFCLASS64 || header[0].e_shentsize != sizeof(Elf64_Shdr))
    return {};
  std::vector<Elf64_Shdr> sections;
  if (!read(file, header[0].e_shoff, header[0].e_shnum * sizeof(Elf64_Shdr), sections)) return {};
  const auto symbols = std::find_if(sections.begin(), sections.end(),
                                    [](const Elf64_Shdr& section) { return section.sh_type == SHT_SYMTAB; });
  if (symbols == sections.end() || symbols->sh_link >= sections.size()) return {};
  const Elf64_Shdr& names = sections[symbols->sh_link];
  Table table;
  std::vector<Elf64_Sym> entries;
  if (!read(file, symbols->sh_offset, symbols->sh_size, entries) ||
      !read(file, names.sh_offset, names.sh_size, table.names))
    return {};
  table.names.push_back('\0');
  for (const Elf64_Sym& entry : entries) {
    if (ELF64_ST_TYPE(entry.st_info) == STT_FUNC && entry.st_size > 0 && entry.st_name < table.names.size())
      table.functions.push_back({entry.st_value, entry.st_value + entry.st_size, entry.st_name});
  }
  std::sort(table.functions.begin(), table.functions.end(),
            [](const Function& a, const Function& b) { return a.begin < b.begin; });
  return table;
}

}  // namespace

std::string function_at(const std::string& file, std::uint64_t offset) {
  static std::mutex mutex;
  static auto& tables = *new std::map<std::string, Table>;  // may be used while the process exits
  const std::lock_guard lock(mutex);
  auto at = tables.find(file);
  if (at == tables.end()) at = tables.emplace(file, read_table(file)).first;
  const auto& functions = at->second.functions;
  auto next = std::upper_bound(functions.begin(), functions.end(), offset,
                               [](std::uint64_t value, const Function& function) { return value < function.begin; });
  if (next == functions.begin()) return "";
  --next;
  return offset < next->end ? at->second.names.c_str() + next->name : "";
}

}  // namespace kymo::collect
