// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "report/definition.hpp"
#include "report/document.hpp"
#include "report/result.hpp"
#include "report/text_table.hpp"

namespace kymo::report {

/// What a command prints: the tables and lists of reports/terminal/NAME.toml of the installation. Their queries read a
/// database, or JSON in their parameters.
class Output {
 public:
  using Parameters = std::vector<std::pair<std::string, std::string>>;  ///< name and value, as for query()

  Output(const std::string& name, const store::ResultsDatabase& database, const Parameters& parameters);
  /// From JSON alone.
  Output(const std::string& name, const Parameters& parameters);

  const Document& document() const { return document_; }
  /// The rows of each table and list that has a key `name`.
  const Json& json() const { return json_; }

 private:
  Document document_;
  Json json_ = Json::object();
};

/// The text of an output from JSON alone.
std::string output_text(const std::string& name, const Output::Parameters& parameters, const TextStyle& style);

}  // namespace kymo::report
