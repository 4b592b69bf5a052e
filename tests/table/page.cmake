# SPDX-License-Identifier: MIT
# cmake -DPROGRAM=... -DPAGE=... -P page.cmake: the page is what the program prints.
execute_process(COMMAND ${PROGRAM} --markdown OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
file(READ ${PAGE} page)
if(NOT page STREQUAL printed)
  message(FATAL_ERROR "${PAGE} is not what the table has: ${PROGRAM} --markdown > ${PAGE}")
endif()
