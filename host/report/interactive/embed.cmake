# SPDX-License-Identifier: Apache-2.0
# cmake "-DSCRIPTS=a.js;b.js" -DOUTPUT=file.cpp -P embed.cmake: joins scripts into one function scope and writes it into a C++ source.

include(${CMAKE_CURRENT_LIST_DIR}/../../../cmake/embed_text.cmake)

set(pieces "")
foreach(file IN LISTS SCRIPTS)
  file(READ "${file}" text)
  get_filename_component(name "${file}" NAME)
  if(text MATCHES "</[Ss][Cc][Rr][Ii][Pp][Tt]")
    message(FATAL_ERROR "${name} holds the end mark of a script element")
  endif()
  kymo_append_literals(pieces "${file}" kymo_js "      ")
endforeach()

file(WRITE "${OUTPUT}" "// SPDX-License-Identifier: Apache-2.0
// Generated from the scripts in host/report/interactive.
#include <initializer_list>

#include \"report/interactive.hpp\"

namespace kymo::report {
namespace {

std::string joined(std::initializer_list<const char*> pieces) {
  std::string text;
  for (const char* piece : pieces) text += piece;
  return text;
}

}  // namespace

const std::string& interactive_script() {
  static const std::string script = joined({\"\\n(() => {\\n\\\"use strict\\\";\\n\",${pieces}
      \"})();\\n\"});
  return script;
}

}  // namespace kymo::report
")
