# SPDX-License-Identifier: Apache-2.0
# CUDA C++ without CMake's CUDA language, which requires a full toolkit and a linkable driver: uses nvcc from the CUDA
# wheels with one command per source. Requires KymoTorch (KYMO_CUDA_ROOT, kymo::cudart).

set(KYMO_NVCC ${KYMO_CUDA_ROOT}/bin/nvcc CACHE FILEPATH "CUDA compiler")
find_program(KYMO_PYTHON NAMES python3)

# kymo_cuda_objects(OUTPUT FOR gpus SOURCES sources... INCLUDES folders... DEPENDS files...): object files of .cu sources.
#   hopper    machine code for sm_90a only
#   portable  machine code for sm_80 and sm_90a, and PTX for compute_80, which the driver compiles for later GPUs
# Without KYMO_CUDA_MACHINE_CODE, they hold PTX alone, without optimizations: for machines without a GPU, where compiling shall
# find errors, and nothing executes the kernels.
# Code is compressed to a fifth, which needs a driver for CUDA 12.4 or later; LibTorch needs a later one.
function(kymo_cuda_objects output)
  cmake_parse_arguments(cuda "" "FOR" "SOURCES;INCLUDES;DEPENDS" ${ARGN})
  if(NOT cuda_FOR MATCHES "^(hopper|portable)$")
    message(FATAL_ERROR "kymo_cuda_objects: FOR '${cuda_FOR}' is neither hopper nor portable")
  endif()
  if(KYMO_CUDA_MACHINE_CODE)
    set(hopper -gencode arch=compute_90a,code=sm_90a)
    set(portable -gencode arch=compute_80,code=[sm_80,compute_80] ${hopper})
  else()
    set(hopper -Xcicc -O0 -gencode arch=compute_90a,code=compute_90a)
    set(portable -Xcicc -O0 -gencode arch=compute_80,code=compute_80)
  endif()
  list(TRANSFORM cuda_INCLUDES PREPEND -I)
  set(objects)
  foreach(source IN LISTS cuda_SOURCES)
    get_filename_component(name ${source} NAME)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${KYMO_NVCC} -ccbin ${CMAKE_CXX_COMPILER} -std=c++20 -O3 ${${cuda_FOR}} --compress-mode=size
        -Werror all-warnings
        -Xcompiler=-fPIC,-fvisibility=hidden ${cuda_INCLUDES} -MD -MF ${object}.d -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${cuda_DEPENDS}
      DEPFILE ${object}.d
      COMMENT "CUDA ${source}"
      VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set(${output} ${objects} PARENT_SCOPE)
endfunction()
