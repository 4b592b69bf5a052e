# SPDX-License-Identifier: MIT
# Installs what BUILD describes and moves it to WORK/prefix: an installed tree works wherever it stands.
file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/before_the_move
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${WORK}/before_the_move ${WORK}/prefix)
