# SPDX-License-Identifier: Apache-2.0
find_package(GTest REQUIRED)
include(GoogleTest)

# Every test program of the label `unit`: CTest gives the cases of a program that was not built no label, and would skip them.
add_custom_target(kymo_unit_tests)

# kymo_test(NAME LABEL label [TORCH] SOURCES ... LINKS ...): one GoogleTest program whose cases CTest sees one by one.
# TORCH: its sources include LibTorch.
function(kymo_test name)
  cmake_parse_arguments(test "TORCH" "LABEL;TIMEOUT" "SOURCES;LINKS;ENVIRONMENT" ${ARGN})
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()
  add_executable(${name} ${test_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE KYMO_SOURCE_DIR="${PROJECT_SOURCE_DIR}" KYMO_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_link_libraries(${name} PRIVATE kymo_warnings ${test_LINKS} GTest::gmock GTest::gtest_main)
  if(test_TORCH)
    kymo_reuse_headers(${name} kymo_torch_test_headers)
  else()
    kymo_reuse_headers(${name} kymo_test_headers)
  endif()
  kymo_compile_together(${name})
  # A busy machine takes longer to load LibTorch than the five seconds that are the default.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
    PROPERTIES LABELS "${test_LABEL}" TIMEOUT ${test_TIMEOUT} ENVIRONMENT "${test_ENVIRONMENT}")
  if("unit" IN_LIST test_LABEL)
    add_dependencies(kymo_unit_tests ${name})
  endif()
endfunction()
