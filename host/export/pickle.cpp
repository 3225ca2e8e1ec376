// SPDX-License-Identifier: Apache-2.0
#include "export/pickle.hpp"

#include <limits>

namespace kymo::exports {

namespace {

// Opcodes of the format, named as in Python's pickletools.
constexpr std::uint8_t kProto = 0x80;
constexpr std::uint8_t kEmptyDict = '}';
constexpr std::uint8_t kEmptyList = ']';
constexpr std::uint8_t kMark = '(';
constexpr std::uint8_t kSetItems = 'u';
constexpr std::uint8_t kAppends = 'e';
constexpr std::uint8_t kBinInt1 = 'K';
constexpr std::uint8_t kBinInt2 = 'M';
constexpr std::uint8_t kBinInt = 'J';
constexpr std::uint8_t kLong1 = 0x8a;
constexpr std::uint8_t kTuple2 = 0x86;
constexpr std::uint8_t kNewTrue = 0x88;
constexpr std::uint8_t kNewFalse = 0x89;
constexpr std::uint8_t kShortBinUnicode = 0x8c;
constexpr std::uint8_t kBinUnicode = 'X';
constexpr std::uint8_t kMemoize = 0x94;
constexpr std::uint8_t kBinGet = 'h';
constexpr std::uint8_t kLongBinGet = 'j';
constexpr std::uint8_t kStop = '.';

// Readers keep a batch on their stack; Python's own pickler uses batches of this size.
constexpr std::size_t kItemsOfBatch = 1'000;
constexpr std::size_t kMaxUnwrittenBytes = 1 << 16;

}  // namespace

Pickle::Pickle(Output& output) : output_(output) {
  put(kProto);
  put(4);
}

void Pickle::put_number(std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) put(static_cast<std::uint8_t>(value >> (8 * i)));
}

void Pickle::flush() {
  output_.write(held_);
  held_.clear();
}

void Pickle::begin_dict() {
  put(kEmptyDict);
  put(kMark);
}

void Pickle::end_dict() {
  put(kSetItems);
  if (held_.size() >= kMaxUnwrittenBytes) flush();
}

void Pickle::begin_list() {
  put(kEmptyList);
  put(kMark);
  batches_.push_back(0);
}

void Pickle::item() {
  if (batches_.back()++ < kItemsOfBatch) return;
  put(kAppends);
  put(kMark);
  batches_.back() = 1;
}

void Pickle::end_list() {
  put(kAppends);
  batches_.pop_back();
}

void Pickle::pair(std::int64_t first, std::int64_t second) {
  number(first);
  number(second);
  put(kTuple2);
}

void Pickle::long_number(std::uint64_t low, bool negative) {
  // Two's complement with the minimum number of bytes that preserves the sign.
  const std::uint8_t filling = negative ? 0xff : 0;
  int bytes = 8;
  while (bytes > 1) {
    const auto last = static_cast<std::uint8_t>(low >> (8 * (bytes - 1)));
    const auto before = static_cast<std::uint8_t>(low >> (8 * (bytes - 2)));
    if (last != filling || (before >= 0x80) != negative) break;
    --bytes;
  }
  const bool wants_sign = !negative && (low >> (8 * bytes - 1) & 1) != 0;
  put(kLong1);
  put(static_cast<std::uint8_t>(bytes + (wants_sign ? 1 : 0)));
  put_number(low, bytes);
  if (wants_sign) put(0);
}

void Pickle::number(std::int64_t value) {
  if (value >= 0 && value <= 0xff) {
    put(kBinInt1);
    put(static_cast<std::uint8_t>(value));
  } else if (value >= 0 && value <= 0xffff) {
    put(kBinInt2);
    put_number(static_cast<std::uint64_t>(value), 2);
  } else if (value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max()) {
    put(kBinInt);
    put_number(static_cast<std::uint64_t>(value), 4);
  } else {
    long_number(static_cast<std::uint64_t>(value), value < 0);
  }
}

void Pickle::address(std::uint64_t value) {
  if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    number(static_cast<std::int64_t>(value));
  } else {
    long_number(value, false);
  }
}

void Pickle::boolean(bool value) { put(value ? kNewTrue : kNewFalse); }

void Pickle::text(std::string_view value) {
  const auto [found, is_new] = texts_.try_emplace(std::string(value), remembered_);
  if (!is_new) {
    recall(found->second);
    return;
  }
  if (value.size() <= 0xff) {
    put(kShortBinUnicode);
    put(static_cast<std::uint8_t>(value.size()));
  } else {
    put(kBinUnicode);
    put_number(value.size(), 4);
  }
  held_ += value;
  remember();
}

std::uint32_t Pickle::remember() {
  put(kMemoize);
  return remembered_++;
}

void Pickle::recall(std::uint32_t remembered) {
  if (remembered <= 0xff) {
    put(kBinGet);
    put(static_cast<std::uint8_t>(remembered));
  } else {
    put(kLongBinGet);
    put_number(remembered, 4);
  }
}

void Pickle::end() {
  put(kStop);
  flush();
}

}  // namespace kymo::exports
