# SPDX-License-Identifier: MIT
# Options with which a clang++ compiles HIP for AMD targets.
set(FUSEKIT_ROCM_PATH "" CACHE PATH "Where ROCm is installed, if the compiler does not find it by itself")

# fusekit_find_amd_compiler(CLANG OPTIONS LACKING TARGET...): finds a clang++ on this machine that compiles HIP programs
# for every TARGET, and its options. If there is none, CLANG is empty, and LACKING names what is missing.
function(fusekit_find_amd_compiler clang options lacking)
  find_program(FUSEKIT_HIP_CLANGXX clang++ NO_DEFAULT_PATH DOC "A clang++ that knows HIP, with its tools beside it"
    PATHS ${FUSEKIT_ROCM_PATH}/llvm/bin /opt/rocm/llvm/bin
          /usr/lib/llvm-21/bin /usr/lib/llvm-20/bin /usr/lib/llvm-19/bin)
  find_path(FUSEKIT_HIP_INCLUDE hip/hip_runtime.h PATHS ${FUSEKIT_ROCM_PATH}/include /opt/rocm/include)
  set(found "")
  if(NOT FUSEKIT_HIP_CLANGXX)
    set(missing "clang++ that knows HIP (Debian: clang-19 lld-19 clang-tools-19 llvm-19)")
  elseif(NOT FUSEKIT_HIP_INCLUDE)
    set(missing "HIP runtime (Debian: libamdhip64-dev)")
  else()
    fusekit_amd_options(found ${FUSEKIT_HIP_CLANGXX} ${ARGN})
    if(DEFINED found)
      set(${clang} ${FUSEKIT_HIP_CLANGXX} PARENT_SCOPE)
      set(${options} "${found}" PARENT_SCOPE)
      set(${lacking} "" PARENT_SCOPE)
      return()
    endif()
    set(missing "ROCm device libraries (Debian: rocm-device-libs)")
  endif()
  set(${clang} "" PARENT_SCOPE)
  set(${options} "" PARENT_SCOPE)
  set(${lacking} "${missing}" PARENT_SCOPE)
endfunction()

# fusekit_amd_options(RESULT CLANG TARGET...): the options with which CLANG compiles for every TARGET. Undefines RESULT
# if there are none.
function(fusekit_amd_options result clang)
  set(rocm_option "")
  if(FUSEKIT_ROCM_PATH)
    set(rocm_option --rocm-path=${FUSEKIT_ROCM_PATH})
  endif()
  fusekit_amd_compiles(works ${clang} "${ARGN}" ${rocm_option})
  if(works)
    set(${result} "${rocm_option}" PARENT_SCOPE)
    return()
  endif()
  set(libraries ${PROJECT_BINARY_DIR}/amd_device_libraries)
  fusekit_amd_device_libraries(${libraries} ${clang} ${ARGN})
  set(options --rocm-path=/usr --rocm-device-lib-path=${libraries})
  fusekit_amd_compiles(works ${clang} "${ARGN}" ${options})
  if(works)
    set(${result} "${options}" PARENT_SCOPE)
  else()
    unset(${result} PARENT_SCOPE)
  endif()
endfunction()

# fusekit_amd_compiles(RESULT CLANG TARGETS OPTION...): true if CLANG compiles for TARGETS with the options.
function(fusekit_amd_compiles result clang targets)
  list(TRANSFORM targets PREPEND --offload-arch=)
  execute_process(COMMAND ${clang} -xhip ${targets} ${ARGN} --cuda-device-only -c "-###"
                          ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
                  RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(status EQUAL 0)
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# fusekit_amd_device_libraries(FOLDER CLANG TARGET...): fills FOLDER with links to the distribution's device libraries,
# and with a library for each TARGET that is newer than they are. That library is one constant: the target's number,
# with its three parts weighted by 1000, 100 and 1.
function(fusekit_amd_device_libraries folder clang)
  file(GLOB libraries /usr/lib/*/amdgcn/bitcode/*.bc /usr/lib/amdgcn/bitcode/*.bc)
  file(MAKE_DIRECTORY ${folder})
  foreach(library IN LISTS libraries)
    get_filename_component(name ${library} NAME)
    file(CREATE_LINK ${library} ${folder}/${name} SYMBOLIC)
  endforeach()
  foreach(target IN LISTS ARGN)
    string(REGEX REPLACE "^gfx([0-9]+)([0-9a-f])([0-9a-f])$" "\\1;\\2;0x\\3" parts "${target}")
    list(GET parts 0 major)
    list(GET parts 1 minor)
    list(GET parts 2 stepping)
    math(EXPR number "${major} * 1000 + ${minor} * 100 + ${stepping}")
    string(REPLACE gfx "" version ${target})
    set(library ${folder}/oclc_isa_version_${version})
    if(EXISTS ${library}.bc)
      continue()
    endif()
    file(WRITE ${library}.ll
      "@__oclc_ISA_version = linkonce_odr protected local_unnamed_addr addrspace(4) constant i32 ${number}, align 4\n")
    execute_process(COMMAND ${clang} --target=amdgcn-amd-amdhsa -nogpulib -x ir -emit-llvm -c ${library}.ll
                            -o ${library}.bc
                    ERROR_VARIABLE errors RESULT_VARIABLE status)
    if(NOT status EQUAL 0)
      message(STATUS "no device library for ${target}: ${errors}")
    endif()
  endforeach()
endfunction()
