// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace kymo::report {

/// Whether a text consists of ASCII letters, digits, - and _.
bool is_name(std::string_view text);

/// Whether a text names a file of a report or of a neighboring one: NAME.EXTENSION or ../REPORT/NAME.EXTENSION.
/// `extension` has no dot.
bool is_report_file(std::string_view text, std::string_view extension);

}  // namespace kymo::report
