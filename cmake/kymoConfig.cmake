# SPDX-License-Identifier: Apache-2.0
# find_package(kymo): provides kymo::sdk, kymo::abi, kymo::comm (if kymo was built with LibTorch) and kymo_add_plugin().
# The package is relocatable.
get_filename_component(kymo_folder "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET kymo::abi)
  add_library(kymo::abi INTERFACE IMPORTED)
  set_target_properties(kymo::abi PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${kymo_folder}/include/kymo/abi")
  add_library(kymo::sdk INTERFACE IMPORTED)
  set_target_properties(kymo::sdk PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${kymo_folder}/include"
    INTERFACE_COMPILE_FEATURES cxx_std_20
    INTERFACE_LINK_LIBRARIES kymo::abi)
endif()
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  # Measurements of an unoptimized workload would be meaningless.
  set(CMAKE_BUILD_TYPE Release)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/KymoPlugin.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/kymoComm.cmake OPTIONAL)
