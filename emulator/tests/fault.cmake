# SPDX-License-Identifier: MIT
# Runs PROGRAM FAULT, which must fail and print WORDS, a regular expression.
execute_process(COMMAND ${PROGRAM} ${FAULT} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(status STREQUAL "0")
  message(FATAL_ERROR "${FAULT} ends well:\n${text}")
elseif(NOT text MATCHES "${WORDS}")
  message(FATAL_ERROR "${FAULT} ends (${status}) without saying ${WORDS}:\n${text}")
endif()
