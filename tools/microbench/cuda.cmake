# The target `microbench`. nvcc is called by rules of our own instead of as a CMake language: enabling CUDA would cost
# every configuration seconds, and fail it where the compiler does not suit nvcc, though hardly anyone builds this.
# Sets microbench_missing to what keeps it from being built, or to nothing.
set(microbench_missing "")
if(SERVECAST_MICROBENCH STREQUAL OFF)
  set(microbench_missing "SERVECAST_MICROBENCH is OFF")
  return()
endif()

find_program(SERVECAST_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin /usr/local/cuda/bin)
if(SERVECAST_NVCC)
  execute_process(COMMAND ${SERVECAST_NVCC} --version OUTPUT_VARIABLE nvcc_text ERROR_QUIET)
  string(REGEX MATCH "release ([0-9.]+)" ignored "${nvcc_text}")
  set(nvcc_version "${CMAKE_MATCH_1}")
  get_filename_component(cuda_bin ${SERVECAST_NVCC} DIRECTORY)
  get_filename_component(cuda_root ${cuda_bin} DIRECTORY)
  find_library(SERVECAST_CUDART cudart_static HINTS ${cuda_root}/lib64 ${cuda_root}/lib NO_DEFAULT_PATH)
  find_library(SERVECAST_CUBLASLT cublasLt HINTS ${cuda_root}/lib64 ${cuda_root}/lib)
  find_library(SERVECAST_NCCL nccl HINTS ${cuda_root}/lib64 ${cuda_root}/lib)
  find_path(SERVECAST_NCCL_INCLUDE nccl.h HINTS ${cuda_root}/include)
endif()
if(NOT SERVECAST_NVCC)
  set(microbench_missing "nvcc was not found")
elseif(nvcc_version VERSION_LESS 13)
  set(microbench_missing "nvcc is ${nvcc_version}, 13 or later is needed")
elseif(NOT SERVECAST_CUDART OR NOT SERVECAST_CUBLASLT)
  set(microbench_missing "cudart_static or cublasLt was not found beside nvcc")
endif()
if(microbench_missing)
  if(SERVECAST_MICROBENCH STREQUAL ON)
    message(FATAL_ERROR "microbench cannot be built: ${microbench_missing}")
  endif()
  return()
endif()

set(nvcc_flags
  -std=c++20 -O2 --expt-relaxed-constexpr -I${CMAKE_SOURCE_DIR}/tools
  -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_100a,code=sm_100a
  -gencode arch=compute_80,code=compute_80  # what other GPUs compile for themselves
  # the toolkit's own FP4 header leaves parameters unused
  -Xcompiler -Wall,-Wextra,-Wshadow,-Wno-unused-parameter)
set(kernel_objects "")
foreach(name attention fill latency memory moe quantise)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.cu.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${SERVECAST_NVCC} ${nvcc_flags} -MD -MF ${object}.d -MT ${object}
            -c ${CMAKE_CURRENT_SOURCE_DIR}/cuda/${name}.cu -o ${object}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/cuda/${name}.cu DEPFILE ${object}.d
    COMMENT "Compiling ${name}.cu" VERBATIM)
  list(APPEND kernel_objects ${object})
endforeach()
set_source_files_properties(${kernel_objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)

set(nccl_source cuda/nccl_absent.cpp)
if(SERVECAST_NCCL AND SERVECAST_NCCL_INCLUDE)
  set(nccl_source cuda/nccl.cpp)
endif()
add_executable(microbench EXCLUDE_FROM_ALL
  cuda/cuda_device.cpp
  cuda/main.cpp
  cuda/measure_attention.cpp
  cuda/measure_chase.cpp
  cuda/measure_copies.cpp
  cuda/measure_experts.cpp
  cuda/measure_far_side.cpp
  cuda/measure_gemm.cpp
  cuda/measure_launches.cpp
  cuda/measure_power.cpp
  cuda/measure_quantise.cpp
  cuda/measure_streams.cpp
  ${nccl_source}
  cuda/nvml.cpp
  cuda/products_state.cpp
  cuda/timing.cpp
  ${kernel_objects})
target_include_directories(microbench SYSTEM PRIVATE ${cuda_root}/include)
find_package(Threads REQUIRED)
target_link_libraries(microbench PRIVATE microbench_host ${SERVECAST_CUBLASLT} ${SERVECAST_CUDART} Threads::Threads ${CMAKE_DL_LIBS} rt)
if(nccl_source STREQUAL cuda/nccl.cpp)
  target_include_directories(microbench SYSTEM PRIVATE ${SERVECAST_NCCL_INCLUDE})
  target_link_libraries(microbench PRIVATE ${SERVECAST_NCCL})
endif()
set_target_properties(microbench PROPERTIES LINKER_LANGUAGE CXX)
add_executable(fatbin_targets EXCLUDE_FROM_ALL targets/fatbin_targets.cpp)
target_link_libraries(fatbin_targets PRIVATE servecast_options)
