// SPDX-License-Identifier: Apache-2.0
#include "store/step_journal.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "analysis/derive.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "measure/json_field.hpp"
#include "store/journal_blocks.hpp"
#include "store/rank_file.hpp"
#include "store/rank_import.hpp"

namespace kymo::store {
namespace fs = std::filesystem;

// A journal consists of chunks, and a chunk of blocks. A block begins with its kind and size; kind 0 ends the chunk.
// The kind is written last, so that a block with a kind is complete.
enum class StepJournal::Kind : std::uint32_t {
  kEnd,
  kHeader,
  kStep,
  kMetric,
  kPhase,
  kText,
  kRanges,
  kOperators,
  kEventsLeftOut,
  kCompilation,
  kCollectives
};

namespace {

constexpr std::size_t kChunkBytes = std::size_t{256} << 10;
constexpr std::size_t kMaxEventBytes = std::size_t{1} << 30;
constexpr std::int32_t kMaxEvents = 1 << 27;  // the memory of a pass has room for fewer
constexpr const char* kSuffix = ".steps";
constexpr const char* kEventSuffix = ".events";  // added to kSuffix
constexpr std::int64_t kNone = -1;

struct BlockHead {
  std::atomic<std::uint32_t> kind;
  std::uint32_t bytes;
};

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

void remove_journal(const fs::path& file) noexcept {
  std::error_code ignored;
  fs::remove(file, ignored);
  fs::remove(file.string() + kEventSuffix, ignored);
}

fs::path journal_of(const fs::path& rank_file) {
  fs::path file = rank_file;
  return file += kSuffix;
}

std::string header_text(const JournalHeader& header) {
  Json json{{"warmup", header.warmup}, {"run_start_ns", header.run_start_ns}};
  if (header.steps) json["steps"] = *header.steps;
  json["device"] = header.device;
  return dump_json(json);
}

}  // namespace

StepJournal::StepJournal(const fs::path& rank_file, const JournalHeader& header) : file_(journal_of(rank_file)) {
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(BlockHead) == 8);
  if (!open_chunk())
    throw Error("cannot create " + quote(file_.string()) + ", the journal of complete steps: " + std::strerror(errno));
  append(Kind::kHeader, bytes_of(header_text(header)));
}

StepJournal::~StepJournal() {
  if (chunk_) munmap(chunk_, kChunkBytes);
}

bool StepJournal::open_chunk() noexcept {
  if (chunk_) munmap(std::exchange(chunk_, nullptr), kChunkBytes);
  const int create = chunks_ == 0 ? O_CREAT | O_TRUNC : 0;
  const int fd = open(file_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | create, 0600);
  if (fd < 0) return false;
  const auto offset = static_cast<off_t>(chunks_ * kChunkBytes);
  // Without allocated blocks, writing to the memory while the disk is full would end the program with SIGBUS.
  errno = posix_fallocate(fd, offset, kChunkBytes);
  void* memory = MAP_FAILED;
  if (errno == 0) memory = mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
  close(fd);
  if (memory == MAP_FAILED) return false;
  chunk_ = static_cast<std::byte*>(memory);
  ++chunks_;
  used_ = 0;
  return true;
}

void StepJournal::append(Kind kind, std::span<const std::byte> content, std::span<const std::byte> more) noexcept {
  const std::size_t size = content.size() + more.size();
  const std::size_t needed = sizeof(BlockHead) + padded(size);
  if (!chunk_ || needed > kChunkBytes) return;
  if (needed > kChunkBytes - used_ && !open_chunk()) return;
  auto* const head = new (chunk_ + used_) BlockHead{static_cast<std::uint32_t>(Kind::kEnd), 0};
  head->bytes = static_cast<std::uint32_t>(size);
  std::ranges::copy(more, std::ranges::copy(content, chunk_ + used_ + sizeof(BlockHead)).out);
  head->kind.store(static_cast<std::uint32_t>(kind), std::memory_order_release);
  used_ += needed;
}

