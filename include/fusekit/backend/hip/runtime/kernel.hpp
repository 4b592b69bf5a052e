// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "fusekit/backend/hip/arch/maximum.hpp"
#include "fusekit/backend/hip/arch/target.hpp"

namespace fusekit::hip {

/// Type: tag (arch/tags.hpp) of the GPUs on which a mainloop runs: Mainloop::Architecture, else any.
template <class Mainloop>
struct NeededArchitecture {
    using Type = arch::Any;
};
template <class Mainloop>
    requires requires { typename Mainloop::Architecture; }
struct NeededArchitecture<Mainloop> {
    using Type = typename Mainloop::Architecture;
};

/// True if, on sm_90a, this mainloop never runs because the library and callers use another one. The compiler pass for
/// sm_90a then generates no code for it.
template <class Mainloop>
inline constexpr bool yields_to_matrix_units = false;
template <class Mainloop>
    requires requires { Mainloop::yields_to_matrix_units; }
inline constexpr bool yields_to_matrix_units<Mainloop> = Mainloop::yields_to_matrix_units;

/// True if this compiler pass generates code for a mainloop.
template <class Mainloop>
inline constexpr bool is_compiled = arch::has<typename NeededArchitecture<Mainloop>::Type> &&
                                    !(arch::is_for_sm90a_alone && yields_to_matrix_units<Mainloop>);

/// Concept of mainloops with dynamic shared memory, because they need more than the static limit of 48 KB.
template <class Mainloop>
concept HasDynamicShared = requires { typename Mainloop::DynamicShared; };
template <class Mainloop>
inline constexpr unsigned dynamic_shared_bytes = 0;
template <HasDynamicShared Mainloop>
inline constexpr unsigned dynamic_shared_bytes<Mainloop> = sizeof(typename Mainloop::DynamicShared);

/// Element type of dynamic shared memory in all kernels: 1024 bytes, aligned to 1024 bytes.
struct alignas(1024) SharedLine {
    unsigned char bytes[1024];
};

/// Runs a mainloop with the shared memory that it declares, static or dynamic.
template <class Mainloop>
__device__ __forceinline__ void run_mainloop(typename Mainloop::Params const& params) {
    if constexpr (is_compiled<Mainloop> && HasDynamicShared<Mainloop>) {
        HIP_DYNAMIC_SHARED(SharedLine, lines)
        Mainloop::run(params, *reinterpret_cast<typename Mainloop::DynamicShared*>(lines), threadIdx.x, blockIdx.x);
    } else if constexpr (is_compiled<Mainloop>) {
        __shared__ typename Mainloop::Shared shared;
        Mainloop::run(params, shared, threadIdx.x, blockIdx.x);
    }
}

/// Number of Amax operators of a plan; in a kernel each thread has a maximum for each of them.
template <class Plan>
inline constexpr int maxima_of = 0;
template <class Plan>
    requires requires { Plan::maxima; }
inline constexpr int maxima_of<Plan> = Plan::maxima;

/// Sets the thread's maxima (arch/maximum.hpp) to 0 before the mainloop, and merges those of all threads after it.
template <class Plan, class Mainloop, int... number>
__device__ __forceinline__ void run_with_maxima(typename Mainloop::Params const& params,
                                                std::integer_sequence<int, number...>) {
    static_assert(Mainloop::threads <= max_maxima,
                  "with Amax a block has 256 threads at most on AMD's GPUs, 512 on NVIDIA's");
    ((maximum_of_thread<number>() = 0), ...);
    run_mainloop<Mainloop>(params);
    (merge_maximum<number>(Plan::template maximum<number>(params.bound)), ...);
}
template <class Plan, class Mainloop>
__device__ __forceinline__ void run_plan(typename Mainloop::Params const& params) {
    if constexpr (!is_compiled<Mainloop> || maxima_of<Plan> == 0) run_mainloop<Mainloop>(params);
    else run_with_maxima<Plan, Mainloop>(params, std::make_integer_sequence<int, maxima_of<Plan>>{});
}

/// Concept of mainloops that use the address of their kernel argument, as TMA does for tensor maps. The argument is
/// __grid_constant__: the compiler makes no local copy of it, but loads some fields again that it would otherwise keep
/// in registers.
template <class Mainloop>
concept ReadsArgumentInPlace = requires { requires Mainloop::reads_argument_in_place; };

template <class Mainloop>
inline constexpr int bound_threads = is_compiled<Mainloop> ? Mainloop::threads : 1;
template <class Mainloop>
inline constexpr int bound_residency = arch::Target::processor.residency(Mainloop::blocks);

/// The library's kernel: runs a plan on a schedule's mainloop. Two overloads: the argument is passed by value, or used
/// at its address (ReadsArgumentInPlace). The kernel's name contains the plan, so that a profiler's trace names the
/// layer. For GPUs that lack the mainloop's architecture the kernel is empty, and a launch of more than one thread
/// fails.
template <class Plan, class Mainloop>
    requires(!ReadsArgumentInPlace<Mainloop>)
__global__ void __launch_bounds__(bound_threads<Mainloop>, bound_residency<Mainloop>)
    fused(typename Mainloop::Params params) {
    run_plan<Plan, Mainloop>(params);
}
template <class Plan, ReadsArgumentInPlace Mainloop>
__global__ void __launch_bounds__(bound_threads<Mainloop>, bound_residency<Mainloop>)
    fused(FUSEKIT_GRID_CONSTANT typename Mainloop::Params params) {
    run_plan<Plan, Mainloop>(params);
}

/// Kernel of a plan that is compiled at run time (src/jit/), in place of fused<Plan, Mainloop>: a specialization has
/// address(), a pointer that names the kernel. `later` is true for such plans.
template <class Plan>
struct CompiledLater {
    static constexpr bool later = false;
};

}  // namespace fusekit::hip
