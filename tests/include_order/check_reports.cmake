# SPDX-License-Identifier: MIT
# Plants one violation of each rule in a copy of the headers, and requires that check.cmake reports it:
#     cmake -D ROOT=include/fusekit -D WORK=a/scratch/folder -P check_reports.cmake
cmake_minimum_required(VERSION 3.25)

# Appends `planted` to `file` of a fresh copy and requires a failure whose report matches `sentence`.
function(must_report file planted sentence)
  file(REMOVE_RECURSE ${WORK})
  file(COPY ${ROOT}/ DESTINATION ${WORK})
  file(APPEND ${WORK}/${file} "${planted}\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -D ROOT=${WORK} -P ${CMAKE_CURRENT_LIST_DIR}/check.cmake
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  if(status EQUAL 0 OR NOT output MATCHES "${sentence}")
    message(SEND_ERROR "${file}: expected a report that matches '${sentence}', got: ${output}")
  endif()
endfunction()

set(header "// SPDX-License-Identifier: MIT\n#pragma once\n")
string(REPEAT "\n" 298 long)

must_report(error.hpp "#include \"fusekit/tensor/view.hpp\"" "error.hpp: includes .* higher layer")
must_report(tensor/view.hpp "#include \"fusekit/ops/operator.hpp\"" "tensor/view.hpp: includes .* higher layer")
must_report(ops/bias.hpp "#include <fusekit/plan/args.hpp>" "ops/bias.hpp: includes .* higher layer")
must_report(plan/plan.hpp "#include \"fusekit/backend/host/device.hpp\"" "plan/plan.hpp: includes .* higher layer")
must_report(backend/device.hpp "#include \"fusekit/backend/host/run.hpp\"" "device.hpp: includes .* higher layer")
must_report(backend/host/run.hpp "#include \"fusekit/fusekit.hpp\"" "backend/host/run.hpp: includes .* higher layer")
must_report(ops/bias.hpp "#include \"fusekit/ops/scale.hpp\"" "operators know only ops/operator.hpp")
must_report(backend/host/run.hpp "#include \"fusekit/backend/hip/run.hpp\"" "do not know each other")
must_report(backend/hip/run.hpp "${header}#include \"fusekit/backend/host/run.hpp\"" "do not know each other")
must_report(backend/hip/platform.hpp "#include \"fusekit/backend/hip/arch/access.hpp\"" "includes .* higher layer")
must_report(backend/hip/arch/access.hpp "#include \"fusekit/backend/hip/kernel.hpp\"" "includes .* higher layer")
must_report(backend/hip/kernel.hpp "__global__" "__global__: stands 2 times in the headers, and once is right")
must_report(backend/hip/kernel.hpp "__shared__" "__shared__: stands 2 times")
must_report(backend/hip/run.hpp "#ifdef __HIP__\n#endif" "only config.hpp")
must_report(plan/args.hpp "#include \"fusekit/plan/nowhere.hpp\"" "does not exist")
must_report(plan/args.hpp "#include \"name.hpp\"" "includes its headers as")
must_report(plan/args.hpp "#include <fmt/core.h>" "users need no other package")
must_report(plan/args.hpp "#ifdef NDEBUG\n#endif" "only config.hpp")
must_report(plan/args.hpp "#  if 1\n#endif" "only config.hpp")
must_report(plan/args.hpp "#define TWO 2" "only config.hpp")
must_report(elsewhere/new.hpp "${header}" "stands in no layer")
must_report(plan/new.hpp "${header}${long}" "has 301 lines")
must_report(plan/new.hpp "#pragma once" "does not begin with")
