# SPDX-License-Identifier: Apache-2.0
# Installs the package and mirrors it in the build tree, so that both can be used in the same way. Component
# `development` contains headers, CMake package and template; modules and reports are installed by their own
# directories.
include(CMakePackageConfigHelpers)

# Headers are linked individually, because include/kymo/ merges several source directories.
function(kymo_mirror_headers source destination)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${source} ${source}/*.h ${source}/*.hpp)
  foreach(header IN LISTS headers)
    get_filename_component(folder ${PROJECT_BINARY_DIR}/${destination}/${header} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${source}/${header} ${PROJECT_BINARY_DIR}/${destination}/${header} SYMBOLIC)
  endforeach()
  install(DIRECTORY ${source}/ DESTINATION ${destination} COMPONENT development FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
endfunction()

kymo_mirror_headers(${PROJECT_SOURCE_DIR}/core/abi include/kymo/abi)
kymo_mirror_headers(${PROJECT_SOURCE_DIR}/core/sdk/include include)
kymo_mirror_headers(${PROJECT_SOURCE_DIR}/core/sdk/torch/include include)

if(TARGET kymo_comm)
  kymo_mirror_headers(${PROJECT_SOURCE_DIR}/core/sdk/comm/include include)
  string(REGEX MATCH "^[0-9]+[.][0-9]+" KYMO_COMM_TORCH "${KYMO_TORCH_VERSION}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/kymoComm.cmake.in ${PROJECT_BINARY_DIR}/lib/cmake/kymo/kymoComm.cmake @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/lib/cmake/kymo/kymoComm.cmake DESTINATION lib/cmake/kymo COMPONENT development)
  install(TARGETS kymo_comm ARCHIVE DESTINATION lib COMPONENT development)
endif()

set(kymo_package_files kymoConfig.cmake KymoPlugin.cmake KymoTorch.cmake kymo_plugin.version)
list(TRANSFORM kymo_package_files PREPEND ${PROJECT_SOURCE_DIR}/cmake/)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lib/cmake/kymo/kymoConfigVersion.cmake COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
foreach(file IN LISTS kymo_package_files)
  configure_file(${file} ${PROJECT_BINARY_DIR}/lib/cmake/kymo COPYONLY)
endforeach()
install(FILES ${kymo_package_files} ${PROJECT_BINARY_DIR}/lib/cmake/kymo/kymoConfigVersion.cmake
  DESTINATION lib/cmake/kymo COMPONENT development)

# Files that `kymo new` copies.
foreach(file CMakeLists.txt CMakePresets.json saxpy.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/plugins/_template/${file} ${PROJECT_BINARY_DIR}/share/kymo/template/${file} COPYONLY)
endforeach()
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/kymo/template DESTINATION share/kymo COMPONENT development)

foreach(component runtime development)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION share/doc/kymo COMPONENT ${component})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION share/doc/kymo COMPONENT ${component} PATTERN "*.py" EXCLUDE)
endforeach()

# The Python package creates views from these scripts and reads their documentation.
foreach(folder migrations views)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/kymo/schemas)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/schemas/${folder} ${PROJECT_BINARY_DIR}/share/kymo/schemas/${folder} SYMBOLIC)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/schemas/${folder} DESTINATION share/kymo/schemas COMPONENT runtime)
endforeach()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/doc/kymo)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/docs ${PROJECT_BINARY_DIR}/share/doc/kymo/docs SYMBOLIC)

# `kymo completion` prints these scripts; shells find them in these directories.
foreach(script bash:bash-completion/completions/kymo zsh:zsh/site-functions/_kymo fish:fish/vendor_completions.d/kymo.fish)
  string(REGEX MATCH "^([a-z]+):(.*)/([^/]+)$" _ ${script})
  set(source ${PROJECT_SOURCE_DIR}/host/cli/completion/kymo.${CMAKE_MATCH_1})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/${CMAKE_MATCH_2})
  file(CREATE_LINK ${source} ${PROJECT_BINARY_DIR}/share/${CMAKE_MATCH_2}/${CMAKE_MATCH_3} SYMBOLIC)
  install(FILES ${source} DESTINATION share/${CMAKE_MATCH_2} RENAME ${CMAKE_MATCH_3} COMPONENT runtime)
endforeach()

if(TARGET kymo)
  install(TARGETS kymo RUNTIME DESTINATION bin COMPONENT runtime)
endif()
get_property(kymo_plugins GLOBAL PROPERTY KYMO_PLUGINS)
foreach(plugin IN LISTS kymo_plugins)
  get_target_property(folder ${plugin} LIBRARY_OUTPUT_DIRECTORY)
  if(folder STREQUAL "${PROJECT_BINARY_DIR}/lib/kymo/plugins")  # test plugins are in other directories
    install(TARGETS ${plugin} LIBRARY DESTINATION lib/kymo/plugins COMPONENT runtime)
  endif()
endforeach()
