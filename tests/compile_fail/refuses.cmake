# cmake -DREASON=... (and what check.cmake takes) -P refuses.cmake: check.cmake itself fails, and says REASON.
execute_process(
  COMMAND ${CMAKE_COMMAND} -DCOMPILER=${COMPILER} -DOPTIONS=${OPTIONS} -DFAMILY=${FAMILY} -DSOURCE=${SOURCE}
          -DTWIN=${TWIN} -DLINES=12 -DBYTES=2048 -P ${CMAKE_CURRENT_LIST_DIR}/check.cmake
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(FIND "${output}" "${REASON}" at)
if(code EQUAL 0 OR at EQUAL -1)
  message(FATAL_ERROR "expected a failure that says \"${REASON}\", got code ${code}:\n${output}")
endif()
