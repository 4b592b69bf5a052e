// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/hip.hpp"

namespace fusekit::jit {

/// A kernel before it is compiled: the mainloop that the cost model selected, as text. The backend passes the address
/// of a KernelEntry where it would pass that of a __global__ function.
struct KernelEntry {
    char const* mainloop;  ///< text_of() the mainloop
    char const* plan;      ///< of the plan in it
    char const* element;   ///< of x's element type
    int threads;              ///< per CTA
    unsigned params_bytes;
    unsigned epilogue_bytes;  ///< of the Args of the operators after the head, with a pool
    unsigned dynamic_shared_bytes;  ///< of the host's code, with Words in place of the operators after the head
    bool reads_argument_in_place;
    bool waits_for_previous;  ///< true if it is launched before the previous kernel has ended (arch/overlap.hpp)
};

/// Type: element type of x in the parameters of a Conv, its weight gradient or a Gemm; else void.
template <class Params>
struct ElementOfParams {
    using Type = void;
};
template <class Plan, class T, class U>
struct ElementOfParams<hip::ConvParams<Plan, T, U>> {
    using Type = T;
};
template <class Plan, class T, class U>
struct ElementOfParams<hip::WeightGradientParams<Plan, T, U>> {
    using Type = T;
};

/// The text of a type as the host's compiler writes it in __PRETTY_FUNCTION__, behind "Named = ".
template <class Named>
constexpr char const* text_of() {
    return __PRETTY_FUNCTION__;
}

}  // namespace fusekit::jit
