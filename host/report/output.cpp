// SPDX-License-Identifier: Apache-2.0
#include "report/output.hpp"

#include <map>

#include "base/installation.hpp"
#include "report/build.hpp"
#include "report/renderer.hpp"

namespace kymo::report {

Output::Output(const std::string& name, const store::ResultsDatabase& database, const Parameters& parameters) {
  const ReportDefinition definition =
      read_output_definition(installation().share / "reports" / "terminal" / (name + ".toml"));
  std::map<std::string, Result> results;  // by statement
  document_ = build_document(
      definition,
      [&](const std::string& sql) {
        const auto [found, is_new] = results.try_emplace(sql);
        if (is_new) found->second = database.query(sql, parameters);
        return found->second;
      },
      "");
  const auto add = [&](const QueryFile& query) {
    if (!query.output_name.empty()) json_[query.output_name] = json_rows(results.at(query.sql));
  };
  for (const SectionSpec& section : definition.sections) {
    for (const QueryFile& table : section.tables) add(table);
    for (const ListSpec& list : section.lists) add(list.query);
  }
}

Output::Output(const std::string& name, const Parameters& parameters)
    : Output(name, store::ResultsDatabase(), parameters) {}

std::string output_text(const std::string& name, const Output::Parameters& parameters, const TextStyle& style) {
  return text_of(Output(name, parameters).document(), style);
}

}  // namespace kymo::report
