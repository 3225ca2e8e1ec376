// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/definition.hpp"
#include "report/document.hpp"
#include "report/prose.hpp"

namespace kymo::report {

/// Runs the queries of a definition and builds the document from their rows. A query without rows produces its `empty`
/// sentence as a notice. Throws UsageError with the file of a query that fails or does not match its header comment.
Document build_document(const ReportDefinition& definition, const QueryFunction& query, const std::string& provenance);

}  // namespace kymo::report
