// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kymo::report {

/// Style sheet of the HTML report.
extern const char* const kHtmlStyle;

}  // namespace kymo::report