void StepJournal::add(const event::StepTime& step, std::span<const event::PhaseTime> phases,
                      std::span<const event::Metric> metrics) {
  static_assert(std::is_trivially_copyable_v<event::StepTime> && std::is_trivially_copyable_v<event::PhaseTime>);
  for (const event::Metric& metric : metrics) append(Kind::kMetric, bytes_of(metric_text(metric)));
  append(Kind::kStep, std::as_bytes(std::span(&step, 1)), std::as_bytes(phases));
}

void StepJournal::add(std::span<const event::Compilation> compilations) {
  for (const event::Compilation& compilation : compilations)
    append(Kind::kCompilation, bytes_of(compilation_text(compilation)));
}

void StepJournal::set_phases(const std::vector<std::string>& names) {
  for (const std::string& name : names) append(Kind::kPhase, bytes_of(name));
}

std::byte* StepJournal::event_block(Kind kind, std::size_t bytes) {
  const std::uint32_t head[2] = {static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(bytes)};
  static_assert(sizeof(head) == sizeof(BlockHead));
  const std::size_t begin = event_blocks_.size();
  event_blocks_.resize(begin + sizeof(head) + padded(bytes));
  std::memcpy(event_blocks_.data() + begin, head, sizeof(head));
  return event_blocks_.data() + begin + sizeof(head);
}

template <class Block, class Events>
void StepJournal::add_blocks(Kind kind, const Events& events) {
  static_assert(std::is_trivially_copyable_v<Block>);
  if (events.empty()) return;
  std::byte* to = event_block(kind, events.size() * sizeof(Block));
  for (const auto& event : events) {
    const Block block = block_of(event);
    std::memcpy(to, &block, sizeof(block));
    to += sizeof(block);
  }
}

bool StepJournal::write_event_blocks() noexcept {
  // Writing to a mapped file would take three times as long. No descriptor stays open.
  const fs::path file = file_.string() + kEventSuffix;
  const int fd = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return false;
  const std::size_t bytes = event_blocks_.size();
  const bool complete = write(fd, event_blocks_.data(), bytes) == static_cast<ssize_t>(bytes);
  close(fd);
  event_bytes_ += bytes;
  return complete;
}

void StepJournal::add(const event::NewEvents& events) {
  if (event_bytes_ > kMaxEventBytes) return;
  event_blocks_.clear();
  while (texts_ < events.texts.size()) {
    const std::string& text = events.texts.text(static_cast<event::TextId>(++texts_));
    std::memcpy(event_block(Kind::kText, text.size()), text.data(), text.size());
  }
  if (!events.ranges.empty()) {
    static_assert(std::is_trivially_copyable_v<event::Numbered<event::Range>>);
    const std::size_t bytes = events.ranges.size() * sizeof(events.ranges[0]);
    std::memcpy(event_block(Kind::kRanges, bytes), events.ranges.data(), bytes);
  }
  add_blocks<CallBlock>(Kind::kOperators, events.operators);
  add_blocks<CollectiveBlock>(Kind::kCollectives, events.collectives);
  if (event_blocks_.empty()) return;
  if (!write_event_blocks()) event_bytes_ = kMaxEventBytes + 1;  // what follows a block in part cannot be read
  if (event_bytes_ > kMaxEventBytes) append(Kind::kEventsLeftOut, {});
}

void StepJournal::remove() noexcept { remove_journal(file_); }

struct JournalReader {
  std::string content;
  JournalHeader header;
  event::PassRecord record;
  std::vector<event::TextId> texts;  // of the record, by id - 1
  bool events_left_out = false;

  /// Throws Error or Json::exception.
  explicit JournalReader(const fs::path& file) : content(read_file(file)) {
    for (std::size_t chunk = 0; chunk + kChunkBytes <= content.size(); chunk += kChunkBytes)
      read_chunk(std::string_view(content).substr(chunk, kChunkBytes));
    const fs::path events = file.string() + kEventSuffix;
    if (!fs::exists(events)) return;
    content = read_file(events);
    read_events(content);
    complete_events();
  }

