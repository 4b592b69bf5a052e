// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "fusekit/backend/hip/arch/maximum.hpp"
#include "fusekit/backend/hip/arch/target.hpp"

namespace fusekit::hip {

/// The tag of GPUs that a mainloop needs: its Architecture, where it has one.
template <class Mainloop>
struct NeededArchitecture {
    using Type = arch::Any;
};
template <class Mainloop>
    requires requires { typename Mainloop::Architecture; }
struct NeededArchitecture<Mainloop> {
    using Type = typename Mainloop::Architecture;
};

/// Whether sm_90a's GPUs run another mainloop wherever they could run this one.
template <class Mainloop>
inline constexpr bool yields_to_matrix_units = false;
template <class Mainloop>
    requires requires { Mainloop::yields_to_matrix_units; }
inline constexpr bool yields_to_matrix_units<Mainloop> = Mainloop::yields_to_matrix_units;

/// Whether this pass of the compiler makes code of a mainloop.
template <class Mainloop>
inline constexpr bool is_compiled = arch::has<typename NeededArchitecture<Mainloop>::Type> &&
                                    !(arch::is_for_sm90a_alone && yields_to_matrix_units<Mainloop>);

/// A mainloop whose shared memory is more than a kernel may declare: the launch asks for it.
template <class Mainloop>
concept HasDynamicShared = requires { typename Mainloop::DynamicShared; };
template <class Mainloop>
inline constexpr unsigned dynamic_shared_bytes = 0;
template <HasDynamicShared Mainloop>
inline constexpr unsigned dynamic_shared_bytes<Mainloop> = sizeof(typename Mainloop::DynamicShared);

/// What dynamic shared memory is declared as, by all kernels alike: it begins at a multiple of 1024 bytes.
struct alignas(1024) SharedLine {
    unsigned char bytes[1024];
};

/// Runs a mainloop in the block's shared memory.
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

/// How many maxima a plan's operators keep.
template <class Plan>
inline constexpr int maxima_of = 0;
template <class Plan>
    requires requires { Plan::maxima; }
inline constexpr int maxima_of<Plan> = Plan::maxima;

/// A thread's are 0 before, and merged after.
template <class Plan, class Mainloop, int... number>
__device__ __forceinline__ void run_with_maxima(typename Mainloop::Params const& params,
                                                std::integer_sequence<int, number...>) {
    static_assert(Mainloop::threads <= most_maxima,
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

/// A mainloop that takes the address of its argument, for bulk copies. It does not have a copy of it, but reads parts
/// of it again that other kernels keep.
template <class Mainloop>
concept ReadsArgumentInPlace = requires { requires Mainloop::reads_argument_in_place; };

template <class Mainloop>
inline constexpr int bound_threads = is_compiled<Mainloop> ? Mainloop::threads : 1;
template <class Mainloop>
inline constexpr int bound_residency = arch::Target::processor.residency(Mainloop::blocks);

/// The kernel of the library, in two forms: it runs a plan on the mainloop of a schedule. Its name is the layer, so a
/// profiler's trace reads as the plan. For GPUs that lack what the mainloop needs it is empty, the mainloop is not
/// compiled, and no launch of more than one thread succeeds.
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

}  // namespace fusekit::hip
