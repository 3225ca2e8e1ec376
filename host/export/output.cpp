// SPDX-License-Identifier: Apache-2.0
#include "export/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "store/open.hpp"

namespace kymo::exports {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kHeldBytes = 1 << 20;

}  // namespace

Output::Output(fs::path file, Kind kind) : file_(std::move(file)) {
  if (file_ == "-") {
    if (kind == Kind::kBinary && isatty(STDOUT_FILENO) == 1)
      throw UsageError("refusing to write binary data to a terminal; pass a file with -o");
    descriptor_ = STDOUT_FILENO;
    return;
  }
  std::error_code error;
  const fs::file_status status = fs::status(file_, error);
  if (fs::is_directory(status))
    throw Error("cannot write " + quote(file_.string()) + ": it is a directory; pass the name of a file");
  // Devices and pipes are written in place, not replaced.
  const bool in_place = fs::exists(status) && !fs::is_regular_file(status);
  const fs::path target =
      fs::is_symlink(fs::symlink_status(file_, error)) && fs::exists(status) ? fs::canonical(file_, error) : file_;
  if (in_place) {
    descriptor_ = open(file_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    if (store::is_database(target))
      throw Error("refusing to replace " + quote(file_.string()) +
                  ", which is a database; pass the name of another file, or remove this one first");
    file_ = target;
    remove_abandoned_siblings(target);
    const TemporarySibling sibling = make_sibling(target);
    stage_ = sibling.path;
    descriptor_ = sibling.fd;
  }
  if (descriptor_ < 0) fail(errno);
}

Output::~Output() {
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) close(descriptor_);
  if (!stage_.empty()) unlink(stage_.c_str());
}

void Output::fail(int reason) const {
  const std::string where = file_ == "-" ? "standard output" : quote(file_.string());
  throw Error("cannot write " + where + ": " + std::strerror(reason) +
              "; check the destination or pass another file with -o");
}

void Output::write(std::string_view bytes) {
  held_ += bytes;
  if (held_.size() >= kHeldBytes) flush();
}

void Output::flush() {
  if (const int reason = write_all(descriptor_, held_); reason != 0) fail(reason);
  held_.clear();
}

void Output::finish() {
  flush();
  if (descriptor_ == STDOUT_FILENO) return;
  const int closed = close(std::exchange(descriptor_, -1));
  if (closed != 0) fail(errno);
  if (stage_.empty()) return;
  if (rename(stage_.c_str(), file_.c_str()) != 0) fail(errno);
  stage_.clear();
}

}  // namespace kymo::exports
