# SPDX-License-Identifier: Apache-2.0
# cmake -DMIGRATIONS=a.sql;b.sql -DTABLES=c.sql -DVIEWS=... -DCATEGORIES=kymo_plugin.h -DOUTPUT=file.cpp -P embed.cmake:
# embeds SQL files in a C++ source file. The view memory_category gets the rows of KYMO_MEMORY_CATEGORIES.

include(${CMAKE_CURRENT_LIST_DIR}/../cmake/embed_text.cmake)

function(append_script variable file)
  get_filename_component(name "${file}" NAME)
  set(pieces "")
  kymo_append_literals(pieces "${file}" kymo_sql "          ")
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

set(tables "")
kymo_append_literals(tables "${TABLES}" kymo_sql "      ")

set(categories "")
set(number 0)
file(READ "${CATEGORIES}" text)
string(REGEX MATCHALL "X\\([A-Z_]+, [A-Za-z]+, [^)]+\\)" rows "${text}")
foreach(row IN LISTS rows)
  string(REGEX REPLACE ".*\"(.+)\", \"(.+)\".*" "('\\1', '\\2', ${number}), " row "${row}")
  string(APPEND categories "${row}")
  math(EXPR number "${number} + 1")
endforeach()

set(views "")
set(all_views "")
foreach(file IN LISTS VIEWS)
  file(READ "${file}" text)
  string(REGEX REPLACE "/\\* KYMO_MEMORY_CATEGORIES \\*/ ([^)]+) 0\\)" "${categories}\\1 ${number})" filled "${text}")
  if(NOT filled STREQUAL text)
    get_filename_component(name "${file}" NAME)
    cmake_path(REPLACE_FILENAME OUTPUT "${name}" OUTPUT_VARIABLE file)
    file(WRITE "${file}" "${filled}")
    set(text "${filled}")
  endif()
  append_script(views "${file}")
  string(APPEND all_views "${text}")
endforeach()
string(SHA256 digest "${all_views}")

file(WRITE "${OUTPUT}" "// SPDX-License-Identifier: Apache-2.0
// Generated from SQL files.
#include \"embedded_schema.hpp\"

#include <initializer_list>

namespace kymo::schemas {
${KYMO_JOINED}

const std::vector<Script>& migrations() {
  static const std::vector<Script> scripts{
${migrations}  };
  return scripts;
}

const std::string& tables() {
  static const std::string sql = joined({${tables}
  });
  return sql;
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
