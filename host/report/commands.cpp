// SPDX-License-Identifier: Apache-2.0
#include "report/commands.hpp"

#include <algorithm>

namespace kymo::report {
namespace {

class ProfileNamer {
 public:
  ProfileNamer(const std::string& suite, const std::string& profile)
      : command_("kymo suite run " + suite), option_("--profile " + profile) {}

  void operator()(Paragraph& paragraph) const { change(paragraph.spans); }
  void operator()(List& list) const {
    for (Spans& item : list.items) change(item);
  }
  void operator()(Notice& notice) const {
    for (auto& part : notice.prose) std::visit(*this, part);
  }
  void operator()(Table& table) const {
    for (auto& row : table.rows)
      for (std::size_t i = 0; i < row.size(); ++i)
        if (table.columns[i].code) change(row[i].text);
  }
  void operator()(Chart&) const {}

 private:
  /// Text that names the profile itself offers it instead of the whole suite.
  void change(Spans& spans) const {
    const auto names_profile = [this](const Span& span) { return span.text.find(option_) != std::string::npos; };
    if (std::ranges::any_of(spans, names_profile)) return;
    for (Span& span : spans)
      if (span.style == Style::kCode) change(span.text);
  }
  void change(std::string& text) const {
    const bool runs_suite = text == command_ || text.starts_with(command_ + " ");
    if (runs_suite && text.find(" --profile") == std::string::npos) text.insert(command_.size(), " " + option_);
  }

  std::string command_;
  std::string option_;
};

}  // namespace

void name_profile(Document& document, const std::string& suite, const std::string& profile) {
  const ProfileNamer namer(suite, profile);
  for (Block& block : document.front_matter) std::visit(namer, block);
  for (Section& section : document.sections)
    for (Block& block : section.blocks) std::visit(namer, block);
}

}  // namespace kymo::report
