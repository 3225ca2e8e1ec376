# SPDX-License-Identifier: Apache-2.0
# Precompiled headers: headers that many sources include and that take longest to parse. Each set is compiled once and
# reused by all targets with the same flags. Sources still include what they use:
# docs/decisions/0013-unity-builds.md.

# kymo_header_set(NAME HEADERS headers... LINKS libraries... [EXECUTABLE]): an object library with one precompiled header.
# EXECUTABLE: for sources of programs, which CMake compiles with -fPIE instead of -fPIC.
function(kymo_header_set name)
  cmake_parse_arguments(set "EXECUTABLE" "" "HEADERS;LINKS" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Holds the precompiled header ${name}.\n")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE kymo_warnings ${set_LINKS})
  target_precompile_headers(${name} PRIVATE ${set_HEADERS})
  # kymo_comm is installed with code from a precompiled header, and must not contain the path of the build directory.
  target_compile_options(${name} PRIVATE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
  if(set_EXECUTABLE)
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIE -O0 ${KYMO_TEST_OPTIONS})  # as in kymo_test()
  endif()
endfunction()

# kymo_reuse_headers(TARGET SET): compiles the C++ sources of TARGET with the precompiled header of SET.
function(kymo_reuse_headers target set)
  if(KYMO_FAST_COMPILE)
    target_precompile_headers(${target} REUSE_FROM ${set})
  endif()
endfunction()

set(kymo_standard_headers <algorithm> <array> <atomic> <chrono> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <mutex>
  <optional> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>)
set(kymo_tensor_headers <ATen/Context.h> <ATen/TensorOperators.h> <ATen/core/Tensor.h> <ATen/core/grad_mode.h>
  <ATen/ops/empty.h> <ATen/ops/zeros.h>)

kymo_header_set(kymo_json_headers HEADERS ${kymo_standard_headers} <nlohmann/json.hpp>)
if(KYMO_TORCH_PARTS)
  kymo_header_set(kymo_torch_headers HEADERS ${kymo_standard_headers} ${kymo_tensor_headers} LINKS kymo::torch)
endif()
if(KYMO_TESTS)
  kymo_header_set(kymo_test_headers EXECUTABLE HEADERS ${kymo_standard_headers} <nlohmann/json.hpp> <gmock/gmock.h> <gtest/gtest.h>
    LINKS GTest::gmock)
  if(KYMO_TORCH_PARTS)
    kymo_header_set(kymo_torch_test_headers EXECUTABLE
      HEADERS ${kymo_standard_headers} ${kymo_tensor_headers} <gmock/gmock.h> <gtest/gtest.h> LINKS GTest::gmock kymo::torch)
  endif()
endif()
