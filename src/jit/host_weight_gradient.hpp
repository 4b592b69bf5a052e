// SPDX-License-Identifier: MIT
#pragma once

#include "filter_class.hpp"
#include "fusekit/ops/conv/weight_gradient.hpp"
#include "host_plan.hpp"

namespace fusekit::jit {

/// ConvWeightGradient of a class of filters in plans of the host: its filter is that of the thread's plan (Current). In
/// the kernel's plan it is part of the type.
template <int number>
struct AnyWeightGradient : ConvWeightGradient<filter_representatives[number]> {
    using Base = ConvWeightGradient<filter_representatives[number]>;
    using Args = typename Base::Args;

    FUSEKIT_H static Filter<2> geometry(auto const&) { return current.spec->geometry.filter; }
    FUSEKIT_H static CollapsedShape<4> output(CollapsedShape<4> const& x, Args const& args) {
        return fusekit::detail::filter_shape_of(geometry(args), x, args.dy.layout.shape[1]);
    }
    FUSEKIT_H static Text name() { return current.spec->geometry_name; }
    FUSEKIT_H static void check(Args const& args, Check const& in) {
        fusekit::detail::check_weight_gradient(geometry(args), geometry(args), args, in);
    }
};

/// `reads` matters for patches alone, whose operands are folded unless an operator reads a tensor (fold_patches.hpp):
/// plans of other classes have Reads::tensors.
template <int number, Reads reads>
using HostWeightGradient = fusekit::detail::FusedPlan<AnyWeightGradient<number>, Words<reads>>;

}  // namespace fusekit::jit

template <int number>
struct fusekit::runtime::OperatorOf<fusekit::jit::AnyWeightGradient<number>> {
    static constexpr Descriptor descriptor = {Kind::conv_weight_gradient};
    FUSEKIT_H static typename jit::AnyWeightGradient<number>::Args read(Given const& given) {
        return {given.activations(Role::z), given.written_channels(Role::bias)};
    }
};

#define FUSEKIT_NAMED(number, reads)                                                                    \
    template <>                                                                                         \
    inline fusekit::Text fusekit::jit::HostWeightGradient<number, fusekit::jit::Reads::reads>::name() { \
        return jit::current_plan();                                                                     \
    }
FUSEKIT_NAMED(0, tensors)
FUSEKIT_NAMED(1, tensors)
FUSEKIT_NAMED(2, tensors)
FUSEKIT_NAMED(3, tensors)
FUSEKIT_NAMED(4, tensors)
FUSEKIT_NAMED(5, tensors)
FUSEKIT_NAMED(6, tensors)
FUSEKIT_NAMED(7, tensors)
FUSEKIT_NAMED(8, tensors)
FUSEKIT_NAMED(9, tensors)
FUSEKIT_NAMED(10, tensors)
FUSEKIT_NAMED(11, tensors)
FUSEKIT_NAMED(3, nothing)
#undef FUSEKIT_NAMED
static_assert(fusekit::jit::filter_classes == 12 && fusekit::jit::patches == 3);
