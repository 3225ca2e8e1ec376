# SPDX-License-Identifier: Apache-2.0
# Settings for every target of this tree.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")

find_program(KYMO_CCACHE ccache)
if(KYMO_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache only caches sources with a precompiled header if pch_defines declares that preceding macros do not affect it.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${KYMO_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${KYMO_CCACHE})
endif()

# GCC collects garbage when its heap has 128 MB, again and again for sources that need a gigabyte.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=1048576>)

add_library(kymo_warnings INTERFACE)
target_compile_options(kymo_warnings INTERFACE -Wall -Wextra -Wshadow -Werror $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)

set(KYMO_UNITY_BATCH 24 CACHE STRING "Sources of a component that are compiled as one, at most; 0 stands for all of them")

# kymo_compile_together(TARGET): compiles up to KYMO_UNITY_BATCH sources as one (unity build), because most of the compile time
# is spent on headers and templates that all of them use.
function(kymo_compile_together name)
  if(NOT KYMO_FAST_COMPILE)
    return()
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${KYMO_UNITY_BATCH})
  # GCC treats the anonymous namespace of an included source like that of a header.
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endfunction()

# kymo_component(NAME SOURCES ... ALONE ... LINKS ... PRIVATE_LINKS ...): a component, which is a directory of core/ or
# host/, as a static library. ALONE lists sources that are compiled separately, because names in their anonymous
# namespaces also occur in other sources. Headers are included by their path below core/ or host/; using their code
# requires linking the library.
function(kymo_component name)
  cmake_parse_arguments(component "" "" "SOURCES;ALONE;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${component_SOURCES} ${component_ALONE})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/core ${PROJECT_SOURCE_DIR}/host)
  target_link_libraries(${name} PUBLIC ${component_LINKS} PRIVATE kymo_warnings ${component_PRIVATE_LINKS})
  kymo_reuse_headers(${name} kymo_json_headers)
  set_source_files_properties(${component_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  kymo_compile_together(${name})
endfunction()
