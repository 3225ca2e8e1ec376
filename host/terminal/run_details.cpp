// SPDX-License-Identifier: Apache-2.0
#include "terminal/run_details.hpp"

#include "report/renderer.hpp"

namespace kymo::terminal {

report::Output observed(const std::string& name, const store::ResultsDatabase& database, std::int64_t run_id,
                        const std::string& file) {
  return {name, database, {{"run", std::to_string(run_id)}, {"database", database_option(file)}}};
}

std::string program_text(const store::ResultsDatabase& database, const Json& results, const std::string& file,
                         const TextStyle& style) {
  std::string text = results_text(results, style, file);
  if (results.empty()) return text;
  const auto last = results.back()["run_id"].get<std::int64_t>();
  const std::string found = text_of(observed("observed", database, last, file).document(), style);
  return found.empty() ? text : text + "\n" + found;
}

}  // namespace kymo::terminal
