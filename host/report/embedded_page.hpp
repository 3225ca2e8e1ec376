// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// The style sheet and the script of the HTML report, which are files of host/report/page.
namespace kymo::report {

/// The style sheet, as it stands between <style> and </style>.
const std::string& page_style();

/// The script, as it stands between <script> and </script>.
const std::string& page_script();

/// The script's hash as a source expression of a Content-Security-Policy: 'sha256-…'.
std::string page_script_source();

}  // namespace kymo::report