  /// The last block may be incomplete.
  void read_events(std::string_view blocks) {
    while (blocks.size() >= sizeof(BlockHead)) {
      std::uint32_t head[2];
      std::memcpy(head, blocks.data(), sizeof(head));
      blocks.remove_prefix(sizeof(head));
      if (padded(head[1]) > blocks.size()) return;
      read_block(static_cast<StepJournal::Kind>(head[0]), blocks.substr(0, head[1]));
      blocks.remove_prefix(padded(head[1]));
    }
  }

  void read_chunk(std::string_view chunk) {
    while (chunk.size() >= sizeof(BlockHead)) {
      std::uint32_t kind = 0, bytes = 0;
      std::memcpy(&kind, chunk.data(), sizeof(kind));
      std::memcpy(&bytes, chunk.data() + sizeof(kind), sizeof(bytes));
      if (kind == static_cast<std::uint32_t>(StepJournal::Kind::kEnd)) return;
      if (padded(bytes) > chunk.size() - sizeof(BlockHead)) throw Error("a block exceeds its chunk");
      read_block(static_cast<StepJournal::Kind>(kind), chunk.substr(sizeof(BlockHead), bytes));
      chunk.remove_prefix(sizeof(BlockHead) + padded(bytes));
    }
  }

  void read_block(StepJournal::Kind kind, std::string_view bytes) {
    switch (kind) {
      case StepJournal::Kind::kHeader:
        return read_header(bytes);
      case StepJournal::Kind::kStep:
        return read_step(bytes);
      case StepJournal::Kind::kMetric:
        record.metrics.push_back(metric_from(bytes));
        return;
      case StepJournal::Kind::kPhase:
        record.trace.phases.emplace_back(bytes);
        return;
      case StepJournal::Kind::kText:
        texts.push_back(record.trace.texts.intern(bytes));
        return;
      case StepJournal::Kind::kRanges:
        return each<event::Numbered<event::Range>>(bytes, [&](const auto& range) { put(range, record.trace.ranges); });
      case StepJournal::Kind::kOperators:
        return each<CallBlock>(bytes, [&](const auto& call) { put(call_of(call), record.trace.operators); });
      case StepJournal::Kind::kCollectives:
        return each<CollectiveBlock>(bytes, [&](const auto& call) { put(call_of(call), record.trace.collectives); });
      case StepJournal::Kind::kCompilation:
        record.compilations.push_back(compilation_from(bytes));
        return;
      case StepJournal::Kind::kEventsLeftOut:
        events_left_out = true;
        return;
      default:
        throw Error("a block has the unknown kind " + std::to_string(static_cast<std::uint32_t>(kind)));
    }
  }

  void read_header(std::string_view bytes) {
    const Json json = parse_json(bytes, "the header");
    header.warmup = integer_at(json, "warmup");
    header.run_start_ns = integer_at(json, "run_start_ns");
    if (json.contains("steps")) header.steps = integer_at(json, "steps");
    record.device = json.at("device").get<event::Device>();
  }

  template <class Block, class Visit>
  static void each(std::string_view bytes, Visit visit) {
    Block block;
    for (; bytes.size() >= sizeof(block); bytes.remove_prefix(sizeof(block))) {
      std::memcpy(static_cast<void*>(&block), bytes.data(), sizeof(block));
      visit(block);
    }
  }

  template <class Event>
  static void put(const event::Numbered<Event>& numbered, std::vector<Event>& events) {
    if (numbered.number < 0 || numbered.number >= kMaxEvents)
      throw Error("an event has the number " + std::to_string(numbered.number));
    const auto index = static_cast<std::size_t>(numbered.number);
    if (index >= events.size()) events.resize(index + 1);
    events[index] = numbered.event;
  }

  event::TextId text_of(event::TextId id) const {
    return id == event::kNoText || id > texts.size() ? event::kNoText : texts[id - 1];
  }

