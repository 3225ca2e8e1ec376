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

file(STRINGS "${KYMO_TORCH}/version.py" kymo_version_lines REGEX "^(__version__|cuda)[ :=]")
foreach(line IN LISTS kymo_version_lines)
  if(line MATCHES "^__version__ = '([0-9.]+)")
    set(KYMO_TORCH_VERSION ${CMAKE_MATCH_1})
  elseif(line MATCHES "^cuda.*= '([0-9.]+)'")
    set(KYMO_TORCH_CUDA_VERSION ${CMAKE_MATCH_1})
  endif()
endforeach()

add_library(kymo_torch INTERFACE)
add_library(kymo::torch ALIAS kymo_torch)
target_include_directories(kymo_torch SYSTEM INTERFACE ${KYMO_TORCH}/include ${KYMO_TORCH}/include/torch/csrc/api/include)
target_compile_definitions(kymo_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=1)
# In kymo's source tree, kymo/torch.hpp is separate from the SDK headers; installed, both are in one directory.
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../core/sdk/torch/include)
  target_include_directories(kymo_torch INTERFACE ${CMAKE_CURRENT_LIST_DIR}/../core/sdk/torch/include)
endif()
# libtorch.so loads the CUDA kernels, so it must remain a dependency although none of its symbols is used.
target_link_libraries(kymo_torch INTERFACE
  -Wl,--push-state,--no-as-needed ${KYMO_TORCH}/lib/libtorch.so -Wl,--pop-state
  ${KYMO_TORCH}/lib/libtorch_cpu.so ${KYMO_TORCH}/lib/libc10.so)
target_link_options(kymo_torch INTERFACE -Wl,--allow-shlib-undefined)

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
