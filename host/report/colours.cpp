// SPDX-License-Identifier: Apache-2.0
#include "report/colours.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "report/palette.hpp"

namespace kymo::report {
namespace {

std::vector<std::string> names_of(const Chart& chart) {
  std::vector<std::string> names;
  // A series without a name of its own has that of its axis.
  const bool nameless = chart.series.size() == 1 && chart.series[0].name == chart.y.title;
  if (!nameless)
    for (const Series& series : chart.series) names.push_back(series.name);
  for (const auto* classes : {&chart.timeline.classes, &chart.roofline.classes})
    if (classes->size() <= kPalette.size()) names.insert(names.end(), classes->begin(), classes->end());
  return names;
}

// Time in which nothing runs is gray, in every chart.
bool is_absence(const std::string& name) { return name == "idle" || name == "outside of operators"; }

// Lines need the most distinguishable colors.
std::size_t colours_for(const Chart& chart) { return chart.kind == ChartKind::kLine ? kLineColours : kPalette.size(); }

class Colouring {
 public:
  void add(const Chart& chart) {
    const std::vector<std::string> names = names_of(chart);
    for (const std::string& name : names) {
      if (known_.insert(name).second) order_.push_back(name);
      groups_[chart.query].insert(name);
    }
    alone_.emplace_back(names.begin(), names.end());
    most_[chart.query] = std::min(colours_for(chart), most_.try_emplace(chart.query, kPalette.size()).first->second);
  }

  void assign() {
    std::map<std::string, std::set<std::string>> beside;
    const auto connect = [&beside](const std::set<std::string>& names) {
      for (const std::string& name : names) beside[name].insert(names.begin(), names.end());
    };
    for (const auto& group : alone_) connect(group);
    for (const auto& [query, group] : groups_)
      if (group.size() <= most_[query]) connect(group);
    for (const std::string& name : order_) {
      std::set<std::size_t> taken;
      for (const std::string& other : beside[name])
        if (const auto found = colours_.find(other); found != colours_.end()) taken.insert(found->second);
      std::size_t colour = 0;
      while (taken.contains(colour)) ++colour;
      colours_[name] = is_absence(name) ? kPalette.size() - 1 : colour;
    }
  }

  void paint(Chart& chart) const {
    for (Series& series : chart.series)
      if (const auto found = colours_.find(series.name); found != colours_.end()) series.colour = found->second;
    paint(chart.timeline.classes, chart.timeline.colours);
    paint(chart.roofline.classes, chart.roofline.colours);
  }

 private:
  void paint(const std::vector<std::string>& classes, std::vector<std::size_t>& colours) const {
    if (classes.size() > kPalette.size()) return;
    colours.clear();
    for (const std::string& name : classes) colours.push_back(class_colour(colours_.at(name)));
  }

  std::vector<std::string> order_;  ///< of first appearance
  std::set<std::string> known_;
  std::map<std::string, std::set<std::string>> groups_;  ///< by query
  std::map<std::string, std::size_t> most_;              ///< colors for the charts of a query
  std::vector<std::set<std::string>> alone_;             ///< by chart
  std::map<std::string, std::size_t> colours_;
};

template <typename Function>
void each_chart(Document& document, Function function) {
  for (Section& section : document.sections) {
    for (Block& block : section.blocks)
      if (Chart* chart = std::get_if<Chart>(&block)) function(*chart);
  }
}

}  // namespace

void assign_colours(Document& document) {
  Colouring colouring;
  each_chart(document, [&colouring](const Chart& chart) { colouring.add(chart); });
  colouring.assign();
  each_chart(document, [&colouring](Chart& chart) { colouring.paint(chart); });
}

}  // namespace kymo::report
