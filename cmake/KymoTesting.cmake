# SPDX-License-Identifier: Apache-2.0
find_package(GTest REQUIRED)
include(GoogleTest)

set(KYMO_TEST_OPTIONS "" CACHE STRING "Compiler options of test programs only")

# Limit of every test, in seconds. It ends tests that hang; none takes a fifth of it on two idle processors.
set(KYMO_HANG_S 1800)

# Builds all test programs with the label `unit`.
add_custom_target(kymo_unit_tests)

# kymo_test(NAME LABEL label [TORCH] [LONG] SOURCES ... LINKS ...): a GoogleTest program. A program with the label `unit` is one CTest
# test, because starting a process, above all one that loads LibTorch, takes longer than most of its cases; select cases with
# build/tests/NAME --gtest_filter=PATTERN. The cases of all other programs are separate CTest tests.
# TORCH: its sources include LibTorch. LONG: a unit test that takes so long that it should start before most others.
function(kymo_test name)
  cmake_parse_arguments(test "TORCH;LONG" "LABEL" "SOURCES;LINKS;ENVIRONMENT" ${ARGN})
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
  # The code under test is in libraries. Precompiled headers for programs must have the same options.
  target_compile_options(${name} PRIVATE -O0 ${KYMO_TEST_OPTIONS})
  if("unit" IN_LIST test_LABEL)
    add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
    # Several programs run at a time. LibTorch's threads would spin on the processors that the others need.
    list(APPEND test_ENVIRONMENT OMP_NUM_THREADS=1)
    set_tests_properties(${name} PROPERTIES
      LABELS "${test_LABEL}" TIMEOUT ${KYMO_HANG_S} ENVIRONMENT "${test_ENVIRONMENT}")
    if(test_LONG)
      set_tests_properties(${name} PROPERTIES COST 100)
    endif()
    add_dependencies(kymo_unit_tests ${name})
  else()
    # On a busy machine, loading LibTorch takes longer than the default of five seconds.
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT ${KYMO_HANG_S} PROPERTIES
      LABELS "${test_LABEL}" COST 10 TIMEOUT ${KYMO_HANG_S} ENVIRONMENT "${test_ENVIRONMENT}")
  endif()
endfunction()
