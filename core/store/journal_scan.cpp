// SPDX-License-Identifier: Apache-2.0
#include "store/journal_scan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>

#include "event/step_time.hpp"

namespace kymo::store {
namespace {

struct Block {
  kymo_block_head head;
  std::string_view content;
};

class BlockScan {
 public:
  BlockScan(std::string_view file, std::size_t chunk_bytes) : file_(file), chunk_bytes_(chunk_bytes) {}

  std::optional<JournalDamage> visit(const std::function<void(BlockKind, std::string_view)>& visit) {
    for (std::size_t chunk = 0; chunk < file_.size(); chunk = end_of_chunk(chunk)) {
      const std::size_t end = end_of_chunk(chunk);
      for (std::size_t at = chunk; at + kBlockHeadBytes <= end;) {
        if (head_at(at).kind == 0) {
          end_ = end_ ? end_ : at;
          break;
        }
        const auto block = block_at(at, end);
        if (!block) return JournalDamage{end_.value_or(at), "a block does not match its checksum"};
        const std::uint32_t addition = block->head.addition;
        if (addition != additions_ && addition != additions_ + 1)
          return JournalDamage{end_.value_or(at), "blocks are missing"};
        additions_ = addition;
        end_.reset();
        try {
          visit(static_cast<BlockKind>(block->head.kind), block->content);
        } catch (const std::exception& error) {
          return JournalDamage{at, error.what()};
        }
        at += kBlockHeadBytes + padded(block->head.bytes);
      }
    }
    if (end_ && is_followed_by_block(*end_)) return JournalDamage{*end_, "a block lost its kind"};
    return std::nullopt;
  }

 private:
  /// End of the chunk that contains `at`.
  std::size_t end_of_chunk(std::size_t at) const {
    return at + std::min(chunk_bytes_ - at % chunk_bytes_, file_.size() - at);
  }

  kymo_block_head head_at(std::size_t at) const {
    kymo_block_head head;
    std::memcpy(&head, file_.data() + at, sizeof(head));
    return head;
  }

  /// The content of a step, which is in `unused_` if the process was killed while it added its usage to the step.
  std::optional<Block> block_at(std::size_t at, std::size_t end) {
    const kymo_block_head head = head_at(at);
    const std::size_t begin = at + kBlockHeadBytes;
    if (head.kind >= static_cast<std::uint32_t>(BlockKind::kCount) || padded(head.bytes) > end - begin)
      return std::nullopt;
    const std::string_view content = file_.substr(begin, head.bytes);
    if (kymo_block_checksum(&head, at, content.data()) == head.checksum) return Block{head, content};
    if (head.kind != static_cast<std::uint32_t>(BlockKind::kStep) || head.bytes < sizeof(event::StepTime))
      return std::nullopt;
    constexpr std::int64_t kUnknown = -1;
    without_usage_ = content;
    std::memcpy(&without_usage_[offsetof(event::StepTime, cpu_ns)], &kUnknown, sizeof(kUnknown));
    std::memcpy(&without_usage_[offsetof(event::StepTime, involuntary_switches)], &kUnknown, sizeof(kUnknown));
    if (kymo_block_checksum(&head, at, without_usage_.data()) != head.checksum) return std::nullopt;
    return Block{head, without_usage_};
  }

  /// True if there is a block of a later addition than the one that the process was writing.
  bool is_followed_by_block(std::size_t end) {
    std::size_t read = 0;  // content may look like many heads, each of much content
    for (std::size_t at = end + 8; at + kBlockHeadBytes <= file_.size() && read <= file_.size(); at += 8) {
      const kymo_block_head head = head_at(at);
      if (head.kind == 0 || head.addition < additions_ + 2) continue;
      if (head.bytes <= file_.size()) read += head.bytes;
      if (block_at(at, end_of_chunk(at))) return true;
    }
    return false;
  }

  const std::string_view file_;
  const std::size_t chunk_bytes_;
  std::uint32_t additions_ = 0;
  std::optional<std::size_t> end_;  // of the blocks that were read, if something follows that is none
  std::string without_usage_;
};

}  // namespace

std::optional<JournalDamage> visit_blocks(std::string_view file, std::size_t chunk_bytes, std::size_t growth_bytes,
                                          const std::function<void(BlockKind, std::string_view)>& visit) {
  if (file.empty()) return JournalDamage{0, "it is empty"};
  if (const auto damage = BlockScan(file, chunk_bytes).visit(visit)) return damage;
  if (file.size() % growth_bytes == 0) return std::nullopt;
  return JournalDamage{file.size(), "the rest of the file is missing"};
}

}  // namespace kymo::store
