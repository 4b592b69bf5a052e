# SPDX-License-Identifier: MIT
# Sources of the test programs: tests_of_<program>. A test is a .cpp at the path of what it tests, and a glob finds it.
# It is in the programs of the first line of `table` whose regular expression matches its path; where no line does, in
# hip_parts under backend/hip, else in `rest`. A program with a + is left out of a quick run.
#
# rest and arithmetic are fusekit_tests; `arithmetic` has the functions and operators whose results optimisation may
# change. vectors is fusekit_property, which depends on the vector width, and long_sums its tests that are too slow for
# sanitizers. plans: plans by the hundred. support: the oracle and what runs the tests.
set(table
  "backend/host/allocations                                                                      allocations"
  "backend/host/(conv_(channel|pixel)_lanes|depthwise_lanes|few_pixels|gemm|lane_coord|pack)      vectors"
  "backend/host/(pointwise|pooling)                                                              vectors"
  "backend/host/(property|tile_totals|vector)|ops/batch_norm/training                            vectors"
  "backend/host/reduction                                                                        long_sums"
  "support/forms_(bfloat16|float|half)                                                           vectors"
  "support/forms_.*|math|backend/host/(double|run)                                               arithmetic"
  "support/layer_plans                                                                           rest"
  "support/.*                                                                                    support"
  "ops/(activation.*|batch_norm/.*|slope)                                                        arithmetic"
  "plan/(grammar|slope)                                                                          plans"
  "runtime/allocations                                                                           runtime_allocations"
  "runtime/emulated                                                                              runtime_cpu"
  "runtime/host_by_cpu                                                                           host_by_cpu"
  "runtime/.*                                                                                    runtime"
  # compat_plans: also run by the emulator. compat: the others, which know no device or need most of the ready-made plans.
  "compat/(example|guide|plans)                                                                  compat_plans"
  "compat/failures                                                                               compat_cpu"
  "compat/found_plan                                                                             compat_found_plan"
  "compat/fuzz                                                                                   compat_fuzz"
  "compat/jit                                                                                    compat_jit"
  "compat/.*                                                                                     compat"
  # hip_parts: the layers of kernels, one at a time. hip_waves: operators, on sm_80 and gfx90a, with waves of 32 and 64
  # lanes. hip: on an H200. hip_plans: there too, plans of many types and windows. hip_cpu, hip_waves_cpu and hip_gpu: on
  # the emulator only, or on a GPU only.
  "backend/hip/(allocations|runtime/errors)                                                      hip_cpu"
  "backend/hip/large/.*                                                                          hip_gpu"
  "backend/hip/threads                                                                           hip_threads"
  "backend/hip/grammar                                                                           hip_grammar"
  "backend/hip/(float8|forms_.*|graph|int8|property)                                             hip_property"
  "backend/hip/(backward|channel_statistics|ops|outputs|pooled_outputs)                            hip_waves"
  "backend/hip/mainloop/reduction                                                                  hip_waves"
  "backend/hip/(synchronized|training)                                                           hip_waves"
  "backend/hip/dispatch/reduction                                                                hip_waves_cpu"
  "backend/hip/(collapse|element_types.*|transposed)                                              hip_plans"
  "backend/hip/dispatch/fold_patches                                                             sm_90a"
  "backend/hip/(batched_gemm|conv_limits|conv_phases|dispatch/.*|empty|gemm|hip_conv|in_place)    hip"
  "backend/hip/(prepared|runtime/device|schedule|slabs|transposed_phases)                         hip"
  # Kernels for matrix units, by the targets that they are compiled for.
  "backend/hip/(atom/tf32|mma/.*|pipeline/.*)                                                    sm_90a"
  "backend/hip/copy/(bf16x3_split|copied_rows|nchw_.*|packed_taps|plane_pipeline)                sm_90a"
  "backend/hip/copy/(halo_(box|groups)|strip_.*|fast_.*|tiled_halo|tma_.*|transposed_filters)    sm_90a"
  "backend/hip/epilogue/(gathered_store|halo_pool|nchw_.*|phased_store|plane_group_store|pool_stage|tma_.*)  sm_90a"
  "backend/hip/(collective/tile_order|statistics/(cluster_totals|grid_shares|grid_totals))       sm_90a"
  "backend/hip/statistics/(channel_totals_view|total_channels)                                   sm_90a"
  "backend/hip/mainloop/(bulk_weight_gradient|cluster_reduction|float8|float_planes|halo|planes) sm_90a"
  "backend/hip/mainloop/(depthwise_halo|few_pixels|persistent)_weight_gradient                   sm_90a"
  "backend/hip/mainloop/(phased_(halo|warp_specialized)|st(em(_weight_gradient)?|rip_halo)|warp_.*) sm_90a"
  "backend/hip/mainloop/(col2im|gemv_transposed|stream_k_tail|tall_(gemm|planes)|tma_planes)     sm_90a"
  "backend/hip/(channel_slices|mainloop/gathered_planes)                                           sm_90a"
  "backend/hip/mainloop/grouped                                                                  sm_90a +sm_80"
  "backend/hip/mainloop/grouped_(tma|transposed|weight_gradient)                                 sm_90a"
  "backend/hip/(epilogue/split_tile|mainloop/split_gemm)                                          split"
  "backend/hip/atom/native                        sm_80 gfx90a +gfx1100 +gfx908 +gfx942 +gfx1201"
  "backend/hip/atom/native_products               sm_80 gfx90a +gfx1100"
  "backend/hip/mainloop/gemv                      hip_parts gfx90a"
  "backend/hip/mainloop/(channel_pooling|image_rows)                                    sm_90a gfx90a"
  "backend/hip/mainloop/image_row_gradient                                              sm_90a"
  "backend/hip/mainloop/resident_row_gradient                                          sm_90a gfx90a"
  "backend/hip/mainloop/native_weight_gradient.*  +sm_80 +gfx90a +gfx1100"
  "backend/hip/(atom/half_factors|copy/amd/(channel_operands|transposed_filters))      gfx90a +gfx1100"
  "backend/hip/mainloop/weight_gradient_packets                                        gfx90a +gfx1100"
  "backend/hip/copy/amd/tap_operands                                                   +gfx90a gfx1100"
  "backend/hip/copy/amd/.*                                                             gfx90a"
  "backend/hip/atom/dot                                                                gfx1030")