  /// Translates the texts, and forgets references to events that are missing.
  void complete_events() {
    event::Trace& trace = record.trace;
    const auto known = [](auto number, const auto& events) {
      return number >= 0 && static_cast<std::size_t>(number) < events.size();
    };
    const auto complete_position = [&](event::Position& position) {
      if (!known(position.range, trace.ranges)) position.range = -1;
      if (!known(position.phase, trace.phases)) position.phase = -1;
    };
    for (event::Range& range : trace.ranges) {
      range.name = text_of(range.name);
      range.path = text_of(range.path);
      if (!known(range.parent, trace.ranges)) range.parent = -1;
      if (!known(range.phase, trace.phases)) range.phase = -1;
    }
    for (std::size_t i = 0; i < trace.operators.size(); ++i) {
      event::Operator& call = trace.operators[i];
      call.name = text_of(call.name);
      call.shapes = text_of(call.shapes);
      if (!known(call.parent, trace.operators) || static_cast<std::size_t>(call.parent) >= i) call.parent = -1;
      complete_position(call.position);
    }
    for (event::Collective& call : trace.collectives) {
      call.communicator = text_of(call.communicator);
      complete_position(call.position);
    }
    event::pass_nodes_down(trace.operators);
  }

  void read_step(std::string_view bytes) {
    const event::StepSamples conversion(record.trace.phases, header.run_start_ns);
    event::StepTime step;
    std::vector<event::PhaseTime> times(record.trace.phases.size());
    const std::size_t needed = sizeof(step) + times.size() * sizeof(event::PhaseTime);
    if (bytes.size() != needed)
      throw Error("a step has " + std::to_string(bytes.size()) + " bytes, not " + std::to_string(needed));
    std::memcpy(&step, bytes.data(), sizeof(step));
    std::memcpy(times.data(), bytes.data() + sizeof(step), bytes.size() - sizeof(step));
    conversion.append(step, times, record.samples);
  }
};

std::string fewer_steps_text(std::int64_t measured, std::int64_t wanted) {
  return "the program ended after " + std::to_string(measured) + " of the " + std::to_string(wanted) +
         " steps to measure";
}

namespace {

/// What is known of the events of a pass whose process was killed.
std::string kept_events_text(const JournalReader& journal, measure::Pass pass) {
  const bool operators = pass == measure::Pass::kOps;
  std::string text = "the process ended before it wrote its events: ";
  text += operators ? "only the times, compilations, operators, scopes and collective calls of complete steps are known"
                    : "only the times, compilations, scopes and collective calls of complete steps are known";
  if (journal.events_left_out) text += ", and not all of these, because they are larger than 1 GiB";
  return text;
}

void derive(event::PassRecord& record, std::int64_t warmup) {
  try {
    analysis::derive(record, {.warmup = warmup, .classifier = nullptr, .on_host = record.device.kind == "cpu"});
  } catch (const std::exception& error) {
    record.dropped_records.push_back({"analysis", kNone, error.what()});
  }
}

}  // namespace

std::optional<std::int64_t> recover_from_journal(const fs::path& rank_file, std::int64_t run_id, int rank,
                                                 measure::Pass pass) {
  const fs::path file = journal_of(rank_file);
  if (fs::exists(rank_file) || !fs::exists(file)) return std::nullopt;
  JournalReader journal(file);
  event::PassRecord& record = journal.record;
  const std::int64_t measured = std::ranges::count_if(
      record.samples, [](const event::Sample& each) { return each.phase == event::kWholeStep && !each.warmup; });
  if (journal.header.steps && measured < *journal.header.steps)
    record.warnings.push_back({"fewer steps", fewer_steps_text(measured, *journal.header.steps)});
  if (measure::observes(pass)) {
    derive(record, journal.header.warmup);
    record.dropped_records.push_back({"store", kNone, kept_events_text(journal, pass)});
  }
  write_rank_file(rank_file, run_id, rank, pass, record);
  remove_journal(file);
  return measured;
}

void recover_journals(const fs::path& folder) {
  std::vector<fs::path> rank_files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::string path = entry.path().string();
    if (!path.ends_with(kSuffix)) continue;
    path.resize(path.size() - std::strlen(kSuffix));
    rank_files.emplace_back(path);
  }
  for (const fs::path& file : rank_files) {
    const auto name = parse_rank_file_name(file);
    if (!name) continue;
    try {
      recover_from_journal(file, name->run_id, name->rank, enum_from<measure::Pass>(name->pass));
    } catch (const std::exception&) {
      continue;  // the run is stored without these measurements
    }
  }
}

}  // namespace kymo::store
