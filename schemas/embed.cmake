# SPDX-License-Identifier: Apache-2.0
# cmake -DMIGRATIONS=a.sql;b.sql -DVIEWS=... -DOUTPUT=file.cpp -P embed.cmake: writes SQL files into a C++ source.

# Compilers limit the length of one literal, so each file becomes pieces of whole lines below 15 KB.
function(append_script variable file)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" text)
  if(text MATCHES "\\)kymo_sql\"")
    message(FATAL_ERROR "${name} holds the end mark of the literals it is embedded in: )kymo_sql\"")
  endif()
  set(pieces "")
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
    string(APPEND pieces "\n          R\"kymo_sql(${piece})kymo_sql\",")
  endwhile()
  set(${variable} "${${variable}}      {\"${name}\", joined({${pieces}\n      })},\n" PARENT_SCOPE)
endfunction()

set(migrations "")
set(number 0)
foreach(file IN LISTS MIGRATIONS)
  math(EXPR number "${number} + 1")
  get_filename_component(name "${file}" NAME)
  if(NOT name MATCHES "^0*${number}_[a-z0-9_]+\\.sql$")
    message(FATAL_ERROR "migration ${name} is not number ${number}: migrations are named 0001_subject.sql, 0002_subject.sql ... without a gap")
  endif()
  append_script(migrations "${file}")
endforeach()

set(views "")
set(all_views "")
foreach(file IN LISTS VIEWS)
  append_script(views "${file}")
  file(READ "${file}" text)
  string(APPEND all_views "${text}")
endforeach()
string(SHA256 digest "${all_views}")

file(WRITE "${OUTPUT}" "// SPDX-License-Identifier: Apache-2.0
// Generated from the SQL files of this folder.
#include \"embedded_schema.hpp\"

#include <initializer_list>

namespace kymo::schemas {
namespace {

std::string joined(std::initializer_list<const char*> pieces) {
  std::string text;
  for (const char* piece : pieces) text += piece;
  return text;
}

}  // namespace

const std::vector<Script>& migrations() {
  static const std::vector<Script> scripts{
${migrations}  };
  return scripts;
}

const std::vector<Script>& views() {
  static const std::vector<Script> scripts{
${views}  };
  return scripts;
}

const std::string& views_digest() {
  static const std::string digest = \"${digest}\";
  return digest;
}

}  // namespace kymo::schemas
")
