# SPDX-License-Identifier: MIT
# Translation units of several sources, so that a template that several of them instantiate is compiled once.
option(FUSEKIT_UNITE_TESTS "Compile several tests in a translation unit: less work in all, more after a change" OFF)

# unite_target(<target> <number>): compiles <number> sources of a library in each unit. Their names must not collide.
function(unite_target target number)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${FUSEKIT_UNITE_TESTS} UNITY_BUILD_BATCH_SIZE ${number})
endfunction()

# unite(<result> <number> <test>...): units with up to <number> tests each; with FUSEKIT_UNITE_TESTS off, the tests. Each
# test keeps its names in a namespace of its own: a unit first includes all headers that its tests include, whose guards
# then make the tests' own includes empty. Tests remain units if they define a namespace, macros or names of other
# libraries, instantiate a template explicitly, or have compile options or include folders of their own; and so do sources
# of support/, whose functions other units call.
function(unite result number)
  set(alone "")
  set(together "")
  foreach(test IN LISTS ARGN)
    set(own "")
    foreach(property COMPILE_OPTIONS INCLUDE_DIRECTORIES SKIP_PRECOMPILE_HEADERS)
      get_source_file_property(value ${test} ${property})
      if(value)
        list(APPEND own ${property})
      endif()
    endforeach()
    file(STRINGS ${test} own_namespace REGEX "^(namespace [a-z:_]+ {|template [^<]|typedef |struct __|#define )")
    if(own OR own_namespace OR test MATCHES "/support/[a-z_]+\\.cpp$" OR NOT FUSEKIT_UNITE_TESTS)
      list(APPEND alone ${test})
    else()
      list(APPEND together ${test})
    endif()
  endforeach()

  list(LENGTH together left)
  set(unit 0)
  while(left GREATER 0)
    list(SUBLIST together 0 ${number} tests)
    list(REMOVE_ITEM together ${tests})
    list(LENGTH together left)
    set(includes "")
    set(bodies "")
    foreach(test IN LISTS tests)
      file(STRINGS ${test} lines REGEX "^#include")
      list(APPEND includes ${lines})
      file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/tests ${test})
      string(MAKE_C_IDENTIFIER ${name} name)
      string(APPEND bodies "namespace ${name} {\n#include \"${test}\"\n}\n")
    endforeach()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tests})  # for changed includes
    list(REMOVE_DUPLICATES includes)
    list(JOIN includes "\n" includes)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/united/${result}/${unit}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "${includes}\n\n${bodies}" @ONLY)
    # g++ warns of types that use an anonymous namespace in a file that is included.
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    list(APPEND alone ${source})
    math(EXPR unit "${unit} + 1")
  endwhile()
  set(${result} ${alone} PARENT_SCOPE)
endfunction()
