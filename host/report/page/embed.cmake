# SPDX-License-Identifier: Apache-2.0
# cmake -DSTYLE=a.css -DSCRIPT=a.js -DOUTPUT=file.cpp -P embed.cmake: writes a style sheet, and a script in a function
# scope, into a C++ source.

include(${CMAKE_CURRENT_LIST_DIR}/../../../cmake/embed_text.cmake)

# append_part(VARIABLE FILE MARK ELEMENT): appends the file as literals; the text must not contain the end tag of its
# element.
function(append_part variable file mark element)
  file(READ "${file}" text)
  string(TOLOWER "${text}" lower)
  if(lower MATCHES "</${element}")
    get_filename_component(name "${file}" NAME)
    message(FATAL_ERROR "${name} contains </${element}, which would end the element")
  endif()
  set(pieces "${${variable}}")
  kymo_append_literals(pieces "${file}" ${mark} "      ")
  set(${variable} "${pieces}" PARENT_SCOPE)
endfunction()

set(style "")
append_part(style "${STYLE}" kymo_css style)
set(script "")
append_part(script "${SCRIPT}" kymo_js script)

file(WRITE "${OUTPUT}" "// SPDX-License-Identifier: Apache-2.0
// Generated from the files in host/report/page.
#include \"report/interactive.hpp\"

#include <initializer_list>

namespace kymo::report {
${KYMO_JOINED}

const std::string& page_style() {
  static const std::string style = joined({\"\\n\",${style}
  });
  return style;
}

const std::string& page_script() {
  static const std::string script = joined({\"\\n(() => {\\n\\\"use strict\\\";\\n\",${script}
      \"})();\\n\"});
  return script;
}

}  // namespace kymo::report
")
