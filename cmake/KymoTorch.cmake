# SPDX-License-Identifier: Apache-2.0
# LibTorch and the CUDA libraries of the torch wheel as imported targets, without a CUDA toolkit:
#   kymo::torch       ATen, autograd, the C++ frontend (CPU and, through libtorch.so, CUDA kernels)
#   kymo::torch_cuda  also the headers and libraries for CUDA
#   kymo::cudart, kymo::cuda_headers
#   kymo::cupti       the libcupti that LibTorch itself uses: a process can only use one
# The torch package is KYMO_TORCH (the directory that contains lib/ and include/), otherwise the one that an installed
# kymo uses, otherwise that of the python3 on PATH.

set(KYMO_TORCH "" CACHE PATH "Directory of the torch package")
if(NOT KYMO_TORCH AND kymo_folder AND EXISTS "${kymo_folder}/bin/kymo")
  execute_process(COMMAND "${kymo_folder}/bin/kymo" torch-folder OUTPUT_VARIABLE kymo_found_torch
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(KYMO_TORCH "${kymo_found_torch}" CACHE PATH "Directory of the torch package" FORCE)
endif()
if(NOT KYMO_TORCH)
  execute_process(
    COMMAND python3 -c "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '', end='')"
    OUTPUT_VARIABLE kymo_found_torch)
  set(KYMO_TORCH "${kymo_found_torch}" CACHE PATH "Directory of the torch package" FORCE)
endif()
if(NOT EXISTS "${KYMO_TORCH}/lib/libtorch.so")
  message(FATAL_ERROR "no LibTorch at '${KYMO_TORCH}': pass -DKYMO_TORCH=DIR, the directory of the torch package, or add a python3 with torch to PATH")
endif()

# kymo_read_torch_version(FOLDER VERSION CUDA_VERSION): sets the variables to the versions of a torch package and of its
# CUDA; both are empty if they are unknown.
function(kymo_read_torch_version folder version cuda_version)
  set(${version} "" PARENT_SCOPE)
  set(${cuda_version} "" PARENT_SCOPE)
  set(lines "")
  if(EXISTS "${folder}/version.py")
    file(STRINGS "${folder}/version.py" lines REGEX "^(__version__|cuda)[ :=]")
  endif()
  foreach(line IN LISTS lines)
    if(line MATCHES "^__version__ = '([0-9.]+)")
      set(${version} ${CMAKE_MATCH_1} PARENT_SCOPE)
    elseif(line MATCHES "^cuda.*= '([0-9.]+)'")
      set(${cuda_version} ${CMAKE_MATCH_1} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# kymo_add_torch(TARGET FOLDER): adds an interface library for LibTorch of a torch package.
function(kymo_add_torch target folder)
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${folder}/include ${folder}/include/torch/csrc/api/include)
  target_compile_definitions(${target} INTERFACE _GLIBCXX_USE_CXX11_ABI=1)
  # In kymo's source tree, kymo/torch.hpp is separate from the SDK headers; installed, both are in one directory.
  if(EXISTS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../core/sdk/torch/include)
    target_include_directories(${target} INTERFACE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../core/sdk/torch/include)
  endif()
  # libtorch.so loads the CUDA kernels, so it must remain a dependency although none of its symbols is used.
  target_link_libraries(${target} INTERFACE
    -Wl,--push-state,--no-as-needed ${folder}/lib/libtorch.so -Wl,--pop-state
    ${folder}/lib/libtorch_cpu.so ${folder}/lib/libc10.so)
  target_link_options(${target} INTERFACE -Wl,--allow-shlib-undefined)
endfunction()

kymo_read_torch_version("${KYMO_TORCH}" KYMO_TORCH_VERSION KYMO_TORCH_CUDA_VERSION)
# Another version can be installed in the same directory.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${KYMO_TORCH}/version.py)
kymo_add_torch(kymo_torch "${KYMO_TORCH}")
add_library(kymo::torch ALIAS kymo_torch)

get_filename_component(kymo_site_packages ${KYMO_TORCH} DIRECTORY)
set(KYMO_CUDA_ROOT ${kymo_site_packages}/nvidia/cu13 CACHE PATH "Directory of the CUDA wheels (contains include/ and lib/)")
add_library(kymo_cuda_headers INTERFACE)
add_library(kymo::cuda_headers ALIAS kymo_cuda_headers)
target_include_directories(kymo_cuda_headers SYSTEM INTERFACE ${KYMO_CUDA_ROOT}/include)

add_library(kymo_cudart INTERFACE)
add_library(kymo::cudart ALIAS kymo_cudart)
target_link_libraries(kymo_cudart INTERFACE kymo_cuda_headers ${KYMO_CUDA_ROOT}/lib/libcudart.so.13)

add_library(kymo_cupti INTERFACE)
add_library(kymo::cupti ALIAS kymo_cupti)
target_link_libraries(kymo_cupti INTERFACE kymo_cuda_headers ${KYMO_CUDA_ROOT}/lib/libcupti.so.13)

add_library(kymo_torch_cuda_side INTERFACE)
add_library(kymo::torch_cuda ALIAS kymo_torch_cuda_side)
target_link_libraries(kymo_torch_cuda_side INTERFACE kymo_torch kymo_cudart ${KYMO_TORCH}/lib/libtorch_cuda.so ${KYMO_TORCH}/lib/libc10_cuda.so)

# The libnccl that LibTorch itself uses.
add_library(kymo_nccl INTERFACE)
add_library(kymo::nccl ALIAS kymo_nccl)
target_include_directories(kymo_nccl SYSTEM INTERFACE ${kymo_site_packages}/nvidia/nccl/include)
target_link_libraries(kymo_nccl INTERFACE kymo_cudart ${kymo_site_packages}/nvidia/nccl/lib/libnccl.so.2)
