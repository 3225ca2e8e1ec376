// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/definition.hpp"
#include "report/document.hpp"
#include "report/prose.hpp"

namespace kymo::report {

/// Runs the queries of a definition and makes the document of their rows. What has no rows leaves its `empty` sentence
/// as a notice. Throws UsageError naming the file of a query that is wrong or does not match its header comment.
Document build_document(const ReportDefinition& definition, const QueryFunction& query, const std::string& provenance);

}  // namespace kymo::report
