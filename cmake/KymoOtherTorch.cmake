# SPDX-License-Identifier: Apache-2.0
# Versions of LibTorch besides that of kymo::torch, for which the collector modules that need LibTorch and kymo's operators are
# also built:
# KYMO_OTHER_TORCH lists their torch packages. For each minor version in KYMO_OTHER_TORCH_VERSIONS there are the interface
# libraries kymo_torch_MAJOR.MINOR and kymo_torch_cuda_MAJOR.MINOR. Only headers and libraries of the packages are used,
# so they need not be importable.
set(KYMO_OTHER_TORCH "" CACHE STRING
  "Directories of torch packages of other versions, under which Python workloads and programs can also be observed")
set(KYMO_OTHER_TORCH_VERSIONS "")
string(REGEX MATCH "^[0-9]+[.][0-9]+" kymo_own_minor "${KYMO_TORCH_VERSION}")
foreach(folder IN LISTS KYMO_OTHER_TORCH)
  set(hint "KYMO_OTHER_TORCH must be empty or list directories 'torch' of site-packages, each of a minor version other \
than ${kymo_own_minor}")
  kymo_read_torch_version("${folder}" other_version other_cuda_version)
  if(NOT EXISTS "${folder}/lib/libtorch.so" OR NOT other_version)
    message(FATAL_ERROR "no torch package with version.py and lib/libtorch.so at '${folder}': ${hint}")
  endif()
  string(REGEX MATCH "^[0-9]+[.][0-9]+" minor "${other_version}")
  if(minor STREQUAL kymo_own_minor OR minor IN_LIST KYMO_OTHER_TORCH_VERSIONS)
    message(FATAL_ERROR "the torch package at '${folder}' is torch ${other_version}, a second one of torch ${minor}: ${hint}")
  endif()
  list(APPEND KYMO_OTHER_TORCH_VERSIONS ${minor})
  kymo_add_torch(kymo_torch_${minor} "${folder}")
  add_library(kymo_torch_cuda_${minor} INTERFACE)
  # The CUDA runtime is that of the build: its functions have the same ABI in all of CUDA 13.
  target_link_libraries(kymo_torch_cuda_${minor} INTERFACE kymo_torch_${minor} kymo_cudart)
  if(EXISTS "${folder}/lib/libc10_cuda.so")
    target_link_libraries(kymo_torch_cuda_${minor} INTERFACE ${folder}/lib/libtorch_cuda.so ${folder}/lib/libc10_cuda.so)
    set_property(TARGET kymo_torch_cuda_${minor} PROPERTY KYMO_IS_COMPLETE ON)
  endif()
  message(STATUS "Collector modules and operators are also built for torch ${other_version} in ${folder}")
endforeach()
# These directories say which other versions can be used, so remove those of earlier configurations.
file(GLOB folders ${PROJECT_BINARY_DIR}/lib/kymo/modules/torch-* ${PROJECT_BINARY_DIR}/lib/kymo/operators/torch-*)
foreach(minor IN LISTS KYMO_OTHER_TORCH_VERSIONS)
  list(FILTER folders EXCLUDE REGEX "/torch-${minor}$")
endforeach()
if(folders)
  file(REMOVE_RECURSE ${folders})
endif()
