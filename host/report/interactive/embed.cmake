# SPDX-License-Identifier: Apache-2.0
# cmake "-DSCRIPTS=a.js;b.js" -DOUTPUT=file.cpp -P embed.cmake: joins scripts into one function scope and writes it into a C++ source.

# Compilers limit the length of one literal, so each file becomes pieces of whole lines below 15 KB.
set(pieces "")
foreach(file IN LISTS SCRIPTS)
  file(READ "${file}" text)
  get_filename_component(name "${file}" NAME)
  if(text MATCHES "\\)kymo_js\"" OR text MATCHES "</[Ss][Cc][Rr][Ii][Pp][Tt]")
    message(FATAL_ERROR "${name} holds the end mark of a literal, )kymo_js\", or of a script element")
  endif()
  string(LENGTH "${text}" length)
  while(length GREATER 0)
    string(SUBSTRING "${text}" 0 15000 piece)
    if(length GREATER 15000)
      string(FIND "${piece}" "\n" cut REVERSE)
      if(cut EQUAL -1)
        message(FATAL_ERROR "${name} holds a line of more than 15,000 bytes")
      endif()
      math(EXPR cut "${cut} + 1")
      string(SUBSTRING "${text}" 0 ${cut} piece)
    endif()
    string(LENGTH "${piece}" taken)
    string(SUBSTRING "${text}" ${taken} -1 text)
    string(LENGTH "${text}" length)
    string(APPEND pieces "\n      R\"kymo_js(${piece})kymo_js\",")
  endwhile()
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
