# SPDX-License-Identifier: Apache-2.0
# kymo_add_plugin(NAME [TORCH | TORCH_CUDA] sources...): adds a workload plugin, NAME.so.
#   TORCH       link LibTorch; the plugin only runs with the LibTorch version it was built with
#   TORCH_CUDA  also link the CUDA runtime and LibTorch's CUDA libraries; the plugin may then link kymo::comm to communicate between ranks
# In kymo's source tree, the library is placed next to the other plugins, otherwise in the current binary directory.
# LibTorch is the package in KYMO_TORCH (variable or environment), otherwise the one that `kymo build` uses.

# Included inside a function, so global properties make the versions available to later calls.
macro(kymo_require_torch)
  if(NOT TARGET kymo::torch)
    if(NOT KYMO_TORCH AND DEFINED ENV{KYMO_TORCH})
      set(KYMO_TORCH "$ENV{KYMO_TORCH}" CACHE PATH "Directory of the torch package" FORCE)
    endif()
    include(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/KymoTorch.cmake)
  endif()
  if(KYMO_TORCH_VERSION)
    set_property(GLOBAL PROPERTY KYMO_TORCH_VERSION "${KYMO_TORCH_VERSION}")
    set_property(GLOBAL PROPERTY KYMO_TORCH_CUDA_VERSION "${KYMO_TORCH_CUDA_VERSION}")
  endif()
  get_property(plugin_torch_version GLOBAL PROPERTY KYMO_TORCH_VERSION)
  get_property(plugin_cuda_version GLOBAL PROPERTY KYMO_TORCH_CUDA_VERSION)
endmacro()

# Defines the contents of the library's ELF note, which kymo reads without loading the library.
function(kymo_describe_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 plugin "TORCH;TORCH_CUDA" "" "")
  if(PROJECT_VERSION)
    set(version "${PROJECT_VERSION}")
  else()
    set(version "0")
  endif()
  target_compile_definitions(${name} PRIVATE KYMO_PLUGIN_NAME="${name}" KYMO_PLUGIN_VERSION="${version}")
  if(plugin_TORCH OR plugin_TORCH_CUDA)
    kymo_require_torch()
    target_compile_definitions(${name} PRIVATE
      KYMO_PLUGIN_FRAMEWORK="libtorch" KYMO_PLUGIN_FRAMEWORK_VERSION="${plugin_torch_version}")
  endif()
  if(plugin_TORCH_CUDA)
    target_compile_definitions(${name} PRIVATE KYMO_PLUGIN_CUDA_VERSION="${plugin_cuda_version}")
    target_link_libraries(${name} PRIVATE kymo::torch_cuda)
  elseif(plugin_TORCH)
    target_link_libraries(${name} PRIVATE kymo::torch)
  endif()
endfunction()

function(kymo_add_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 plugin "TORCH;TORCH_CUDA" "" "")
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "kymo_add_plugin: '${name}' is not a valid plugin name: use lowercase letters, digits and '_', starting with a letter")
  endif()
  if(NOT plugin_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "kymo_add_plugin(${name}): no sources given")
  endif()
  add_library(${name} MODULE ${plugin_UNPARSED_ARGUMENTS})
  target_compile_features(${name} PRIVATE cxx_std_20)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kymo_plugin.version)
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX ".so"
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON
    # Find libraries next to the plugin. kymo provides the location of LibTorch to its workers.
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN"
    LINK_DEPENDS ${script})
  target_link_options(${name} PRIVATE -Wl,--version-script=${script})
  if(NOT "${CMAKE_CXX_FLAGS} ${CMAKE_MODULE_LINKER_FLAGS}" MATCHES "-fsanitize")
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()

  if(TARGET kymo_sdk)
    target_link_libraries(${name} PRIVATE kymo_sdk kymo_warnings)
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${kymo_BINARY_DIR}/lib/kymo/plugins)
    set_property(GLOBAL APPEND PROPERTY KYMO_PLUGINS ${name})
    if(plugin_TORCH OR plugin_TORCH_CUDA)
      kymo_reuse_headers(${name} kymo_torch_headers)
      kymo_compile_together(${name})
    endif()
  else()
    target_link_libraries(${name} PRIVATE kymo::sdk)
    set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endif()

  set(options)
  if(plugin_TORCH)
    list(APPEND options TORCH)
  endif()
  if(plugin_TORCH_CUDA)
    list(APPEND options TORCH_CUDA)
  endif()
  kymo_describe_plugin(${name} ${options})
endfunction()