set(programs rest arithmetic vectors long_sums plans support allocations runtime runtime_allocations runtime_cpu
  host_by_cpu compat compat_plans compat_cpu compat_found_plan compat_fuzz compat_jit hip_parts hip hip_cpu hip_gpu hip_plans hip_threads hip_grammar
  hip_property hip_waves
  hip_waves_cpu sm_90a split sm_80 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1201)

set(here ${CMAKE_CURRENT_LIST_DIR})
set(folders backend bench ops plan problem support tensor)
list(TRANSFORM folders REPLACE "(.+)" "${here}/\\1/*.cpp" OUTPUT_VARIABLE globs)
file(GLOB tests RELATIVE ${here} CONFIGURE_DEPENDS ${here}/*.cpp ${here}/compat/*.cpp ${here}/runtime/*.cpp)
file(GLOB_RECURSE in_folders RELATIVE ${here} CONFIGURE_DEPENDS ${globs})
set(unmatched ${table})
foreach(test IN LISTS tests in_folders)
  set(programs_of_test rest)
  if(test MATCHES "^backend/hip/")
    set(programs_of_test hip_parts)
  endif()
  foreach(line IN LISTS table)
    string(REGEX MATCH "^([^ ]+) +(.+)$" match ${line})
    set(listed ${CMAKE_MATCH_2})
    if(test MATCHES "^(${CMAKE_MATCH_1})\\.cpp$")
      string(REPLACE " " ";" programs_of_test ${listed})
      list(REMOVE_ITEM unmatched ${line})
      break()
    endif()
  endforeach()
  foreach(program IN LISTS programs_of_test)
    if(program MATCHES "^\\+" AND FUSEKIT_QUICK_TESTS)
      continue()
    endif()
    string(REPLACE "+" "" program ${program})
    if(NOT program IN_LIST programs)
      message(FATAL_ERROR "tests/programs.cmake: ${test}: expected programs among ${programs}, got ${program}")
    endif()
    list(APPEND tests_of_${program} ${here}/${test})
  endforeach()
endforeach()
if(unmatched)
  message(FATAL_ERROR "tests/programs.cmake: expected a test for each line of the table, got none for ${unmatched}")
endif()
