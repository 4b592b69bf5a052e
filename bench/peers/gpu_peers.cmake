# SPDX-License-Identifier: MIT
# Peers of the HIP backend.

# cuDNN 9, in CUDNN_ROOT or in Python's package nvidia-cudnn. Its headers are included without warnings.
if(FUSEKIT_GPU STREQUAL "nvidia")
  set(CUDNN_ROOT "" CACHE PATH "Folder with cuDNN's include and lib")
  if(NOT CUDNN_ROOT)
    execute_process(COMMAND python3 -c "import nvidia.cudnn; print(list(nvidia.cudnn.__path__)[0])"
                    OUTPUT_VARIABLE cudnn_package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  find_path(CUDNN_INCLUDE_DIR cudnn.h HINTS ${CUDNN_ROOT} ${cudnn_package} PATH_SUFFIXES include)
  find_library(CUDNN_LIBRARY NAMES libcudnn.so.9 cudnn HINTS ${CUDNN_ROOT} ${cudnn_package} PATH_SUFFIXES lib lib64)
  if(CUDNN_INCLUDE_DIR AND CUDNN_LIBRARY)
    add_executable(peer_cudnn peers/cudnn_algorithms.cpp peers/cudnn_engines.cpp)
    target_compile_options(peer_cudnn PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall>)
    target_include_directories(peer_cudnn SYSTEM PRIVATE ${CUDNN_INCLUDE_DIR}
                                                         ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
    set(types float half bfloat16 int8)
    list(TRANSFORM types REPLACE "(.+)" "peers/cudnn_types/\\1.cpp")
    fusekit_gpu_sources(peer_cudnn peers/cudnn.cpp ${types})
    # cuDNN loads its parts and cuBLAS at run time, from folders beside it in Python's packages; only DT_RPATH applies
    # to those.
    get_filename_component(folder ${CUDNN_LIBRARY} DIRECTORY)
    file(GLOB beside ${folder}/../../*/lib)
    list(JOIN beside ":" beside)
    target_link_libraries(peer_cudnn PRIVATE bench_gpu ${CUDNN_LIBRARY})
    target_link_options(peer_cudnn PRIVATE -Wl,--disable-new-dtags,-rpath,${folder}:${beside})
  else()
    message(STATUS "cuDNN is not here (set CUDNN_ROOT): no peer_cudnn")
  endif()
endif()

# Loaded by inductor.py and training.py, and by block.py.
foreach(name inductor_plans block_plans)
  add_library(${name} SHARED)
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE fusekit::fusekit)
  target_compile_options(${name} PRIVATE -O3)
  fusekit_gpu_sources(${name} peers/${name}.cpp)
endforeach()
