# SPDX-License-Identifier: MIT
# fusekit_install_export(NAME DESTINATION ARGUMENT...): install(EXPORT). CMake 3.25 writes ${_IMPORT_PREFIX}/ before a
# file set's directory even if CMAKE_INSTALL_INCLUDEDIR is absolute: this removes it.
function(fusekit_install_export name destination)
  install(EXPORT ${name} NAMESPACE fusekit:: DESTINATION ${destination} ${ARGN})
  if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(folder ${destination})
    if(NOT IS_ABSOLUTE "${folder}")
      string(PREPEND folder "\${CMAKE_INSTALL_PREFIX}/")
    endif()
    install(CODE "
      set(file \"\$ENV{DESTDIR}${folder}/${name}.cmake\")
      file(READ \"\${file}\" text)
      string(REPLACE [[\${_IMPORT_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}]] [[${CMAKE_INSTALL_INCLUDEDIR}]] text \"\${text}\")
      file(WRITE \"\${file}\" \"\${text}\")" ${ARGN})
  endif()
endfunction()
