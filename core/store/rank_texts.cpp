// SPDX-License-Identifier: Apache-2.0
#include "store/rank_texts.hpp"

#include "base/utf8.hpp"
#include "store/row_source.hpp"

namespace kymo::store {
namespace {

/// The strings in use as rows of string_id and text.
class UsedTexts final : public RowSource {
 public:
  UsedTexts(const event::Texts& texts, const std::vector<char>& used) : texts_(texts), used_(used) {}

  bool next() override {
    do {
      ++row_;
    } while (row_ < used_.size() && used_[row_] == 0);
    return row_ < used_.size();
  }
  void put(int column, sqlite3_context* result) override {
    if (column == 0) return store::put(result, static_cast<std::int64_t>(row_));
    store::put(result, texts_.text(static_cast<event::TextId>(row_)));
  }

 private:
  const event::Texts& texts_;
  const std::vector<char>& used_;
  std::size_t row_ = 0;
};

}  // namespace

// Cleaning can make two strings equal, so each id of the pass is mapped to its row individually.
RankTexts::RankTexts(const event::Texts& texts, const std::vector<std::string>& phases) {
  rows_.push_back(event::kNoText);
  for (std::size_t id = 1; id <= texts.size(); ++id) rows_.push_back(add(texts.text(static_cast<event::TextId>(id))));
  for (const std::string& phase : phases) phases_.push_back(add(phase));
  no_text_ = add("(unknown)");
}

event::TextId RankTexts::add(const std::string& text) {
  const event::TextId row = texts_.intern(valid_utf8(text));
  used_.resize(texts_.size() + 1);
  return row;
}

std::int64_t RankTexts::intern(const std::string& text) { return used(add(text)); }

void RankTexts::write(const Connection& connection) const {
  UsedTexts rows(texts_, used_);
  insert_rows(connection, "string", {}, {"string_id", "text"}, rows);
}

}  // namespace kymo::store
