# SPDX-License-Identifier: Apache-2.0
# Included by scripts that embed text files in C++ sources.

# C++ function that joins the literals to one std::string, for the generated source.
set(KYMO_JOINED "namespace {

std::string joined(std::initializer_list<const char*> pieces) {
  std::string text;
  for (const char* piece : pieces) text += piece;
  return text;
}

}  // namespace")

# kymo_append_literals(VARIABLE FILE MARK INDENT): appends the file as raw string literals R"MARK(...)MARK", one per
# line after the indent. Compilers limit the length of a literal, so each file is split at line ends into pieces below
# 15 KB.
function(kymo_append_literals variable file mark indent)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" text)
  if(text MATCHES "\\)${mark}\"")
    message(FATAL_ERROR "${name} contains the end delimiter of its string literals: )${mark}\"")
  endif()
  set(pieces "${${variable}}")
  string(LENGTH "${text}" length)
  while(length GREATER 0)
    string(SUBSTRING "${text}" 0 15000 piece)
    if(length GREATER 15000)
      string(FIND "${piece}" "\n" cut REVERSE)
      if(cut EQUAL -1)
        message(FATAL_ERROR "${name} contains a line of more than 15,000 bytes")
      endif()
      math(EXPR cut "${cut} + 1")
      string(SUBSTRING "${text}" 0 ${cut} piece)
    endif()
    string(LENGTH "${piece}" taken)
    string(SUBSTRING "${text}" ${taken} -1 text)
    string(LENGTH "${text}" length)
    string(APPEND pieces "\n${indent}R\"${mark}(${piece})${mark}\",")
  endwhile()
  set(${variable} "${pieces}" PARENT_SCOPE)
endfunction()
