// SPDX-License-Identifier: MIT
#pragma once

#include "fusekit/backend/hip/runtime/memory.hpp"
#include "fusekit/ops/operator.hpp"
#include "fusekit/plan/gradient.hpp"
#include "fusekit/plan/runs_on.hpp"

namespace fusekit {

namespace hip::detail {

/// Concept of operators whose apply can be overloaded in a derived class: Op is not final, and Op::apply is a function,
/// not a function object.
template <class Op>
concept Overloadable = EpilogueOp<Op> && !std::is_final_v<Op> &&
                       !requires { requires std::is_object_v<std::remove_pointer_t<decltype(&Op::apply)>>; };

/// Operator derived from Op with a second overload of `apply`: clang checks whether device code can call a function
/// only when it resolves overloads.
template <class Op>
struct Overloaded : Op {
    using Op::apply;
    FUSEKIT_H static void apply();
};

/// Type: the operator's Prepared<float> (its prepared per-channel parameters); an empty type if it has none.
template <class Op>
struct PreparedOf {
    struct Type {};
};
template <class Op>
    requires requires { typename Op::template Prepared<float>; }
struct PreparedOf<Op> {
    using Type = typename Op::template Prepared<float>;
};

/// callable() is true if device code can call Op::apply. In clang, overload resolution excludes a host-only function.
/// nvcc selects any function, so callable() is true there, and the call itself is a compile error
/// (FUSEKIT_BEGIN_OPERATOR_CALLS).
template <class Op>
struct DeviceCode {
    using Args = typename Op::Args;

    template <class Overloads>
    __device__ static constexpr auto callable() {
        constexpr bool with_args = requires(float x, Args const& args) { Overloads::apply(x, args); };
        constexpr bool with_coord =
            requires(float x, OutputCoord const& at, Args const& args) { Overloads::apply(x, at, args); };
        constexpr bool with_prepared =
            requires(float x, typename PreparedOf<Op>::Type const& prepared) { Overloads::apply(x, prepared); };
        return std::bool_constant<with_args || with_coord || with_prepared>{};
    }
};

}  // namespace hip::detail

template <hip::detail::Overloadable Op>
inline constexpr bool detail::has_code_for<hip::Memory, Op> =
    decltype(hip::detail::DeviceCode<Op>::template callable<hip::detail::Overloaded<Op>>())::value;

template <class... Ops>
inline constexpr bool detail::has_code_for<hip::Memory, detail::Gradient<Ops...>> =
    (detail::has_code_for<hip::Memory, Ops> && ...);

}  // namespace fusekit
