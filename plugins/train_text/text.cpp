// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include <fts.h>
#include <sha2.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string_view>

// Without std::filesystem: LibTorch exports its functions from another version of the standard library.
namespace kymo::text {
namespace {

constexpr const char* kHelp = "; set text=FOLDER to a folder with Python sources";

std::string sha256(const std::string& bytes) {
  std::array<char, SHA256_DIGEST_STRING_LENGTH> digest{};
  SHA256Data(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), digest.data());
  return digest.data();
}

/// Zeros if there is no such file.
struct stat facts_of(const std::string& path) {
  struct stat facts{}, none{};
  return stat(path.c_str(), &facts) == 0 ? facts : none;
}

bool is_skipped(std::string_view folder) {
  return folder.starts_with("test") || folder == "idle_test" || folder == "site-packages" || folder == "dist-packages";
}

/// Appends at most `limit` bytes of a file.
void append(std::string& bytes, const std::string& file, std::size_t limit) {
  std::ifstream in(file, std::ios::binary);
  const std::size_t before = bytes.size(), size = static_cast<std::size_t>(facts_of(file).st_size);
  bytes.resize(before + std::min(limit, size));
  in.read(bytes.data() + before, static_cast<std::streamsize>(bytes.size() - before));
  if (!in) throw std::runtime_error("cannot read the text file " + file);
}

}  // namespace

std::string standard_library() {
  // In isolated mode, neither the environment nor the current folder changes what the interpreter imports.
  const std::unique_ptr<FILE, int (*)(FILE*)> output(
      popen("python3 -I -c 'import sysconfig; print(sysconfig.get_path(\"stdlib\"), end=\"\")'", "r"), pclose);
  std::string path;
  for (int c = 0; output && (c = std::fgetc(output.get())) != EOF;) path += static_cast<char>(c);
  if (path.empty()) throw std::runtime_error(std::string("no python3 on PATH that names its standard library") + kHelp);
  return path;
}

std::vector<std::string> sources_in(const std::string& folder) {
  if (!S_ISDIR(facts_of(folder).st_mode)) throw std::runtime_error("no text: " + folder + " is not a folder" + kHelp);
  std::string root = folder;
  const std::array<char*, 2> roots{root.data(), nullptr};
  const std::unique_ptr<FTS, int (*)(FTS*)> tree(fts_open(roots.data(), FTS_PHYSICAL | FTS_NOCHDIR, nullptr),
                                                 fts_close);
  std::vector<std::string> files;
  while (const FTSENT* entry = tree ? fts_read(tree.get()) : nullptr) {
    const std::string_view name(entry->fts_name, entry->fts_namelen);
    if (entry->fts_info == FTS_D && entry->fts_level > 0 && is_skipped(name))
      fts_set(tree.get(), const_cast<FTSENT*>(entry), FTS_SKIP);
    if (entry->fts_info == FTS_F && name.ends_with(".py")) files.emplace_back(entry->fts_path);
    if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
      throw std::runtime_error(std::string("cannot read the folder ") + entry->fts_path + ": " +
                               std::strerror(entry->fts_errno));
  }
  std::ranges::sort(files);
  return files;
}

Text read_text(const std::string& folder, std::int64_t limit) {
  Text text;
  for (const std::string& file : sources_in(folder)) {
    const std::size_t left = static_cast<std::size_t>(limit) - text.bytes.size();
    if (left == 0) break;
    append(text.bytes, file, left);
    ++text.files;
  }
  if (text.bytes.empty()) throw std::runtime_error("no text: no Python sources (*.py) in " + folder + kHelp);
  text.sha256 = sha256(text.bytes);
  return text;
}

}  // namespace kymo::text
