// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// The style sheet and the script of the HTML report, from the files in host/report/page.
namespace kymo::report {

/// The content of the <style> element.
const std::string& page_style();

/// The content of the <script> element.
const std::string& page_script();

/// The script's hash as a source expression of a Content-Security-Policy: 'sha256-…'.
std::string page_script_source();

}  // namespace kymo::report
