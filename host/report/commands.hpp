// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/document.hpp"

namespace kymo::report {

/// Adds `--profile PROFILE` to the commands of the document that run the suite, except where the same text names this
/// profile.
void name_profile(Document& document, const std::string& suite, const std::string& profile);

}  // namespace kymo::report
