# SPDX-License-Identifier: Apache-2.0
# find_package(kymo): kymo::sdk, kymo::abi, kymo::comm (where kymo was built with LibTorch) and kymo_add_plugin(), from wherever this
# folder was moved to.
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
  # A workload is there to be measured: without optimisation its figures say nothing.
  set(CMAKE_BUILD_TYPE Release)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/KymoPlugin.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/kymoComm.cmake OPTIONAL)
